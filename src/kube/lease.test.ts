import assert from "node:assert/strict";
import { test } from "node:test";
import { elect, leads, leaseOf, pausable, times, untilAborted } from "../../test/electors.ts";
import { createFakeKube } from "../../test/fake-kube.ts";
import { createVirtualWorld } from "../../test/virtual-world.ts";
import { Fault } from "../base/fault.ts";
import { type Log, silent } from "../base/log.ts";
import type { KubeApi } from "./api.ts";
import { lead } from "./lease.ts";

test("the first candidate creates the lease and leads, the second waits", async () => {
  const [kube, world] = [createFakeKube(), createVirtualWorld()];
  const one = elect("one", kube, world, undefined, { app: "snapkeep" });
  await world.advance(0);
  const two = elect("two", kube, world);
  await world.advance(60_000);
  assert.deepEqual([leads(one), leads(two)], [true, false]);
  assert.equal(leaseOf(kube)?.holderIdentity, "one");
  assert.deepEqual(kube.stored("Lease")[0]?.metadata.labels, { app: "snapkeep" });
});

test("a leader's term counts up with each change of the holder, and is another one with another lease", async () => {
  const [kube, world] = [createFakeKube(), createVirtualWorld()];
  const one = elect("one", kube, world);
  await world.advance(6_000);
  const first = one.leadership?.term();
  assert.equal(first?.transitions, 0);
  const two = elect("two", kube, world);
  one.stop.abort();
  await world.advance(20_000);
  assert.deepEqual(two.leadership?.term(), { ...first, transitions: 1 });
  await kube.delete({ kind: "Lease", namespace: "apps", name: "leader" });
  await world.advance(60_000);
  assert.equal(leads(two), true, "it has created the lease again");
  assert.equal(two.leadership?.term()?.transitions, 0);
  assert.notEqual(two.leadership?.term()?.uid, first?.uid);
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

test("a leader whose lease was granted late renews it before the deadline, and not a retry period later", async () => {
  const [kube, world] = [createFakeKube(), createVirtualWorld()];
  const slow: KubeApi = {
    ...kube,
    create: async (kind, object, options) => {
      await world.sleep(6_000);
      return kube.create(kind, object, options);
    },
  };
  const one = elect("one", slow, world);
  await world.advance(60_000);
  assert.equal(leads(one), true);
});

test("every request of an election is urgent", async () => {
  const [kube, world] = [createFakeKube(), createVirtualWorld()];
  const seen: (readonly [string, unknown])[] = [];
  const noted = (verb: string, { isUrgent }: { readonly isUrgent?: boolean | undefined } = {}): void =>
    void seen.push([verb, isUrgent]);
  const api: KubeApi = {
    ...kube,
    get: (ref, options) => {
      noted("get", options);
      return kube.get(ref, options);
    },
    create: (kind, object, options) => {
      noted("create", options);
      return kube.create(kind, object, options);
    },
    replace: (kind, object, options) => {
      noted("replace", options);
      return kube.replace(kind, object, options);
    },
  };
  const one = elect("one", api, world);
  await world.advance(6_000);
  one.stop.abort();
  await world.advance(0);
  const expected = ["get", "create", "replace", "replace"].map((verb) => [verb, true]);
  assert.deepEqual(seen, expected, "found, created, renewed, released");
});

test("a renewal after a failure reads the lease first, and counts as slow path", async () => {
  const world = createVirtualWorld();
  let failures = 0;
  let slow = 0;
  const kube = createFakeKube(({ verb }, when) => {
    if (verb === "replace" && when === "before" && failures-- > 0) throw new Fault("UnknownOutcome", "cut off");
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

test("events on the lease report the new and the former leader, with client-go's messages", async () => {
  const [kube, world] = [createFakeKube(), createVirtualWorld()];
  const reported: string[] = [];
  const stop = new AbortController();
  const leading = lead(
    {
      ...{ api: kube, world, log: silent, namespace: "apps", name: "leader", identity: "one", ...times },
      signal: stop.signal,
      record: ({ kind, metadata }, { type, reason, message }) =>
        void reported.push(
          `${kind} ${metadata.namespace}/${metadata.name} ${metadata.uid}: ${type} ${reason} ${message}`,
        ),
    },
    ({ signal }) => untilAborted(signal),
  );
  await world.advance(20_000);
  const about = `Lease apps/leader ${kube.stored("Lease")[0]?.metadata.uid}: Normal LeaderElection`;
  assert.deepEqual(reported, [`${about} one became leader`]);
  stop.abort();
  await world.run(leading);
  assert.deepEqual(reported, [`${about} one became leader`, `${about} one stopped leading`]);
});

test("a candidate that never leads sends no events", async () => {
  const [kube, world] = [createFakeKube(), createVirtualWorld()];
  elect("one", kube, world);
  await world.advance(0);
  const stop = new AbortController();
  const options = { api: kube, world, log: silent, namespace: "apps", name: "leader", identity: "two", ...times };
  const record = (): void => assert.fail("it does not lead");
  const waiting = lead({ ...options, signal: stop.signal, record }, ({ signal }) => untilAborted(signal));
  await world.advance(20_000);
  stop.abort();
  assert.equal(await world.run(waiting), "stopped");
});

test("a candidate takes over within the lease duration plus two seconds, and not before the lease expires", async () => {
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

test("a candidate retries exactly when the lease expires", async () => {
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

test("a leader that stops finishes its work, releases the lease, and a candidate takes over soon", async () => {
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
  // It looks within 1.2 s, and at 27 s of age leaves the lease to younger ones for up to 2.8 s; there are none.
  await world.advance(4_000);
  assert.equal(leads(two), true);
});

for (const ageMs of [12_000, 60_000])
  test(`a roll that ends replicas of ${ageMs / 1_000} s hands the lease over once, to a new replica`, async () => {
    for (let seed = 1; seed <= 50; seed++) {
      const world = createVirtualWorld(seed);
      const kube = createFakeKube(({ signal }) => world.sleep(100 * world.random(), signal));
      const leader = elect("old leader", kube, world);
      await world.advance(1_000);
      const standby = elect("old standby", kube, world);
      await world.advance(ageMs + 5_000 * world.random());
      const first = elect("first new", kube, world);
      await world.advance(1_000 * world.random());
      const second = elect("second new", kube, world);
      await world.advance(500 + 3_000 * world.random());
      leader.stop.abort();
      await world.advance(5_000 * world.random());
      standby.stop.abort();
      await world.advance(10_000);
      const leading = [leader, standby, first, second].filter(leads).map(({ name }) => name);
      assert.match(leading.join(), /^(first|second) new$/, `seed ${seed}`);
      assert.equal(leaseOf(kube)?.leaseTransitions, 1, `seed ${seed}`);
    }
  });

test("a young candidate looks often: at two seconds of age it takes a released lease within half a second", async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const [kube, world] = [createFakeKube(), createVirtualWorld(seed)];
    const one = elect("one", kube, world);
    await world.advance(60_000);
    const two = elect("two", kube, world);
    await world.advance(2_000);
    one.stop.abort();
    await world.advance(550);
    assert.equal(leads(two), true, `seed ${seed}`);
  }
});

test("an old standby that is the only candidate takes a released lease after four seconds, and logs why it waits", async () => {
  const [kube, world] = [createFakeKube(), createVirtualWorld()];
  const one = elect("one", kube, world);
  await world.advance(0);
  const lines: string[] = [];
  const log: Log = { ...silent, info: (message) => lines.push(message), with: () => log };
  let followedAt = 0;
  const options = { api: kube, world, log, namespace: "apps", name: "leader", identity: "two", ...times };
  const stop = new AbortController();
  void lead({ ...options, signal: stop.signal }, async ({ signal }) => {
    followedAt = world.now();
    await untilAborted(signal);
  });
  await world.advance(3_600_000);
  one.stop.abort();
  await world.run(one.done);
  const releasedAt = world.now();
  await world.advance(10_000);
  const tookMs = followedAt - releasedAt;
  assert.ok(tookMs >= 4_000 && tookMs <= 5_200, `after ${tookMs} ms`);
  assert.deepEqual(lines, [
    "another replica leads",
    "the lease is released, and is left to younger replicas",
    "became leader",
  ]);
  stop.abort();
});

test("a new candidate takes a lease that was released before its first read at once, however slow the read is", async () => {
  const world = createVirtualWorld();
  const kube = createFakeKube(({ signal }, when) => (when === "before" ? world.sleep(900, signal) : undefined));
  const one = elect("one", kube, world);
  await world.advance(60_000);
  one.stop.abort();
  await world.run(one.done);
  const two = elect("two", kube, world);
  await world.advance(1_800);
  assert.equal(leads(two), true, "one read, one write");
});

test("a candidate reports the first read of the lease, not the first attempt", async () => {
  let away = true;
  const kube = createFakeKube(() => {
    if (away) throw new Fault("Unavailable", "connection refused");
  });
  const world = createVirtualWorld();
  let reads = 0;
  const options = { api: kube, world, log: silent, namespace: "apps", name: "leader", identity: "one", ...times };
  const stop = new AbortController();
  void lead({ ...options, signal: stop.signal, onRead: () => void reads++ }, ({ signal }) => untilAborted(signal));
  await world.advance(30_000);
  assert.equal(reads, 0);
  away = false;
  await world.advance(30_000);
  assert.equal(reads, 1);
  stop.abort();
});

test("finished or failed work releases the lease, and the failure is reported", async () => {
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
