import assert from "node:assert/strict";
import { test } from "node:test";
import { createVirtualWorld } from "../../test/virtual-world.ts";
import type { Plan } from "../api/plan.ts";
import { settled } from "../api/plan.ts";
import type { ObjectOf } from "../api/types.ts";
import { keyOf } from "../api/types.ts";
import type { Key } from "../base/brand.ts";
import { keyIn } from "../base/brand.ts";
import { Fault } from "../base/fault.ts";
import { limits } from "../base/limits.ts";
import type { Log } from "../base/log.ts";
import { createStores } from "../kube/stores.ts";
import type { ControllerOptions } from "./controller.ts";
import { createController } from "./controller.ts";

type Config = ObjectOf<"ConfigMap">;
type Secret = ObjectOf<"Secret">;
type Act = { readonly kind: "act"; readonly key: Key };

let version = 100;
const anObject = (kind: string, name: string, more: object = {}): unknown => ({
  apiVersion: "v1",
  kind,
  metadata: { name, namespace: "team", uid: `uid-${name}`, resourceVersion: String(++version) },
  ...more,
});
const aConfig = (name: string, secret?: string): Config =>
  anObject("ConfigMap", name, secret === undefined ? {} : { data: { secret } }) as Config;
const aSecret = (name: string): Secret => anObject("Secret", name) as Secret;
const inTeam = (name: string): Key => keyIn("team", name);

const table = {
  ConfigMap: { indexes: { secret: ({ data }: Config) => data?.secret } },
  Secret: {},
} as const;
type Stores = ReturnType<typeof createStores<typeof table>>;

type Overrides = Partial<ControllerOptions<Stores, Config, Act>> & {
  readonly act?: (key: Key, signal: AbortSignal) => Promise<void>;
};

function setUp({ act, ...overrides }: Overrides = {}) {
  const world = createVirtualWorld();
  const stores = createStores(table);
  const acted: string[] = [];
  const logged: string[] = [];
  const say =
    (level: string) =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}) =>
      void logged.push(`${level}: ${message} ${fields.key ?? ""}`.trim());
  const log: Log = {
    debug: () => undefined,
    info: say("info"),
    warn: say("warn"),
    error: say("error"),
    with: () => log,
  };
  const controller = createController<Stores, Config, Act>({
    name: "test",
    stores,
    wakes: {
      ConfigMap: (object) => [keyOf(object)],
      Secret: (object, all) => all.ConfigMap.keysBy("secret", object.metadata.name),
    },
    observe: (all, key) => all.ConfigMap.get(key),
    plan: (view): Plan<Act> => ({ actions: [{ kind: "act", key: keyOf(view) }], next: settled }),
    hands: {
      act: async ({ key }, signal) => {
        acted.push(`${key}@${world.elapsed()}`);
        await act?.(key, signal);
      },
    },
    workers: 2,
    world,
    log,
    backoff: { startMs: 1_000, maxMs: 60_000 },
    ...overrides,
  });
  const stop = new AbortController();
  const sync = (...configs: readonly Config[]): void => {
    stores.ConfigMap.take({ kind: "all", objects: configs, resourceVersion: String(++version) });
    stores.Secret.take({ kind: "all", objects: [], resourceVersion: String(++version) });
  };
  const run = (): Promise<void> => controller.run(stop.signal);
  return { world, stores, controller, acted, logged, stop, sync, run };
}

test("every object is looked at once at the start, and again when it changes", async () => {
  const { world, stores, acted, sync, run } = setUp();
  sync(aConfig("a"), aConfig("b"));
  void run();
  await world.advance(10);
  assert.deepEqual(acted, ["team/a@0", "team/b@0"]);
  stores.ConfigMap.take({ kind: "put", object: aConfig("b") });
  await world.advance(10);
  assert.deepEqual(acted.slice(2), ["team/b@10"]);
});

test("an object that cannot be asked whom it wakes stops neither the start nor a resync", async () => {
  const { world, acted, logged, sync, run } = setUp({
    resyncMs: 1_000,
    wakes: {
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
  assert.deepEqual(new Set(logged), new Set(["error: object wakes nobody, it cannot be read team/broken"]));
  assert.equal(await Promise.race([ended, "running"]), "running");
});

test("nothing runs before every store is complete", async () => {
  const { world, stores, acted, run } = setUp();
  stores.ConfigMap.take({ kind: "all", objects: [aConfig("a")], resourceVersion: String(++version) });
  void run();
  await world.advance(1_000);
  assert.deepEqual(acted, []);
  stores.Secret.take({ kind: "all", objects: [], resourceVersion: String(++version) });
  await world.advance(0);
  assert.deepEqual(acted, ["team/a@1000"]);
});

test("the table of wakes says who is woken by whom, also by what an object was before", async () => {
  const { world, stores, acted, sync, run } = setUp();
  sync(aConfig("a", "s"), aConfig("b"));
  void run();
  await world.advance(10);
  acted.length = 0;
  const secret = aSecret("s");
  stores.Secret.take({ kind: "put", object: secret });
  await world.advance(10);
  stores.Secret.take({
    kind: "gone",
    object: { ...secret, metadata: { ...secret.metadata, resourceVersion: String(++version) } },
  });
  await world.advance(10);
  assert.deepEqual(acted, ["team/a@10", "team/a@20"]);
});

test("a plan's date brings its key back, and is no failure", async () => {
  let runs = 0;
  const { world, acted, logged, sync, run } = setUp({
    plan: (view) => ({
      actions: [{ kind: "act", key: keyOf(view) }],
      next: ++runs < 3 ? { kind: "after", ms: 5_000 } : settled,
    }),
  });
  sync(aConfig("a"));
  void run();
  await world.advance(60_000);
  assert.deepEqual(acted, ["team/a@0", "team/a@5000", "team/a@10000"]);
  assert.deepEqual(logged, []);
});

test("a fault backs off with growing delays; success starts over", async () => {
  let failures = 3;
  const { world, stores, acted, sync, run } = setUp({
    act: async () => {
      if (failures-- > 0) throw new Fault("Unavailable", "not now");
    },
  });
  sync(aConfig("a"));
  void run();
  await world.advance(60_000);
  const dates = acted.map((line) => Number(line.split("@")[1]));
  const delays = dates.slice(1).map((date, index) => date - (dates[index] ?? 0));
  assert.equal(delays.length, 3);
  for (const [index, delay] of delays.entries()) assert.ok(delay >= 500 * 2 ** index && delay <= 1_000 * 2 ** index);
  failures = 1;
  stores.ConfigMap.take({ kind: "put", object: aConfig("a") });
  await world.advance(1_000);
  assert.equal(acted.length, 6, "the first delay is short again");
});

test("a conflict is looked at again at once, without a word to the operator", async () => {
  let conflicts = 1;
  const { world, acted, logged, sync, run } = setUp({
    act: async () => {
      if (conflicts-- > 0) throw new Fault("Conflict", "changed");
    },
  });
  sync(aConfig("a"));
  void run();
  await world.advance(10);
  assert.equal(acted.length, 2);
  assert.deepEqual(logged, []);
});

const outages: readonly [string, ConstructorParameters<typeof Fault>[0], boolean][] = [
  ["an API server that was away for long is tried again soon after it is back", "Unavailable", true],
  ["an object that was refused for long is tried seldom", "Invalid", false],
];
for (const [claim, code, isSoon] of outages)
  test(claim, async () => {
    let isAway = true;
    const { world, acted, sync, run } = setUp({
      act: async () => {
        if (isAway) throw new Fault(code, "no");
      },
    });
    sync(aConfig("a"));
    void run();
    await world.advance(300_000);
    isAway = false;
    const before = acted.length;
    await world.advance(10_000);
    assert.equal(acted.length > before, isSoon);
  });

test("the server's word when to come back is kept", async () => {
  let refusals = 1;
  const { world, acted, sync, run } = setUp({
    act: async () => {
      if (refusals-- > 0) throw new Fault("ResourceExhausted", "later", { retryAfterMs: 30_000 });
    },
  });
  sync(aConfig("a"));
  void run();
  await world.advance(29_999);
  assert.equal(acted.length, 1);
  await world.advance(1);
  assert.equal(acted.length, 2);
});

test("an object is looked at again after half a minute, though a server asked for an hour", async () => {
  const { world, acted, sync, run } = setUp({
    act: async () => {
      throw new Fault("Unavailable", "maintenance", { retryAfterMs: 3_600_000 });
    },
  });
  sync(aConfig("a"));
  void run();
  await world.advance(limits.retryAfterMsMax);
  assert.deepEqual(acted, ["team/a@0", `team/a@${limits.retryAfterMsMax}`]);
});

test("an API server that is away fills no log, however many objects want something of it", async () => {
  const { world, logged, sync, run } = setUp({
    act: async () => {
      throw new Fault("Unavailable", "nothing answers");
    },
  });
  sync(...Array.from({ length: 500 }, (_, index) => aConfig(`map-${index}`)));
  void run();
  await world.advance(600_000);
  assert.ok(logged.length > 50 && logged.length <= 61, `${logged.length} lines in ten minutes`);
});

test("one poisoned object never stops the others, whether its view, its plan or its hand throws", async () => {
  const poison = (key: Key, word: string): void => {
    if (key === inTeam(word)) throw new TypeError(`cannot read ${word}`);
  };
  const { world, stores, acted, logged, sync, run } = setUp({
    workers: 1,
    observe: (all, key) => {
      poison(key, "bad-view");
      return all.ConfigMap.get(key);
    },
    plan: (view) => {
      poison(keyOf(view), "bad-plan");
      return { actions: [{ kind: "act", key: keyOf(view) }], next: settled };
    },
    act: async (key) => poison(key, "bad-hand"),
  });
  sync(...["bad-view", "bad-plan", "bad-hand", "good"].map((name) => aConfig(name)));
  void run();
  await world.advance(0);
  assert.deepEqual(acted, ["team/bad-hand@0", "team/good@0"]);
  assert.deepEqual(
    logged,
    ["view", "plan", "hand"].map((part) => `error: run failed by a mistake in the program team/bad-${part}`),
  );
  stores.ConfigMap.take({ kind: "put", object: aConfig("late") });
  await world.advance(60_000);
  assert.equal(acted.includes("team/late@0"), true);
});

test("each run that fails is told; a conflict is no failure", async () => {
  const told: Key[] = [];
  const faults = [
    new Fault("PermissionDenied", "no"),
    new Fault("Conflict", "changed"),
    new Fault("Unavailable", "later"),
  ];
  const { world, sync, run } = setUp({
    act: async () => {
      const fault = faults.shift();
      if (fault !== undefined) throw fault;
    },
    onFailure: (key) => void told.push(key),
  });
  sync(aConfig("one"));
  void run();
  await world.advance(60_000);
  assert.deepEqual([faults, told], [[], [inTeam("one"), inTeam("one")]]);
});

test("as many keys run at once as there are workers, and never one key twice", async () => {
  let [under, most] = [0, 0];
  const running = new Set<Key>();
  const world = createVirtualWorld();
  const setup = setUp({
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

test("a gone object is forgotten without a plan", async () => {
  const { world, controller, acted, sync, run } = setUp();
  sync();
  void run();
  controller.wake(inTeam("never-was"));
  await world.advance(10);
  assert.deepEqual(acted, []);
  assert.equal(controller.stats().waiting, 0);
});

test("stopping lets running work end and starts nothing new", async () => {
  const world = createVirtualWorld();
  const ended: Key[] = [];
  const setup = setUp({
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

test("work that does not end is left after the bound, and told to stop", async () => {
  let told = false;
  const setup = setUp({
    act: (_key, signal) => new Promise(() => signal.addEventListener("abort", () => (told = true))),
  });
  setup.sync(aConfig("a"));
  const running = setup.run();
  await setup.world.advance(10);
  setup.stop.abort();
  await setup.world.run(running);
  assert.equal(setup.world.elapsed(), 10 + limits.shutdownMsMax);
  assert.equal(told, true);
  assert.deepEqual(setup.logged, ["warn: work did not end in time, leaving it"]);
});

test("a replica that lost its lease starts no run", async () => {
  let leads = true;
  const { world, stores, acted, sync, run } = setUp({ leading: () => leads });
  sync();
  void run();
  await world.advance(10);
  leads = false;
  stores.ConfigMap.take({ kind: "put", object: aConfig("a") });
  await world.advance(60_000);
  assert.deepEqual(acted, []);
});

test("a resync looks at everything again", async () => {
  const { world, acted, stop, sync, run } = setUp({ resyncMs: 900_000 });
  sync(aConfig("a"));
  const running = run();
  await world.advance(1_800_000);
  assert.deepEqual(acted, ["team/a@0", "team/a@900000", "team/a@1800000"]);
  stop.abort();
  await running;
  assert.equal(world.sleepers(), 0);
});

test("with more objects than the queue holds, each still gets its turn, also those that change meanwhile", async () => {
  const world = createVirtualWorld();
  const setup = setUp({ world, queueKeysMax: 8, workers: 2, act: () => world.sleep(1) });
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
