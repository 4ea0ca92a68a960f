/** Plans of the controller for a snapshot, in tests: what it looks at, and what it wants to do, in a word each. */
import { finalizers } from "../src/api/names.ts";
import type { SnapshotView } from "../src/components/snapshot-controller/observe.ts";
import { phaseOf } from "../src/components/snapshot-controller/phase.ts";
import { planSnapshot } from "../src/components/snapshot-controller/plan.ts";
import type { SnapshotAction } from "../src/components/snapshot-controller/plan-steps.ts";
import { aClaim, aContent, aSnapshot } from "./builders.ts";
import { planTester, type ReasonedCase } from "./plan-cases.ts";
import { aSnapshotView, type SnapshotParts } from "./views.ts";

export const bornMs = Date.parse("2026-01-01T00:00:00Z");
export const both = [finalizers.snapshotAsSource, finalizers.snapshotBound];
export const deletionTimestamp = "2026-01-01T01:00:00Z";
export const readyStatus = {
  boundVolumeSnapshotContentName: "snapcontent-uid-snap",
  readyToUse: true,
  creationTime: "2026-01-01T00:00:01Z",
  restoreSize: "1Gi",
};
export const readyContent = aContent({
  status: {
    readyToUse: true,
    snapshotHandle: "s-1",
    creationTime: 1_767_225_601_123_456_789n,
    restoreSize: 1_073_741_824,
  },
});
export const protectedClaim = aClaim({ metadata: { finalizers: [finalizers.claimAsSource] } });

/** A snapshot with its finalizers, of a protected claim. */
export const aProtectedView = (change: SnapshotParts = {}): SnapshotView =>
  aSnapshotView({
    snapshot: aSnapshot({ metadata: { finalizers: both } }),
    claim: protectedClaim,
    queueIdleMs: Number.POSITIVE_INFINITY,
    nowMs: bornMs + 500,
    ...change,
  });

const brief = (action: SnapshotAction): string => {
  switch (action.kind) {
    case "event":
      return `event ${action.event.reason}`;
    case "patch":
      return `patch ${action.ref.kind}${action.subresource === undefined ? "" : "/status"}`;
    case "readClaims":
      return "read claims";
    default:
      return `${action.kind} ${action.ref.kind}`;
  }
};

const test = planTester({ phaseOf: ({ facts }: SnapshotView) => phaseOf(facts), plan: planSnapshot, brief });

/** Upstream's definition leaves a new snapshot without a status, ours gives it one: nothing may depend on which is installed. */
export const testPlans = (cases: readonly ReasonedCase<SnapshotView>[]): void =>
  test(
    cases.flatMap((one) => {
      const { snapshot } = one.view.facts;
      if (snapshot.status !== undefined) return [one];
      const facts = { ...one.view.facts, snapshot: { ...snapshot, status: { readyToUse: false } } };
      return [one, { ...one, given: `${one.given}, its status the default`, view: { ...one.view, facts } }];
    }),
  );
