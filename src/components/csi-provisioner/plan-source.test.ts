import assert from "node:assert/strict";
import { test } from "node:test";
import { aClaim, aVolume, driver } from "../../../test/builders.ts";
import { aReadyContent, aReadySnapshot, briefAction } from "../../../test/volume-plans.ts";
import { finalizers, provisioning } from "../../api/names.ts";
import { keyIn } from "../../base/brand.ts";
import { planSource, type SourceView } from "./plan-source.ts";
import type { ProvisionerReasonCode } from "./reasons.ts";

const held = { finalizers: [finalizers.snapshotRestoring] };
const going = { ...held, deletionTimestamp: "2026-01-01T01:00:00Z" };
const pairWith = (by: string) => ({ snapshot: aReadySnapshot(held), content: aReadyContent({ driver: by }) });

const ofSnapshot = (change: Partial<SourceView> = {}): SourceView => ({
  source: { kind: "snapshot", key: keyIn("team", "monday") },
  object: aReadySnapshot(held),
  driver,
  isUsed: false,
  pair: pairWith(driver),
  volume: undefined,
  ...change,
});
const ofClaim = (change: Partial<SourceView> = {}): SourceView => ({
  ...ofSnapshot({ pair: undefined }),
  source: { kind: "claim", key: keyIn("team", "data") },
  object: aClaim({ metadata: { finalizers: [provisioning.claimCloningFinalizer] } }),
  volume: aVolume({ spec: { csi: { driver, volumeHandle: "vol-1" } } }),
  ...change,
});

const cases: readonly (readonly [string, SourceView, readonly string[], ProvisionerReasonCode])[] = [
  ["a snapshot without our finalizer", ofSnapshot({ object: aReadySnapshot() }), [], "Settled"],
  ["a snapshot that a volume is being made from", ofSnapshot({ isUsed: true }), [], "Settled"],
  [
    "a deleted snapshot that a volume is being made from",
    ofSnapshot({ object: aReadySnapshot(going), isUsed: true }),
    [],
    "InUseByClaim",
  ],
  ["a snapshot whose content is not read", ofSnapshot({ pair: undefined }), ["readSnapshot"], "Writes"],
  ["a snapshot of another driver", ofSnapshot({ pair: pairWith("other") }), [], "NotOurs"],
  ["a snapshot that nobody needs", ofSnapshot(), ["unprotect snapshot"], "Released"],
  [
    "a snapshot without content that nobody needs",
    ofSnapshot({ pair: { snapshot: aReadySnapshot(held), content: undefined } }),
    ["unprotect snapshot"],
    "Released",
  ],
  ["a claim that nobody needs", ofClaim(), ["unprotect claim"], "Released"],
  [
    "a claim whose volume is of another driver",
    ofClaim({ volume: aVolume({ spec: { csi: { driver: "other", volumeHandle: "vol-1" } } }) }),
    [],
    "NotOurs",
  ],
];
for (const [given, view, expect, reason] of cases)
  test(`given ${given}, the plan is: ${expect.join(", ") || "nothing"}, because ${reason}`, () => {
    const plan = planSource(view);
    assert.deepEqual(plan.actions.map(briefAction), expect);
    assert.equal(plan.reason.code, reason);
    assert.match(plan.reason.says, /^(VolumeSnapshot team\/monday|PersistentVolumeClaim team\/data)/);
  });
