import assert from "node:assert/strict";
import { test } from "node:test";
import type { FakeKube, Hook } from "../../test/fake-kube.ts";
import { createFakeKube } from "../../test/fake-kube.ts";
import { createVirtualWorld } from "../../test/virtual-world.ts";
import { type Draft, keyOf } from "../api/types.ts";
import { Fault, isFault } from "../base/fault.ts";
import { limits } from "../base/limits.ts";
import { silent } from "../base/log.ts";
import type { KubeApi, WatchQuery } from "./api.ts";
import type { Store } from "./store.ts";
import { createStore } from "./store.ts";
import { allSynced, createStores, watchInto, watchStores } from "./stores.ts";

const aMap = (name: string, value = "", namespace = "apps"): Draft =>
  ({ apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name }, data: { value } }) as Draft;

const setValue = (kube: KubeApi, name: string, value: string) =>
  kube.patch({ kind: "ConfigMap", namespace: "apps", name }, { type: "merge", body: { data: { value } } });

const watching = (kube: FakeKube, seed = 1) => {
  const world = createVirtualWorld(seed);
  const store = createStore("ConfigMap");
  const stop = new AbortController();
  const done = watchInto(kube, store, { world, log: silent, signal: stop.signal });
  return { world, store, stop, done };
};

const contentsOf = (objects: Iterable<{ metadata: { name: string; resourceVersion: string }; data?: unknown }>) =>
  [...objects]
    .map(({ metadata, data }) => `${metadata.name} ${metadata.resourceVersion} ${JSON.stringify(data)}`)
    .sort();

const assertSame = (store: Store<"ConfigMap">, kube: FakeKube): void =>
  assert.deepEqual(contentsOf(store.all()), contentsOf(kube.stored("ConfigMap")));

const watchesOf = (kube: FakeKube): readonly WatchQuery[] =>
  kube.calls.filter(({ verb }) => verb === "watch").map(({ body }) => body as WatchQuery);
const countOf = (kube: FakeKube, verb: string): number => kube.calls.filter((call) => call.verb === verb).length;

test("what is there is listed, what comes, changes and goes is watched", async () => {
  const kube = createFakeKube();
  await kube.create("ConfigMap", aMap("old"));
  const { world, store } = watching(kube);
  await world.advance(0);
  assert.equal(store.isSynced(), true);
  assertSame(store, kube);
  await kube.create("ConfigMap", aMap("new"));
  await setValue(kube, "old", "changed");
  await world.advance(0);
  assertSame(store, kube);
  await kube.delete({ kind: "ConfigMap", namespace: "apps", name: "old" });
  await world.advance(0);
  assertSame(store, kube);
  assert.equal(countOf(kube, "list"), 1);
});

test("a cut watch resumes at the last version seen, without a list", async () => {
  const kube = createFakeKube();
  const { world, store } = watching(kube);
  await world.advance(0);
  const { metadata } = await kube.create("ConfigMap", aMap("one"));
  await world.advance(0);
  kube.endWatches(new Fault("Lost", "connection reset"));
  await kube.create("ConfigMap", aMap("two"));
  await world.advance(100);
  assertSame(store, kube);
  assert.equal(watchesOf(kube).at(-1)?.resourceVersion, metadata.resourceVersion);
  assert.equal(countOf(kube, "list"), 1);
});

test("a bookmark moves the version to resume at, so that old history may be forgotten", async () => {
  const kube = createFakeKube();
  const { world, store } = watching(kube);
  await world.advance(0);
  await kube.create("Secret", { ...aMap("unrelated"), kind: "Secret" });
  kube.bookmark();
  await world.advance(0);
  kube.forgetHistory();
  kube.endWatches();
  await world.advance(5_000);
  assertSame(store, kube);
  assert.equal(countOf(kube, "list"), 1);
});

test("410 Gone lists again, and what vanished meanwhile is heard as gone", async () => {
  const kube = createFakeKube();
  await kube.create("ConfigMap", aMap("stays"));
  await kube.create("ConfigMap", aMap("goes"));
  const { world, store } = watching(kube);
  await world.advance(0);
  const gone: string[] = [];
  store.onChange((before, after) => {
    if (before !== undefined && after === undefined) gone.push(before.metadata.name);
  });
  kube.endWatches(new Fault("Lost", "connection reset"));
  await kube.delete({ kind: "ConfigMap", namespace: "apps", name: "goes" });
  kube.forgetHistory();
  await world.advance(5_000);
  assertSame(store, kube);
  assert.deepEqual(gone, ["goes"]);
  assert.equal(countOf(kube, "list"), 2);
});

test("410 Gone in the middle of a stream lists again", async () => {
  const kube = createFakeKube();
  const { world, store } = watching(kube);
  await world.advance(0);
  kube.endWatches(new Fault("Expired", "too old resource version"));
  await kube.create("ConfigMap", aMap("late"));
  await world.advance(5_000);
  assertSame(store, kube);
  assert.equal(countOf(kube, "list"), 2);
});

test("a silent stream is given up after a minute and a half, one with bookmarks is not", async () => {
  const kube = createFakeKube();
  const { world } = watching(kube);
  await world.advance(0);
  for (let minute = 0; minute < 10; minute++) {
    await world.advance(60_000);
    kube.bookmark();
  }
  assert.equal(countOf(kube, "watch"), 1);
  await world.advance(limits.watchSilenceMsMax - 1);
  assert.equal(countOf(kube, "watch"), 1);
  await world.advance(1_000);
  assert.equal(countOf(kube, "watch"), 2);
  assert.equal(kube.openWatches(), 1);
  assert.equal(countOf(kube, "list"), 1);
});

test("every watch asks the server for an end of its own, between four and nine minutes", async () => {
  const kube = createFakeKube();
  const { world } = watching(kube);
  for (let round = 0; round < 200; round++) {
    await world.advance(2_000);
    kube.endWatches();
  }
  const seconds = watchesOf(kube).map(({ timeoutSeconds }) => timeoutSeconds ?? 0);
  assert.ok(seconds.length >= 200);
  assert.ok(Math.min(...seconds) >= 240 && Math.max(...seconds) <= 540, String(seconds));
  assert.ok(new Set(seconds).size > 100, "they differ");
});

test("an API server that is away for hours is asked again some times a minute, and found", async () => {
  let away = false;
  const kube = createFakeKube(() => {
    if (away) throw new Fault("Unavailable", "connection refused");
  });
  const { world, store } = watching(kube);
  await world.advance(0);
  await kube.create("ConfigMap", aMap("before"));
  away = true;
  kube.endWatches(new Fault("Lost", "connection reset"));
  await world.advance(3 * 3_600_000);
  const asked = kube.calls.length;
  assert.ok(asked > 1_080 && asked < 2_200, `${asked} requests`);
  away = false;
  await kube.create("ConfigMap", aMap("after"));
  await world.advance(30_000);
  assertSame(store, kube);
});

const refusals = ["Unauthenticated", "PermissionDenied", "NotFound", "Internal", "Invalid", "Lost", "Expired"] as const;
for (const code of refusals)
  test(`a server that answers everything with ${code} is never given up, nor pestered`, async () => {
    let refused = true;
    const kube = createFakeKube(() => {
      if (refused) throw new Fault(code, "no");
    });
    const { world, store } = watching(kube);
    await world.advance(3_600_000);
    assert.ok(kube.calls.length > 360 && kube.calls.length < 730, `${kube.calls.length} requests`);
    refused = false;
    await world.advance(30_000);
    assert.equal(store.isSynced(), true);
  });

test("a server that lists but breaks every watch is not listed in a circle", async () => {
  for (const code of ["Expired", "Lost"] as const) {
    const kube = createFakeKube(({ verb }) => {
      if (verb === "watch") throw new Fault(code, "no");
    });
    const { world } = watching(kube);
    await world.advance(3_600_000);
    assert.ok(kube.calls.length < 1_000, `${kube.calls.length} requests`);
  }
});

test("a server that asks for a pause gets it", async () => {
  const kube = createFakeKube(() => {
    throw new Fault("ResourceExhausted", "too many requests", { retryAfterMs: 20_000 });
  });
  const { world } = watching(kube);
  await world.advance(19_999);
  assert.equal(kube.calls.length, 1);
  await world.advance(1);
  assert.equal(kube.calls.length, 2);
});

test("a server restored from a backup is believed, although its versions are smaller", async () => {
  const [old, restored] = [createFakeKube(), createFakeKube()];
  await restored.create("ConfigMap", aMap("from the backup"));
  for (let change = 0; change < 10; change++) await old.create("ConfigMap", aMap(`lost ${change}`));
  let kube: FakeKube = old;
  const facade: FakeKube = { ...old, list: (...a) => kube.list(...a), watch: (...a) => kube.watch(...a) };
  const { world, store } = watching(facade);
  await world.advance(0);
  assert.equal(store.size(), 10);
  kube = restored;
  old.endWatches(new Fault("Lost", "connection reset"));
  await world.advance(200);
  await restored.create("ConfigMap", aMap("new"));
  restored.bookmark();
  await world.advance(5_000);
  assertSame(store, restored);
});

test("where resuming brings nothing but silence for half an hour, everything is listed again", async () => {
  const kube = createFakeKube();
  const deaf: FakeKube = { ...kube, watch: (kind, query) => kube.watch(kind, { ...query, resourceVersion: "999999" }) };
  const { world, store } = watching(deaf);
  await world.advance(0);
  await kube.create("ConfigMap", aMap("unheard"));
  await world.advance(limits.watchSilencesMax * (limits.watchSilenceMsMax + 100));
  assert.equal(countOf(kube, "list"), 2);
  assertSame(store, kube);
});

test("an aborted watch ends at once and leaves nothing behind, wherever it was", async () => {
  const stalled = createFakeKube(({ signal }) => {
    if (signal !== undefined)
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    return undefined;
  });
  const failing = createFakeKube(() => {
    throw new Fault("Unavailable", "connection refused");
  });
  for (const kube of [createFakeKube(), stalled, failing]) {
    const { world, stop, done } = watching(kube);
    await world.advance(10);
    stop.abort();
    await world.run(done, 0);
    assert.equal(world.sleepers(), 0);
    assert.equal(kube.openWatches(), 0);
  }
});

test("stores of several kinds are filled side by side, each within its own scope", async () => {
  const kube = createFakeKube();
  await kube.create("ConfigMap", aMap("here"));
  await kube.create("ConfigMap", aMap("elsewhere", "", "other"));
  await kube.create("Secret", { ...aMap("key", "", "other"), kind: "Secret" });
  const table = { ConfigMap: { namespace: "apps" }, Secret: {} } as const;
  const stores = createStores(table);
  const world = createVirtualWorld();
  const stop = new AbortController();
  const done = watchStores(kube, table, stores, { world, log: silent, signal: stop.signal });
  await world.run(allSynced(stores, stop.signal));
  assert.deepEqual([...stores.ConfigMap.all()].map(keyOf), ["apps/here"]);
  assert.deepEqual([...stores.Secret.all()].map(keyOf), ["other/key"]);
  stop.abort(new Error("shut down"));
  await world.run(done);
  await assert.rejects(allSynced(createStores(table), stop.signal), /shut down/);
});

/** Everything that can go wrong, by lot, while a writer changes objects without pause. */
const stormy =
  (random: () => number, calm: () => boolean): Hook =>
  ({ verb, signal }, when) => {
    if (calm() || (verb !== "list" && verb !== "watch")) return undefined;
    const draw = random();
    if (draw < 0.1) throw new Fault("Lost", "connection reset");
    if (draw < 0.13) throw new Fault("Expired", "too old resource version");
    if (draw < 0.15) throw new Fault("Unavailable", "connection refused", { retryAfterMs: 1_000 });
    if (draw < 0.17 && when === "after" && signal !== undefined)
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
    return undefined;
  };

for (let seed = 1; seed <= 40; seed++)
  test(`seed ${seed}: after a storm of faults the store equals the server`, async () => {
    let calm = false;
    const storm = createVirtualWorld(seed + 1_000);
    const kube = createFakeKube(stormy(storm.random, () => calm));
    const { world, store } = watching(kube, seed);
    const draw = (count: number): number => Math.floor(storm.random() * count);
    for (let change = 0; change < 150; change++) {
      const name = `map-${draw(8)}`;
      const write = [
        () => kube.create("ConfigMap", aMap(name)),
        () => setValue(kube, name, String(change)),
        () => setValue(kube, name, String(change)),
        () => kube.delete({ kind: "ConfigMap", namespace: "apps", name }),
      ][draw(4)];
      const reply = await write?.().catch((reason) => {
        if (!isFault(reason, "NotFound", "AlreadyExists")) throw reason;
      });
      if (reply !== undefined && draw(2) === 0) store.see(reply);
      if (draw(20) === 0) kube.forgetHistory();
      await world.advance(draw(3) === 0 ? draw(20_000) : 0);
    }
    calm = true;
    await world.advance(limits.listMsMax + 200_000);
    assertSame(store, kube);
  });
