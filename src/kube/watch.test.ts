import assert from "node:assert/strict";
import { test } from "node:test";
import { createFakeKube } from "../../test/fake-kube.ts";
import { createVirtualWorld } from "../../test/virtual-world.ts";
import { aMap, assertSame, countOf, setValue, watchesOf, watching } from "../../test/watching.ts";
import { keyOf } from "../api/types.ts";
import { Fault } from "../base/fault.ts";
import { limits } from "../base/limits.ts";
import { silent } from "../base/log.ts";
import { allSynced, createStores, watchStores } from "./stores.ts";

test("existing objects are listed, later changes are watched", async () => {
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

test("a disconnected watch resumes at the last version, without a list", async () => {
  const kube = createFakeKube();
  const { world, store } = watching(kube);
  await world.advance(0);
  const { metadata } = await kube.create("ConfigMap", aMap("one"));
  await world.advance(0);
  kube.endWatches(new Fault("UnknownOutcome", "connection reset"));
  await kube.create("ConfigMap", aMap("two"));
  await world.advance(100);
  assertSame(store, kube);
  assert.equal(watchesOf(kube).at(-1)?.resourceVersion, metadata.resourceVersion);
  assert.equal(countOf(kube, "list"), 1);
});

test("a bookmark advances the version to resume at", async () => {
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

test("410 Gone lists again, and missing objects are reported as deleted", async () => {
  const kube = createFakeKube();
  await kube.create("ConfigMap", aMap("stays"));
  await kube.create("ConfigMap", aMap("goes"));
  const { world, store } = watching(kube);
  await world.advance(0);
  const gone: string[] = [];
  store.onChange((before, after) => {
    if (before !== undefined && after === undefined) gone.push(before.metadata.name);
  });
  kube.endWatches(new Fault("UnknownOutcome", "connection reset"));
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

test("a silent watch is closed after 90 s, a watch with bookmarks is not", async () => {
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

test("every watch has a random timeout between four and nine minutes", async () => {
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

test("an aborted watch ends at once and leaves no timer or connection", async () => {
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

test("stores of several kinds are filled concurrently, each within its own scope", async () => {
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
