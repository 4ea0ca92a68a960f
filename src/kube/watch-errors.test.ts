/** Servers that are away, refuse, break off, fall silent or go back in time: the store ends up equal to them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createMemoryLog } from "../../test/csi-sockets.ts";
import { createFakeKube, type FakeKube, type Hook } from "../../test/fake-kube.ts";
import { createVirtualWorld } from "../../test/virtual-world.ts";
import { aMap, assertSame, countOf, setValue, watching } from "../../test/watching.ts";
import { Fault, isFault } from "../base/fault.ts";
import { limits } from "../base/limits.ts";

test("an unreachable API server is retried a few times a minute, for hours", async () => {
  let away = false;
  const kube = createFakeKube(() => {
    if (away) throw new Fault("Unavailable", "connection refused");
  });
  const { world, store } = watching(kube);
  await world.advance(0);
  await kube.create("ConfigMap", aMap("before"));
  away = true;
  kube.endWatches(new Fault("UnknownOutcome", "connection reset"));
  await world.advance(3 * 3_600_000);
  const asked = kube.calls.length;
  assert.ok(asked > 1_080 && asked < 2_200, `${asked} requests`);
  away = false;
  await kube.create("ConfigMap", aMap("after"));
  await world.advance(30_000);
  assertSame(store, kube);
});

const refusals = [
  "Unauthenticated",
  "PermissionDenied",
  "NotFound",
  "Internal",
  "Invalid",
  "UnknownOutcome",
  "Expired",
] as const;
for (const code of refusals)
  test(`a server that answers everything with ${code} is retried with backoff forever`, async () => {
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

test("a server that breaks every watch does not cause a loop of lists", async () => {
  for (const code of ["Expired", "UnknownOutcome"] as const) {
    const kube = createFakeKube(({ verb }) => {
      if (verb === "watch") throw new Fault(code, "no");
    });
    const { world } = watching(kube);
    await world.advance(3_600_000);
    assert.ok(kube.calls.length < 1_000, `${kube.calls.length} requests`);
  }
});

test("the log has delays in whole milliseconds", async () => {
  const log = createMemoryLog();
  const kube = createFakeKube(() => {
    throw new Fault("Unavailable", "connection refused");
  });
  const { world } = watching(kube, 1, log);
  await world.advance(60_000);
  const pauses = log.lines.map(({ delayMs }) => delayMs);
  assert.ok(pauses.length > 3 && pauses.every(Number.isInteger), `${pauses}`);
});

test("Retry-After delays the next list", async () => {
  const kube = createFakeKube(() => {
    throw new Fault("ResourceExhausted", "too many requests", { retryAfterMs: 20_000 });
  });
  const { world } = watching(kube);
  await world.advance(19_999);
  assert.equal(kube.calls.length, 1);
  await world.advance(1);
  assert.equal(kube.calls.length, 2);
});

test("a Retry-After of an hour is limited to half a minute", async () => {
  let away = true;
  const kube = createFakeKube(() => {
    if (away) throw new Fault("Unavailable", "maintenance", { retryAfterMs: 3_600_000 });
  });
  const { world, store } = watching(kube);
  await world.advance(limits.retryAfterMsMax - 1);
  assert.equal(kube.calls.length, 1);
  away = false;
  await world.advance(1);
  assert.equal(store.isSynced(), true);
});

test("the store accepts smaller versions from a server that was restored from a backup", async () => {
  const [old, restored] = [createFakeKube(), createFakeKube()];
  await restored.create("ConfigMap", aMap("from the backup"));
  for (let change = 0; change < 10; change++) await old.create("ConfigMap", aMap(`lost ${change}`));
  let kube: FakeKube = old;
  const facade: FakeKube = { ...old, list: (...a) => kube.list(...a), watch: (...a) => kube.watch(...a) };
  const { world, store } = watching(facade);
  await world.advance(0);
  assert.equal(store.size(), 10);
  kube = restored;
  old.endWatches(new Fault("UnknownOutcome", "connection reset"));
  await world.advance(200);
  await restored.create("ConfigMap", aMap("new"));
  restored.bookmark();
  await world.advance(5_000);
  assertSame(store, restored);
});

test("the store lists again after half an hour of silent resumed watches", async () => {
  const kube = createFakeKube();
  const deaf: FakeKube = {
    ...kube,
    watch: (kind, query, take) => kube.watch(kind, { ...query, resourceVersion: "999999" }, take),
  };
  const { world, store } = watching(deaf);
  await world.advance(0);
  await kube.create("ConfigMap", aMap("unheard"));
  await world.advance(limits.watchSilencesMax * (limits.watchSilenceMsMax + 100));
  assert.equal(countOf(kube, "list"), 2);
  assertSame(store, kube);
});

/** Everything that can go wrong, by lot, while a writer changes objects without pause. */
const stormy =
  (random: () => number, calm: () => boolean): Hook =>
  ({ verb, signal }, when) => {
    if (calm() || (verb !== "list" && verb !== "watch")) return undefined;
    const draw = random();
    if (draw < 0.1) throw new Fault("UnknownOutcome", "connection reset");
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
      if (reply !== undefined && draw(2) === 0) store.applyReply(reply);
      if (draw(20) === 0) kube.forgetHistory();
      await world.advance(draw(3) === 0 ? draw(20_000) : 0);
    }
    calm = true;
    await world.advance(limits.listMsMax + 200_000);
    assertSame(store, kube);
  });
