import assert from "node:assert/strict";
import { test } from "node:test";
import type { Lease } from "../api/types.ts";
import type { Observation } from "./lease-record.ts";
import { claimedLease, createdLease, decideLease, observeLease, releasedLease, yieldMsAt } from "./lease-record.ts";

const renewTime = "2025-06-15T15:06:40.000000Z";

const aLease = (spec: Lease["spec"] = {}): Lease => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { namespace: "apps", name: "leader", uid: "uid-1", resourceVersion: "7" },
  spec: { holderIdentity: "other", leaseDurationSeconds: 15, renewTime, leaseTransitions: 3, ...spec },
});
const seen = (spec: Lease["spec"] = {}, missing = false): Observation => ({
  lease: aLease(spec),
  since: 1_000,
  missing,
});

const cases: readonly { given: string; observation: Observation; now: number; step: string }[] = [
  { given: "no lease yet", observation: { lease: undefined, since: 0, missing: true }, now: 1_000, step: "create" },
  { given: "a lease in force", observation: seen(), now: 15_999, step: "wait for other until 16000" },
  { given: "a lease that has run out", observation: seen(), now: 16_000, step: "take" },
  { given: "a lease of a shorter duration", observation: seen({ leaseDurationSeconds: 3 }), now: 4_000, step: "take" },
  {
    given: "a lease of another duration than ours",
    observation: seen({ leaseDurationSeconds: 60 }),
    now: 20_000,
    step: "wait for other until 61000",
  },
  {
    given: "a lease without a duration",
    observation: seen({ leaseDurationSeconds: 0 }),
    now: 10_999,
    step: "wait for other until 11000",
  },
  {
    given: "a lease that was released just now",
    observation: seen({ holderIdentity: "" }),
    now: 2_999,
    step: "wait for nobody until 3000",
  },
  { given: "a lease that nobody younger took", observation: seen({ holderIdentity: "" }), now: 3_000, step: "take" },
  {
    given: "a lease that was released and then deleted",
    observation: seen({ holderIdentity: "" }, true),
    now: 1_000,
    step: "create",
  },
  { given: "our own lease", observation: seen({ holderIdentity: "me" }), now: 1_000, step: "renew" },
  {
    given: "our own lease, run out and taken by nobody",
    observation: seen({ holderIdentity: "me" }),
    now: 99_000,
    step: "renew",
  },
  {
    given: "a deleted lease whose holder may not know",
    observation: seen({}, true),
    now: 15_999,
    step: "wait for other until 16000",
  },
  { given: "a lease deleted long ago", observation: seen({}, true), now: 16_000, step: "create" },
  { given: "our own lease, deleted", observation: seen({ holderIdentity: "me" }, true), now: 1_000, step: "create" },
  {
    given: "a lease dated in the future by another clock",
    observation: seen({ renewTime: "2099-01-01T00:00:00.000000Z" }),
    now: 16_000,
    step: "take",
  },
];

for (const { given, observation, now, step } of cases)
  test(`given ${given}, then ${step}`, () => {
    const decided = decideLease(observation, "me", now, { durationMs: 10_000, yieldMs: 2_000 });
    const text =
      decided.kind === "wait" ? `wait for ${decided.holder || "nobody"} until ${decided.until}` : decided.kind;
    assert.equal(text, step);
  });

test("the older a candidate is, the longer it leaves a released lease to younger ones, up to four seconds", () => {
  assert.deepEqual([0, 500, 12_000, 40_000, 86_400_000].map(yieldMsAt), [0, 50, 1_200, 4_000, 4_000]);
});

test("the lease duration counts from when this process first saw the current record", () => {
  const first = observeLease(undefined, aLease(), 100);
  const again = observeLease(first, { ...aLease(), metadata: { ...aLease().metadata, resourceVersion: "8" } }, 200);
  const renewed = observeLease(again, aLease({ renewTime: "2025-06-15T15:06:45.000000Z" }), 300);
  const missing = observeLease(renewed, undefined, 400);
  const stillMissing = observeLease(missing, undefined, 500);
  const back = observeLease(stillMissing, aLease(), 600);
  const all = [first, again, renewed, missing, stillMissing, back];
  assert.deepEqual(
    all.map(({ since }) => since),
    [100, 100, 300, 400, 400, 600],
  );
});

const claim = { identity: "me", durationMs: 14_500, labels: { app: "snapkeep" }, now: 1_750_000_000_000 };

test("a new lease has its holder, duration, times and labels", () => {
  assert.deepEqual(createdLease("apps", "leader", claim), {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { namespace: "apps", name: "leader", labels: { app: "snapkeep" } },
    spec: { holderIdentity: "me", leaseDurationSeconds: 15, acquireTime: renewTime, renewTime, leaseTransitions: 0 },
  });
});

test("acquiring a lease increments its transitions, renewing does not, and fields of other writers stay", () => {
  const strange = { strategy: "OldestEmulationVersion" } as Lease["spec"];
  const taken = claimedLease(aLease({ ...strange, acquireTime: "2020-01-01T00:00:00.000000Z" }), claim);
  assert.deepEqual(taken.spec, {
    ...strange,
    holderIdentity: "me",
    leaseDurationSeconds: 15,
    acquireTime: renewTime,
    renewTime,
    leaseTransitions: 4,
  });
  assert.equal(taken.metadata.resourceVersion, "7");
  const renewed = claimedLease(taken, { ...claim, now: claim.now + 5_000 });
  assert.deepEqual(renewed.spec, { ...taken.spec, renewTime: "2025-06-15T15:06:45.000000Z" });
});

test("a released lease has no holder and keeps its transitions", () => {
  const released = releasedLease(aLease({ holderIdentity: "me" }), claim.now);
  const dates = { acquireTime: renewTime, renewTime };
  assert.deepEqual(released.spec, { holderIdentity: "", leaseDurationSeconds: 1, leaseTransitions: 3, ...dates });
});
