import { aClaim, aVolume, driver } from "../../../../test/builders.ts";
import { planTester, type ReasonedCase } from "../../../../test/plan-cases.ts";
import { aReadyContent, aReadySnapshot, briefAction, nowMs } from "../../../../test/volume-plans.ts";
import { finalizers, provisioning } from "../../../api/names.ts";
import { keyIn } from "../../../base/brand.ts";
import type { ProvisionerAction } from "../plan-steps.ts";
import { noSourceMemory } from "./memory.ts";
import type { SourceObjectFacts, SourceView } from "./observe.ts";
import { sourcePhaseOf } from "./phase.ts";
import { planSource } from "./plan.ts";

const held = { finalizers: [finalizers.snapshotRestoring] };
const going = { ...held, deletionTimestamp: "2026-01-01T01:00:00Z" };
const pairOf = (by: string) => ({ snapshot: aReadySnapshot(held), content: aReadyContent({ driver: by }) });
const tape = aVolume({ spec: { csi: { driver: "tape.example.com", volumeHandle: "t" } } });

const used = { isUsed: true };
const ofSnapshot = (change: Partial<SourceObjectFacts> = {}, memory = noSourceMemory): SourceView => ({
  facts: {
    source: { kind: "snapshot", key: keyIn("team", "monday") },
    object: aReadySnapshot(held),
    driver,
    pair: pairOf(driver),
    volume: undefined,
    ...change,
  },
  memory,
  nowMs,
});
const ofClaim = (change: Partial<SourceObjectFacts> = {}, memory = noSourceMemory): SourceView =>
  ofSnapshot(
    {
      source: { kind: "claim", key: keyIn("team", "data") },
      object: aClaim({ metadata: { finalizers: [provisioning.claimCloningFinalizer] } }),
      pair: undefined,
      volume: aVolume(),
      ...change,
    },
    memory,
  );

const testSourcePlans: (cases: readonly ReasonedCase<SourceView>[]) => void = planTester<SourceView, ProvisionerAction>(
  { phaseOf: sourcePhaseOf, plan: planSource, brief: briefAction },
);
testSourcePlans([
  { given: "a snapshot in use", view: ofSnapshot({}, used), phase: "used", reason: "Settled", expect: [] },
  {
    given: "a snapshot in use that is being deleted",
    view: ofSnapshot({ object: aReadySnapshot(going) }, used),
    phase: "used",
    reason: "InUseByClaim",
    expect: [],
  },
  {
    given: "a snapshot that nobody uses",
    view: ofSnapshot(),
    phase: "unneeded",
    reason: "Released",
    expect: ["unprotect snapshot"],
  },
  {
    given: "a snapshot without our finalizer",
    view: ofSnapshot({ object: aReadySnapshot() }),
    phase: "free",
    reason: "Settled",
    expect: [],
  },
  {
    given: "a snapshot whose content is not read",
    view: ofSnapshot({ pair: undefined }),
    phase: "unread",
    reason: "Writes",
    expect: ["readSnapshot"],
  },
  {
    given: "a snapshot of another driver",
    view: ofSnapshot({ pair: pairOf("tape.example.com") }),
    phase: "foreign",
    reason: "NotOurs",
    expect: [],
  },
  {
    given: "a snapshot without a content, which must stay deletable",
    view: ofSnapshot({ pair: { snapshot: aReadySnapshot(held), content: undefined } }),
    phase: "unneeded",
    reason: "Released",
    expect: ["unprotect snapshot"],
  },
  {
    given: "a claim that nobody clones",
    view: ofClaim(),
    phase: "unneeded",
    reason: "Released",
    expect: ["unprotect claim"],
  },
  { given: "a claim that is cloned", view: ofClaim({}, used), phase: "used", reason: "Settled", expect: [] },
  {
    given: "a claim with a volume of another driver",
    view: ofClaim({ volume: tape }),
    phase: "foreign",
    reason: "NotOurs",
    expect: [],
  },
]);
