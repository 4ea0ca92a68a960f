import assert from "node:assert/strict";
import { test } from "node:test";
import type { FakeKube, Hook } from "../../test/fake-kube.ts";
import { createFakeKube } from "../../test/fake-kube.ts";
import type { VirtualWorld } from "../../test/virtual-world.ts";
import { createVirtualWorld, diceFrom } from "../../test/virtual-world.ts";
import { Fault } from "../base/fault.ts";
import { type Log, silent } from "../base/log.ts";
import type { World } from "../base/world.ts";
import type { KubeApi } from "./api.ts";
import type { ElectionEnd, Leadership } from "./lease.ts";
import { lead } from "./lease.ts";

const times = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 5_000 };

interface Elector {
  readonly name: string;
  /** The one handed to the work, once there is one. */
  leadership: Leadership | undefined;
  end: ElectionEnd | undefined;
  readonly stop: AbortController;
  readonly done: Promise<void>;
}

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener("abort", () => resolve())));

function elect(
  name: string,
  api: KubeApi,
  world: World,
  work = async ({ signal }: Leadership) => untilAborted(signal),
  labels: Record<string, string> = {},
): Elector {
  const stop = new AbortController();
  const options = { api, world, log: silent, namespace: "apps", name: "leader", identity: name, labels, ...times };
  const elector: Elector = {
    name,
    leadership: undefined,
    end: undefined,
    stop,
    done: lead({ ...options, signal: stop.signal }, (leadership) => {
      elector.leadership = leadership;
      return work(leadership);
    }).then((end) => {
      elector.end = end;
    }),
  };
  return elector;
}

const leads = (elector: Elector): boolean => elector.leadership?.stillLeading() === true;
const leaseOf = (kube: FakeKube) => kube.stored("Lease")[0]?.spec;

test("the first candidate creates the lease and leads; the second waits", async () => {
  const [kube, world] = [createFakeKube(), createVirtualWorld()];
  const one = elect("one", kube, world, undefined, { app: "snapkeep" });
  await world.advance(0);
  const two = elect("two", kube, world);
  await world.advance(60_000);
  assert.deepEqual([leads(one), leads(two)], [true, false]);
  assert.equal(leaseOf(kube)?.holderIdentity, "one");
  assert.deepEqual(kube.stored("Lease")[0]?.metadata.labels, { app: "snapkeep" });
});

test("a renewal is one update and nothing else", async () => {
  const [kube, world] = [createFakeKube(), createVirtualWorld()];
  elect("one", kube, world);
  await world.advance(0);
  kube.calls.length = 0;
  await world.advance(50_000);
  assert.deepEqual(new Set(kube.calls.map(({ verb }) => verb)), new Set(["replace"]));
  assert.equal(kube.calls.length, 10);
});

test("a renewal after one that failed reads the lease first, and that is told", async () => {
  const world = createVirtualWorld();
  let failures = 0;
  let slow = 0;
  const kube = createFakeKube(({ verb }, when) => {
    if (verb === "replace" && when === "before" && failures-- > 0) throw new Fault("Lost", "cut off");
  });
  const stop = new AbortController();
  const options = { api: kube, world, log: silent, namespace: "apps", name: "leader", identity: "one", ...times };
  void lead({ ...options, signal: stop.signal, onSlowRenewal: () => void slow++ }, ({ signal }) =>
    untilAborted(signal),
  );
  await world.advance(20_000);
  assert.equal(slow, 0);
  failures = 1;
  await world.advance(20_000);
  assert.equal(slow, 1);
  stop.abort();
});

test("a candidate follows a dead leader within lease duration and two seconds, and not before the lease runs out", async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const [kube, world] = [createFakeKube(), createVirtualWorld(seed)];
    const one = pausable(kube, world);
    elect("one", one.api, one.world);
    await world.advance(0);
    let followedAt = 0;
    elect("two", kube, world, async ({ signal }) => {
      followedAt = world.now();
      await untilAborted(signal);
    });
    await world.advance(30_000 + 5_000 * world.random());
    one.pause();
    const diedAt = world.now();
    const renewedAt = Date.parse(String(leaseOf(kube)?.renewTime));
    await world.advance(30_000);
    assert.ok(followedAt - renewedAt >= times.leaseDurationMs, "not too early");
    assert.ok(followedAt - diedAt <= times.leaseDurationMs + 2_000, `after ${followedAt - diedAt} ms`);
    assert.equal(leaseOf(kube)?.leaseTransitions, 1);
  }
});

test("a candidate wakes when the lease it looks at runs out, and does not sleep on", async () => {
  const [kube, world] = [createFakeKube(), createVirtualWorld()];
  const spec = { holderIdentity: "dead", leaseDurationSeconds: 3 };
  await kube.create("Lease", {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { namespace: "apps", name: "leader" },
    spec,
  } as never);
  const one = elect("one", kube, world);
  await world.advance(2_999);
  assert.equal(leads(one), false);
  await world.advance(1);
  assert.equal(leads(one), true);
});

test("told to stop, a leader ends its work, then releases the lease, and the next one follows at its next look", async () => {
  const [kube, world] = [createFakeKube(), createVirtualWorld()];
  let workEnded = false;
  const one = elect("one", kube, world, async ({ signal, stillLeading }) => {
    await untilAborted(signal);
    await world.sleep(20_000);
    assert.equal(stillLeading(), true, "the lease is kept while the work winds down");
    assert.equal(leaseOf(kube)?.holderIdentity, "one");
    workEnded = true;
  });
  await world.advance(0);
  const two = elect("two", kube, world);
  await world.advance(7_000);
  one.stop.abort();
  await world.run(one.done);
  assert.equal(one.end, "stopped");
  assert.equal(workEnded, true);
  assert.equal(leaseOf(kube)?.holderIdentity, "");
  assert.equal(one.leadership?.stillLeading(), false);
  await world.advance(1_200);
  assert.equal(leads(two), true);
});

test("work that ends by itself releases the lease; work that fails does too, and the failure is heard", async () => {
  const [kube, world] = [createFakeKube(), createVirtualWorld()];
  const one = elect("one", kube, world, async () => undefined);
  await world.run(one.done);
  assert.equal(one.end, "finished");
  const two = elect("two", kube, world, async () => {
    throw new Error("broken work");
  });
  await assert.rejects(world.run(two.done), /broken work/);
  assert.equal(leaseOf(kube)?.holderIdentity, "");
});

test("a leader that cannot renew is told exactly at its deadline", async () => {
  let away = false;
  const kube = createFakeKube(() => {
    if (away) throw new Fault("Unavailable", "connection refused");
  });
  const world = createVirtualWorld();
  const one = elect("one", kube, world);
  await world.advance(5_000);
  away = true;
  await world.advance(times.renewDeadlineMs - 1);
  assert.equal(leads(one), true);
  assert.equal(one.leadership?.signal.aborted, false);
  await world.advance(1);
  assert.equal(leads(one), false);
  assert.equal(one.leadership?.signal.aborted, true);
  assert.match(String(one.leadership?.signal.reason), /not renewed within 10000 ms/);
  assert.equal(one.end, "lost");
});

test("an API server that is away for less than the deadline costs nobody the lead", async () => {
  let away = false;
  const kube = createFakeKube(() => {
    if (away) throw new Fault("Unavailable", "connection refused");
  });
  const world = createVirtualWorld();
  const one = elect("one", kube, world);
  await world.advance(5_000);
  away = true;
  await world.advance(8_000);
  away = false;
  await world.advance(60_000);
  assert.equal(leads(one), true);
});

test("a renewal that stalls is given up in time to try another", async () => {
  let stalls = 0;
  const kube = createFakeKube(({ verb, signal }) => {
    if (verb !== "replace" || stalls++ > 0) return undefined;
    return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason), { once: true }));
  });
  const world = createVirtualWorld();
  const one = elect("one", kube, world);
  await world.advance(60_000);
  assert.equal(leads(one), true);
});

test("a renewal whose reply is lost is found to have succeeded", async () => {
  let lose = false;
  const kube = createFakeKube(({ verb }, when) => {
    if (lose && verb === "replace" && when === "after") {
      lose = false;
      throw new Fault("Lost", "connection reset");
    }
  });
  const world = createVirtualWorld();
  const one = elect("one", kube, world);
  await world.advance(4_000);
  lose = true;
  await world.advance(60_000);
  assert.equal(leads(one), true);
  assert.equal(leaseOf(kube)?.leaseTransitions, 0);
});

test("a leader that finds another holder is told at once", async () => {
  const [kube, world] = [createFakeKube(), createVirtualWorld()];
  const one = elect("one", kube, world);
  await world.advance(1_000);
  const ref = { kind: "Lease", namespace: "apps", name: "leader" } as const;
  await kube.patch(ref, { type: "merge", body: { spec: { holderIdentity: "usurper" } } });
  await world.advance(6_000);
  assert.equal(one.end, "lost");
  assert.match(String(one.leadership?.signal.reason), /held by usurper/);
  assert.equal(leaseOf(kube)?.holderIdentity, "usurper", "a lost lease is not touched");
});

test("a deleted lease is made again by its leader; a candidate does not take the chance", async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const [kube, world] = [createFakeKube(), createVirtualWorld(seed)];
    const one = elect("one", kube, world);
    await world.advance(0);
    const two = elect("two", kube, world);
    await world.advance(20_000 + 5_000 * world.random());
    await kube.delete({ kind: "Lease", namespace: "apps", name: "leader" });
    await world.advance(30_000);
    assert.deepEqual([leads(one), leads(two)], [true, false]);
  }
});

test("a lease that cannot be written is tried again in peace, and every failure is logged", async () => {
  const kube = createFakeKube(({ verb }) => {
    if (verb === "create") throw new Fault("NotFound", 'namespaces "apps" not found');
  });
  const world = createVirtualWorld();
  const warnings: unknown[] = [];
  const log: Log = { ...silent, warn: (_message, fields) => warnings.push(fields?.reason), with: () => log };
  const stop = new AbortController();
  const options = { api: kube, world, log, namespace: "apps", name: "leader", identity: "one", ...times };
  const done = lead({ ...options, signal: stop.signal }, async () => undefined);
  await world.advance(60_000);
  const tries = kube.calls.filter(({ verb }) => verb === "create").length;
  assert.ok(tries >= 5 && tries <= 12, `${tries} tries`);
  assert.deepEqual(new Set(warnings), new Set(['namespaces "apps" not found']));
  assert.equal(warnings.length, tries);
  stop.abort();
  assert.equal(await world.run(done), "stopped");
});

/** A process that can be stopped and continued: its timers and replies wait meanwhile, the clock does not. */
function pausable(api: KubeApi, world: VirtualWorld) {
  let gate: PromiseWithResolvers<void> | undefined;
  const held = async <T>(result: Promise<T>): Promise<T> => {
    try {
      return await result;
    } finally {
      while (gate !== undefined) await gate.promise;
    }
  };
  return {
    world: { ...world, sleep: (ms: number, signal?: AbortSignal) => held(world.sleep(ms, signal)) },
    api: {
      ...api,
      get: (...a: Parameters<KubeApi["get"]>) => held(api.get(...a)),
      create: (...a: Parameters<KubeApi["create"]>) => held(api.create(...a)),
      replace: (...a: Parameters<KubeApi["replace"]>) => held(api.replace(...a)),
    } as KubeApi,
    pause: () => {
      gate ??= Promise.withResolvers();
    },
    resume: () => {
      gate?.resolve();
      gate = undefined;
    },
  };
}

test("a leader stopped past its deadline knows when it wakes, before any timer has run", async () => {
  const [kube, world] = [createFakeKube(), createVirtualWorld()];
  const process = pausable(kube, world);
  const one = elect("one", process.api, process.world);
  await world.advance(0);
  const two = elect("two", kube, world);
  await world.advance(12_000);
  process.pause();
  await world.advance(60_000);
  assert.equal(leads(one), false, "asked synchronously");
  assert.equal(one.leadership?.signal.aborted, false, "no timer has run yet");
  assert.equal(leads(two), true);
  const before = kube.calls.filter(({ verb }) => verb !== "get").length;
  process.resume();
  await world.advance(0);
  assert.equal(one.leadership?.signal.aborted, true);
  assert.equal(one.end, "lost");
  assert.equal(kube.calls.filter(({ verb }) => verb !== "get").length, before, "it wrote nothing more");
});

/** Requests fail before or after their effect, or take their time. */
const troubled =
  (random: () => number, world: World): Hook =>
  async ({ signal }) => {
    const draw = random();
    if (draw < 0.05) throw new Fault("Lost", "connection reset");
    if (draw < 0.1) await world.sleep(random() * 12_000, signal);
    else await world.sleep(random() * 50, signal);
  };

for (let seed = 1; seed <= 8; seed++)
  test(`seed ${seed}: three electors, pauses and lost replies: never two leaders, and soon one again`, async () => {
    const world = createVirtualWorld(seed);
    const random = diceFrom(seed + 500);
    const kube = createFakeKube(troubled(random, world));
    const processes = [0, 1, 2].map(() => pausable(kube, world));
    const overlaps: string[] = [];
    let reigns = 0;
    // Two can lead at once only from the moment on at which the second of them begins.
    const begin = async ({ signal }: Leadership): Promise<void> => {
      reigns += 1;
      const leading = electors.filter(leads).map(({ name }) => name);
      if (leading.length > 1) overlaps.push(`at ${world.elapsed()} ms ${leading.join(" and ")}`);
      await untilAborted(signal);
    };
    const electors = processes.map(({ api, world }, index) => elect(`e${index}.0`, api, world, begin));
    let ledMs = 0;
    for (let second = 0; second < 400; second++) {
      await world.advance(1_000);
      ledMs += electors.filter(leads).length * 1_000;
      for (const [index, process] of processes.entries()) {
        if (random() < 0.03) process.pause();
        if (random() < 0.1) process.resume();
        if (electors[index]?.end !== undefined)
          electors[index] = elect(`e${index}.${second}`, process.api, process.world, begin);
      }
    }
    assert.deepEqual(overlaps, []);
    assert.ok(reigns > 2 && ledMs > 100_000, `${reigns} reigns, ${ledMs} of 400000 ms`);
  });

for (const [wrong, message] of [
  [{ leaseDurationMs: 10_000 }, /lease duration \(10000 ms\) must exceed the renew deadline \(10000 ms\)/],
  [{ renewDeadlineMs: 6_000 }, /renew deadline \(6000 ms\) must exceed 1.2 times the retry period \(5000 ms\)/],
  [{ retryPeriodMs: 0 }, /retry period \(0 ms\) must be positive/],
] as const)
  test(`election with ${JSON.stringify(wrong)} is refused`, async () => {
    const [api, world] = [createFakeKube(), createVirtualWorld()];
    const common = { api, world, log: silent, namespace: "apps", name: "leader", identity: "one", ...times, ...wrong };
    await assert.rejects(
      lead({ ...common, signal: new AbortController().signal }, async () => undefined),
      message,
    );
  });
