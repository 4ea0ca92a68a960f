import assert from "node:assert/strict";
import { test } from "node:test";
import {
  aConfig,
  actingOn,
  aSecret,
  inTeam,
  nextVersion,
  setUpController,
  viewOf,
} from "../../test/controller-harness.ts";
import { createVirtualWorld } from "../../test/virtual-world.ts";
import { type Plan, settled } from "../api/plan.ts";
import { keyOf } from "../api/types.ts";
import type { Key } from "../base/brand.ts";
import { limits } from "../base/limits.ts";
import type { ControllerOptions, DecidedBy } from "./controller.ts";

test("every object is reconciled once at start, and again when it changes", async () => {
  const { world, stores, acted, sync, run } = setUpController();
  sync(aConfig("a"), aConfig("b"));
  void run();
  await world.advance(10);
  assert.deepEqual(acted, ["team/a@0", "team/b@0"]);
  stores.ConfigMap.take({ kind: "put", object: aConfig("b") });
  await world.advance(10);
  assert.deepEqual(acted.slice(2), ["team/b@10"]);
});

test("an exception of a trigger function stops neither the start nor a resync", async () => {
  const { world, acted, logged, sync, run } = setUpController({
    resyncMs: 1_000,
    triggers: {
      ConfigMap: (object) => {
        if (object.metadata.name === "broken") throw new TypeError("its spec is missing");
        return [keyOf(object)];
      },
    },
  });
  sync(aConfig("a"), aConfig("broken"), aConfig("z"));
  const ended = run().then(
    () => "ended",
    () => "failed",
  );
  await world.advance(1_500);
  assert.deepEqual(acted, ["team/a@0", "team/z@0", "team/a@1000", "team/z@1000"]);
  assert.deepEqual(new Set(logged), new Set(["error: triggers of an object cannot be read team/broken"]));
  assert.equal(await Promise.race([ended, "running"]), "running");
});

test("no reconcile runs before every store is synced", async () => {
  const { world, stores, acted, run } = setUpController();
  stores.ConfigMap.take({ kind: "all", objects: [aConfig("a")], resourceVersion: nextVersion() });
  void run();
  await world.advance(1_000);
  assert.deepEqual(acted, []);
  stores.Secret.take({ kind: "all", objects: [], resourceVersion: nextVersion() });
  await world.advance(0);
  assert.deepEqual(acted, ["team/a@1000"]);
});

test("a controller whose observe says what is not listed yet does not wait for its stores", async () => {
  const { world, stores, acted, run } = setUpController({ startsUnsynced: true });
  void run();
  stores.ConfigMap.take({ kind: "all", objects: [aConfig("a")], resourceVersion: nextVersion() });
  await world.advance(0);
  assert.equal(stores.Secret.isSynced(), false);
  assert.deepEqual(acted, ["team/a@0"]);
});

test("a reconcile observes, decides and acts where its key is alone, and its worker waits for that", async () => {
  const world = createVirtualWorld();
  const steps: string[] = [];
  const { controller, sync, run, logged } = setUpController({
    world,
    workers: 1,
    observe: (all, nowMs, key) => {
      steps.push(`observe ${key}`);
      return viewOf(all.ConfigMap.get(key), nowMs);
    },
    act: async (key) => void steps.push(`act ${key}`),
    serial: async (key, reconcile) => {
      steps.push(`wait ${key}`);
      await world.sleep(100);
      await reconcile();
      steps.push(`end ${key}`);
    },
  });
  sync(aConfig("a"));
  void run();
  await world.advance(1_000);
  assert.deepEqual(
    steps,
    ["wait", "observe", "act", "end"].map((step) => `${step} team/a`),
  );
  controller.trigger(inTeam("gone"));
  await world.advance(1_000);
  assert.deepEqual(
    steps.slice(4),
    ["wait", "observe", "end"].map((step) => `${step} team/gone`),
  );
  assert.deepEqual(logged, []);
});

test("the trigger table maps changed objects to keys, for the old and the new object", async () => {
  const { world, stores, acted, sync, run } = setUpController();
  sync(aConfig("a", "s"), aConfig("b"));
  void run();
  await world.advance(10);
  acted.length = 0;
  const secret = aSecret("s");
  stores.Secret.take({ kind: "put", object: secret });
  await world.advance(10);
  stores.Secret.take({
    kind: "gone",
    object: { ...secret, metadata: { ...secret.metadata, resourceVersion: nextVersion() } },
  });
  await world.advance(10);
  assert.deepEqual(acted, ["team/a@10", "team/a@20"]);
});

test("a plan can requeue its key at a date, which is not a failure", async () => {
  let runs = 0;
  const { world, acted, logged, sync, run } = setUpController({
    plan: (view) => actingOn(view, ++runs < 3 ? { kind: "after", ms: 5_000 } : settled),
  });
  sync(aConfig("a"));
  void run();
  await world.advance(60_000);
  assert.deepEqual(acted, ["team/a@0", "team/a@5000", "team/a@10000"]);
  assert.deepEqual(logged, []);
});

test("at most as many keys as workers run concurrently, and never one key twice", async () => {
  let [under, most] = [0, 0];
  const running = new Set<Key>();
  const world = createVirtualWorld();
  const setup = setUpController({
    world,
    workers: 3,
    act: async (key) => {
      assert.equal(running.has(key), false);
      running.add(key);
      most = Math.max(most, ++under);
      await world.sleep(100);
      under -= 1;
      running.delete(key);
    },
  });
  setup.sync(...Array.from({ length: 10 }, (_, index) => aConfig(`c${index}`)));
  void setup.run();
  for (let count = 0; count < 5; count++) {
    await world.advance(50);
    setup.stores.ConfigMap.take({ kind: "put", object: aConfig("c0") });
  }
  await world.advance(1_000);
  assert.equal(most, 3);
});

test("each look gets the context of its moment", async () => {
  const seen: number[] = [];
  const { world, controller, sync, run } = setUpController({
    plan: (view) => {
      seen.push(view.nowMs);
      return actingOn(view);
    },
  });
  sync(aConfig("a"));
  void run();
  await world.advance(1_000);
  const first = world.now();
  controller.trigger(inTeam("a"));
  await world.advance(0);
  assert.deepEqual(seen, [first - 1_000, first]);
});

test("the compiler demands a reason in a plan, a date and memory in a view, and a phase from a controller", () => {
  // @ts-expect-error A plan says why.
  const plan: Plan<never> = { actions: [], next: settled };
  // @ts-expect-error Memory has a neutral value where there is none.
  const view: DecidedBy = { facts: {}, nowMs: 0 };
  // @ts-expect-error Each state has a name.
  const phases: Pick<ControllerOptions<Record<never, never>, undefined, DecidedBy, Act>, "phase"> = {};
  assert.deepEqual(Object.keys({ ...plan, ...view, ...phases }), ["actions", "next", "facts", "nowMs"]);
});

test("a deleted object is forgotten without a plan", async () => {
  const { world, controller, acted, sync, run } = setUpController();
  sync();
  void run();
  controller.trigger(inTeam("never-was"));
  await world.advance(10);
  assert.deepEqual(acted, []);
  assert.equal(controller.stats().waiting, 0);
});

test("a stop finishes running reconciles and starts no new ones", async () => {
  const world = createVirtualWorld();
  const ended: Key[] = [];
  const setup = setUpController({
    world,
    workers: 1,
    act: async (key) => {
      await world.sleep(1_000);
      ended.push(key);
    },
  });
  setup.sync(aConfig("a"), aConfig("b"));
  const running = setup.run();
  await world.advance(10);
  setup.stop.abort();
  await world.run(running);
  assert.deepEqual([ended, world.elapsed()], [[inTeam("a")], 1_000]);
});

test("work that does not end is aborted after the stop timeout", async () => {
  let reported = false;
  const setup = setUpController({
    act: (_key, signal) => new Promise(() => signal.addEventListener("abort", () => (reported = true))),
  });
  setup.sync(aConfig("a"));
  const running = setup.run();
  await setup.world.advance(10);
  setup.stop.abort();
  await setup.world.run(running);
  assert.equal(setup.world.elapsed(), 10 + limits.shutdownMsMax);
  assert.equal(reported, true);
  assert.deepEqual(setup.logged, ["warn: work did not end before the stop timeout"]);
});

test("a replica without the lease starts no reconcile", async () => {
  let leads = true;
  const { world, stores, acted, sync, run } = setUpController({ leading: () => leads });
  sync();
  void run();
  await world.advance(10);
  leads = false;
  stores.ConfigMap.take({ kind: "put", object: aConfig("a") });
  await world.advance(60_000);
  assert.deepEqual(acted, []);
});

test("a resync reconciles every object", async () => {
  const { world, acted, stop, sync, run } = setUpController({ resyncMs: 900_000 });
  sync(aConfig("a"));
  const running = run();
  await world.advance(1_800_000);
  assert.deepEqual(acted, ["team/a@0", "team/a@900000", "team/a@1800000"]);
  stop.abort();
  await running;
  assert.equal(world.sleepers(), 0);
});

test("every object is reconciled even if there are more objects than the queue holds", async () => {
  const world = createVirtualWorld();
  const setup = setUpController({ world, queueKeysMax: 8, workers: 2, act: () => world.sleep(1) });
  const names = Array.from({ length: 50 }, (_, index) => `c${index}`);
  setup.sync(...names.map((name) => aConfig(name)));
  const running = setup.run();
  await world.advance(5);
  setup.acted.length = 0;
  for (const name of names) setup.stores.ConfigMap.take({ kind: "put", object: aConfig(name) });
  await world.advance(1_000);
  assert.deepEqual(new Set(setup.acted.map((line) => line.split("@")[0])), new Set(names.map(inTeam)));
  setup.stop.abort();
  await running;
});
