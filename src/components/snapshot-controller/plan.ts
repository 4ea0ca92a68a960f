/**
 * One snapshot: what to write next. phase.ts shows the phases.
 *
 * The order makes it safe: finalizers on the snapshot and on its claim come before the content, because neither may disappear once a
 * driver may be taking the snapshot. The content is created with its own finalizer. When a snapshot is deleted, its content gets the
 * being-deleted annotation before it is deleted, so that no sidecar sees a deletion that it must not act on.
 */

import { refOf, statusError } from "../../api/builders.ts";
import { annotations, finalizers } from "../../api/names.ts";
import { edit, patchStatus } from "../../api/patches.ts";
import {
  type ClusterAction,
  type CodedEvent,
  type CodedMessage,
  nothing,
  type Plan,
  type Planner,
  settled,
} from "../../api/plan.ts";
import type { VolumeSnapshot, VolumeSnapshotContent } from "../../api/types.ts";
import { keyOf } from "../../api/types.ts";
import type { JsonObject } from "../../base/json.ts";
import { rfc3339 } from "../../base/time.ts";
import { belongsTo } from "../../rules/binding-rules.ts";
import { withCode, withoutCode } from "../../rules/error-codes.ts";
import { contentNameOf } from "../../rules/snapshot-source.ts";
import { classOf, type SnapshotViolation } from "../../rules/snapshot-violation.ts";
import type { ObjectName } from "./memory.ts";
import { hasNoReport, type SnapshotFacts, type SnapshotView } from "./observe.ts";
import { phaseOf, type SnapshotPhase, violationOf } from "./phase.ts";
import { contentFor } from "./plan-draft.ts";
import { snapshotLabelEdit } from "./plan-label.ts";
import { statusFrom } from "./plan-status.ts";
import type { RestoringClaim } from "./restoring.ts";

/**
 * A driver usually replies soon, and then one status write is enough instead of two. In a burst most contents wait for those before
 * them, and a status write for each would only slow the burst down: they wait as long as it makes progress, with a bound.
 */
export const bindingDelayMs = 2_000;
const queueIdleMsMin = 10_000;
const bindingDelayMsMax = 60_000;
const undecidedPollMs = 2_000;

/**
 * Lists the claims of the snapshot's namespace, and triggers the snapshot when they are in the cache. Watches of two kinds have no
 * common order: when the deletion of a snapshot is seen, a claim that was created before it may still be on its way.
 */
export interface ReadClaims {
  readonly kind: "readClaims";
  readonly snapshot: VolumeSnapshot;
}
export type SnapshotAction = ClusterAction | ReadClaims;
type SnapshotPlan = Plan<SnapshotAction>;

const kind = "VolumeSnapshot";
const doing = (...actions: readonly (readonly SnapshotAction[])[]): SnapshotPlan => ({
  actions: actions.flat(),
  next: settled,
});
const event = (
  about: VolumeSnapshot,
  type: CodedEvent["type"],
  reason: string,
  message: CodedMessage,
): ClusterAction => ({
  kind: "event",
  about,
  event: { type, reason, message },
});

const byPhase: Record<SnapshotPhase, Planner<SnapshotView, SnapshotAction>> = {
  deleting: planDeletion,
  invalid: planError,
  unprotected: ({ facts }) => doing(protect(facts)),
  unbound: (view) => (view.facts.source.kind === "content" ? planBinding(view.facts) : planCreation(view)),
  waiting: planStatus,
  ready: planStatus,
};

/** A wrong label is corrected first, alone: the next reconcile uses the version that this write returns. */
export const planSnapshot: Planner<SnapshotView, SnapshotAction> = (view) => {
  const label = snapshotLabelEdit(view.facts.snapshot);
  return label.length > 0 ? doing(label) : byPhase[phaseOf(view.facts)](view);
};

function planError({ facts, nowMs }: SnapshotView): SnapshotPlan {
  const { snapshot } = facts;
  const found = violationOf(facts);
  if (found === undefined) return nothing;
  const noted = found.isLoss === true ? noteLoss(snapshot) : [];
  if (noted.length > 0) return doing(confirmation(facts), noted);
  const reported = errorOf(snapshot, found, nowMs);
  // A cache is behind right after a change, and a list can miss an object: the error is confirmed with the server first.
  return doing(reported.length > 0 ? found.evidence : [], reported);
}

/**
 * Written before readyToUse becomes false: it was the only record that this snapshot had been taken, and without a record it would
 * be taken again. A creationTime stays and is record enough.
 */
const noteLoss = (snapshot: VolumeSnapshot): readonly ClusterAction[] =>
  snapshot.status?.creationTime === undefined
    ? edit(kind, snapshot, { annotations: { [annotations.contentLost]: snapshot.metadata.uid } })
    : [];

/** Reported once, in the status and as an event. */
function errorOf(
  snapshot: VolumeSnapshot,
  { reason, message, readiness }: Omit<SnapshotViolation, "evidence">,
  nowMs: number,
): readonly ClusterAction[] {
  if (message === snapshot.status?.error?.message) return [];
  const error = statusError(message, nowMs);
  const status = { ...snapshot.status, error, ...(readiness === "false" ? { readyToUse: false } : {}) };
  return [
    ...patchStatus(kind, snapshot, snapshot.status as JsonObject | undefined, status as JsonObject),
    event(snapshot, "Warning", reason, message),
  ];
}

/** Both finalizers and a defaulted class in one patch: the policy is known from the class before the content exists. */
function protect(facts: SnapshotFacts): readonly ClusterAction[] {
  const { snapshot, content } = facts;
  const policy = content?.spec.deletionPolicy ?? classOf(facts)?.deletionPolicy;
  const addFinalizers = [finalizers.snapshotAsSource, ...(policy === "Delete" ? [finalizers.snapshotBound] : [])];
  const defaulted =
    facts.source.kind === "claim" && snapshot.spec.volumeSnapshotClassName === undefined
      ? facts.defaultClasses[0]
      : undefined;
  return edit(kind, snapshot, {
    addFinalizers,
    ...(defaulted === undefined ? {} : { spec: { volumeSnapshotClassName: defaulted.metadata.name } }),
  });
}

function planCreation({ facts, memory }: SnapshotView): SnapshotPlan {
  const protection = protect(facts);
  // A request under way may still remove the claim's finalizer. The claim's own plan renews it first.
  if (memory.protection !== "certain") return doing(protection);
  const object = contentFor(facts, memory);
  if (object === undefined) return nothing;
  const create: ClusterAction = {
    kind: "create",
    ref: { kind: "VolumeSnapshotContent", name: object.metadata.name ?? "" },
    object,
  };
  return doing(protection.length > 0 ? protection : stillWaiting(facts), [
    create,
    event(
      facts.snapshot,
      "Normal",
      "CreatingSnapshot",
      withCode(`Waiting for a snapshot ${keyOf(facts.snapshot)} to be created by the CSI driver.`, "SNAP-291"),
    ),
  ]);
}

/**
 * A snapshot that was ready must not be taken a second time. In an outdated list, a snapshot whose content was lost later looks as if
 * it still waited for its first content. A version-guarded write detects that; where none is due, the server is asked.
 *
 * The last reply is as good: only this process writes readiness, and each write of it ends the trust in earlier replies. If a user has
 * deleted the snapshot meanwhile, our finalizer keeps it until its content is deleted as well.
 */
const stillWaiting = ({ snapshot }: SnapshotFacts): readonly ClusterAction[] => [
  {
    kind: "confirm",
    ref: refOf(kind, snapshot),
    resourceVersion: snapshot.metadata.resourceVersion,
    trustsReplies: true,
  },
];

/** The uid and class of the snapshot are written into a pre-provisioned content; nothing else of its spec changes. */
function planBinding(facts: SnapshotFacts): SnapshotPlan {
  const { snapshot, content } = facts;
  if (content === undefined) return nothing;
  const volumeSnapshotRef = { ...content.spec.volumeSnapshotRef, uid: snapshot.metadata.uid };
  const className = content.spec.volumeSnapshotClassName ?? snapshot.spec.volumeSnapshotClassName;
  const spec = { volumeSnapshotRef, ...(className === undefined ? {} : { volumeSnapshotClassName: className }) };
  const addFinalizers = content.metadata.deletionTimestamp === undefined ? [finalizers.contentBound] : [];
  return doing(
    protect(facts),
    edit("VolumeSnapshotContent", content, { addFinalizers, spec: spec as unknown as JsonObject }),
  );
}

function planStatus({ facts, memory, nowMs }: SnapshotView): SnapshotPlan {
  const { snapshot, content } = facts;
  if (content === undefined) return nothing;
  const protection = protect(facts);
  const wanted = statusFrom(snapshot, content, rfc3339(nowMs));
  const waitMs =
    snapshot.status?.boundVolumeSnapshotContentName === undefined && hasNoReport(content)
      ? Math.max(
          ageLeftMs(content, bindingDelayMs, nowMs),
          Math.min(ageLeftMs(content, bindingDelayMsMax, nowMs), queueIdleMsMin - memory.queueIdleMs),
        )
      : 0;
  if (waitMs > 0) return { actions: protection, next: { kind: "after", ms: waitMs } };
  // The finalizer patch changes the version that guards the status patch: one write now, the other in the next reconcile.
  if (protection.length > 0) return doing(protection);
  const write = patchStatus(kind, snapshot, snapshot.status as JsonObject | undefined, wanted as JsonObject);
  return write.length === 0 ? nothing : doing(write, milestones(snapshot, wanted));
}

/** With a clock that is behind the server's by more than this, the content's age is unknown. */
const clockSkewMsMax = 1_000;
/** No wait after the clock was set back: the age would stay negative, and the status unwritten, for hours. */
function ageLeftMs({ metadata }: VolumeSnapshotContent, delayMs: number, nowMs: number): number {
  const leftMs = Date.parse(metadata.creationTimestamp ?? "") + delayMs - nowMs;
  return leftMs > delayMs + clockSkewMsMax ? 0 : Math.min(delayMs, leftMs);
}

function milestones(snapshot: VolumeSnapshot, wanted: NonNullable<VolumeSnapshot["status"]>): readonly ClusterAction[] {
  const events: ClusterAction[] = [];
  if (snapshot.status?.creationTime === undefined && wanted.creationTime !== undefined)
    events.push(
      event(
        snapshot,
        "Normal",
        "SnapshotCreated",
        withCode(`Snapshot ${keyOf(snapshot)} was successfully created by the CSI driver.`, "SNAP-292"),
      ),
    );
  if (snapshot.status?.readyToUse !== true && wanted.readyToUse === true)
    events.push(
      event(snapshot, "Normal", "SnapshotReady", withCode(`Snapshot ${keyOf(snapshot)} is ready to use.`, "SNAP-293")),
    );
  return events;
}

const ownFinalizers = [finalizers.snapshotAsSource, finalizers.snapshotBound];
/** Our finalizers are removed together and last: while one is on, the content either exists or is known to be gone. */
const release = (snapshot: VolumeSnapshot): readonly ClusterAction[] =>
  edit(kind, snapshot, { removeFinalizers: ownFinalizers });

/** Removing finalizers cannot be undone: a content that the cache does not have yet would be left without its snapshot. */
const confirmation = ({ snapshot, content }: SnapshotFacts): readonly ClusterAction[] => [
  {
    kind: "confirm",
    ref: { kind: "VolumeSnapshotContent", name: contentNameOf(snapshot), uid: content?.metadata.uid },
    resourceVersion: content?.metadata.resourceVersion,
  },
];

function planDeletion({ facts, memory, nowMs }: SnapshotView): SnapshotPlan {
  const { snapshot, content, restoring } = facts;
  if (!ownFinalizers.some((name) => snapshot.metadata.finalizers?.includes(name))) return nothing;
  if (content === undefined || !belongsTo(content, snapshot)) return doing(confirmation(facts), release(snapshot));
  // Only a snapshot that is shown ready can be restored. Waiting for a claim that waits for readiness would be a deadlock.
  const isRestorable = content.status?.readyToUse === true && snapshot.status?.readyToUse === true;
  const reader = isRestorable ? restoring[0] : undefined;
  if (reader !== undefined)
    return doing([
      event(
        snapshot,
        "Warning",
        "SnapshotDeletePending",
        withCode(`Snapshot is being used to restore a PVC: ${restoreOf(reader, snapshot)}`, "SNAP-241"),
      ),
    ]);
  // A snapshot that is released before the grants are known cannot be kept any more.
  if (isRestorable && facts.isRestoringUndecided) return { actions: [], next: { kind: "after", ms: undecidedPollMs } };
  const annotate = edit("VolumeSnapshotContent", content, { annotations: { [annotations.beingDeleted]: "yes" } });
  if (isRestorable && !memory.areClaimsRead && !isGivenUp(content)) return doing([{ kind: "readClaims", snapshot }]);
  const unread = memory.missingClaims.map(absence);
  if (content.spec.deletionPolicy === "Retain") return doing(unread, annotate, release(snapshot));
  // In two reconciles, so that the deletion names the version it was decided for: an administrator may set Retain in between.
  if (annotate.length > 0) return doing(unread, annotate);
  return content.metadata.deletionTimestamp === undefined
    ? doing(unread, [deletionOf(content)])
    : doing(deletionError(snapshot, content, nowMs));
}

/** The owner of the snapshot may not see, or delete, a claim of another namespace. */
const restoreOf = ({ claim, grant }: RestoringClaim, { metadata: { namespace } }: VolumeSnapshot): string =>
  grant === undefined
    ? keyOf(claim)
    : `${keyOf(claim)}, which ReferenceGrant ${namespace}/${grant} permits; the deletion goes on when CreateVolume has ended, or at once if that grant is removed`;

/** The sidecar deletes it, or has done so. */
const isGivenUp = ({ metadata }: VolumeSnapshotContent): boolean =>
  metadata.deletionTimestamp !== undefined && metadata.annotations?.[annotations.beingDeleted] === "yes";

/** Confirms that the claim is gone and was not only missed by a list: it may be restoring from the snapshot. */
const absence = ({ namespace, name }: ObjectName): ClusterAction => ({
  kind: "confirm",
  ref: { kind: "PersistentVolumeClaim", namespace, name },
  resourceVersion: undefined,
});

/** The user who deleted a snapshot looks at the snapshot, not at its content, to see why it still exists. */
function deletionError(snapshot: VolumeSnapshot, { metadata, status }: VolumeSnapshotContent, nowMs: number) {
  const said = status?.error?.message;
  // An error that the snapshot already shows is about its creation; the next one comes when the deletion has failed.
  if (said === undefined || said === snapshot.status?.error?.message) return [];
  const text = `Waiting for VolumeSnapshotContent ${metadata.name} to be deleted: ${withoutCode(said)}; it is tried again. To let it go and leave the data with the driver, set its spec.deletionPolicy to Retain`;
  const message = withCode(text, "SNAP-242");
  return errorOf(snapshot, { reason: "SnapshotDeleteError", message, readiness: "kept" }, nowMs);
}

const deletionOf = ({ metadata: { name, uid, resourceVersion } }: VolumeSnapshotContent): ClusterAction => ({
  kind: "delete",
  ref: { kind: "VolumeSnapshotContent", name, uid },
  resourceVersion,
});
