/** Leaders and candidates whose requests fail, stall or get lost, and whose lease others touch. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { elect, leads, leaseOf, times } from "../../test/electors.ts";
import { createFakeKube } from "../../test/fake-kube.ts";
import { createVirtualWorld } from "../../test/virtual-world.ts";
import { Fault } from "../base/fault.ts";
import { type Log, silent } from "../base/log.ts";
import { lead } from "./lease.ts";

/** One that has led for a while when its API server goes away. */
async function aLeaderAlone() {
  let away = false;
  const kube = createFakeKube(() => {
    if (away) throw new Fault("Unavailable", "connection refused");
  });
  const world = createVirtualWorld();
  const one = elect("one", kube, world);
  await world.advance(5_000);
  away = true;
  const comeBack = (): void => {
    away = false;
  };
  return { world, one, comeBack };
}

test("a leader that cannot renew stops exactly at its deadline", async () => {
  const { world, one } = await aLeaderAlone();
  await world.advance(times.renewDeadlineMs - 1);
  assert.equal(leads(one), true);
  assert.equal(one.leadership?.signal.aborted, false);
  await world.advance(1);
  assert.equal(leads(one), false);
  assert.equal(one.leadership?.signal.aborted, true);
  assert.match(String(one.leadership?.signal.reason), /not renewed within 10000 ms/);
  assert.equal(one.end, "lost");
});

test("an API server outage shorter than the deadline does not lose the lease", async () => {
  const { world, one, comeBack } = await aLeaderAlone();
  await world.advance(8_000);
  comeBack();
  await world.advance(60_000);
  assert.equal(leads(one), true);
});

test("a stalled renewal is aborted in time for another attempt", async () => {
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

test("a renewal with a lost reply is detected as successful", async () => {
  let lose = false;
  const kube = createFakeKube(({ verb }, when) => {
    if (lose && verb === "replace" && when === "after") {
      lose = false;
      throw new Fault("UnknownOutcome", "connection reset");
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

test("a leader that finds another holder stops at once", async () => {
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

test("a leader whose lease was cleared by somebody else takes it again at its next renewal", async () => {
  const [kube, world] = [createFakeKube(), createVirtualWorld()];
  const one = elect("one", kube, world);
  await world.advance(61_000);
  const ref = { kind: "Lease", namespace: "apps", name: "leader" } as const;
  await kube.patch(ref, { type: "merge", body: { spec: { holderIdentity: "" } } });
  await world.advance(6_000);
  assert.equal(leads(one), true);
  assert.equal(leaseOf(kube)?.holderIdentity, "one");
});

test("the leader re-creates a deleted lease, a candidate does not", async () => {
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

test("failed lease writes are retried with a delay, and every failure is logged", async () => {
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
