/**
 * One snapshot: what to write next. The phases are drawn in phase.ts.
 *
 * The order is the safety: finalizers on the snapshot and on its claim come before the content, because once a driver may be
 * cutting, neither may disappear. The content is born with its own finalizer. When a snapshot goes, its content is marked before
 * it is deleted, so that no sidecar ever sees a deletion it may not act on.
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
import { pointsAt } from "../../rules/binding-rules.ts";
import { withCode, withoutCode } from "../../rules/error-codes.ts";
import { contentNameOf } from "../../rules/snapshot-source.ts";
import { classOf, type SnapshotViolation } from "../../rules/snapshot-violation.ts";
import { hasNoReport, type ObjectName, type SnapshotView } from "./observe.ts";
import { phaseOf, type SnapshotPhase, violationOf } from "./phase.ts";
import { contentFor } from "./plan-draft.ts";
import { snapshotLabelEdit } from "./plan-label.ts";
import { statusFrom } from "./plan-status.ts";

/**
 * A driver usually answers soon, and one status write then does for two. In a burst most contents wait for those before them, and
 * a write each to say so would only make the line move slower: as long as it moves, they wait, though not for ever.
 */
export const bindingDelayMs = 2_000;
const queueIdleMsMin = 10_000;
const bindingDelayMsMax = 60_000;

const kind = "VolumeSnapshot";
const doing = (...actions: readonly (readonly ClusterAction[])[]): Plan => ({ actions: actions.flat(), next: settled });
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

const byPhase: Record<SnapshotPhase, Planner<SnapshotView>> = {
  deleting: planDeletion,
  invalid: planError,
  unprotected: (view) => doing(protect(view)),
  unbound: (view) => (view.source.kind === "content" ? planBinding(view) : planCreation(view)),
  waiting: planStatus,
  ready: planStatus,
};

/** A label that is wrong is written first, alone: the next pass decides with the version that the write gave. */
export const planSnapshot: Planner<SnapshotView> = (view) => {
  const label = snapshotLabelEdit(view.snapshot);
  return label.length > 0 ? doing(label) : byPhase[phaseOf(view)](view);
};

function planError(view: SnapshotView): Plan {
  const { snapshot, nowMs } = view;
  const found = violationOf(view);
  if (found === undefined) return nothing;
  const noted = found.isLoss === true ? noteLoss(snapshot) : [];
  if (noted.length > 0) return doing(confirmation(view), noted);
  const told = errorOf(snapshot, found, nowMs);
  // A cache is behind right after a change, and a list can leave something out: neither is a reason to tell a user of an error.
  return doing(told.length > 0 ? found.evidence : [], told);
}

/**
 * Before readiness is taken back: it was the only sign that this snapshot had been taken, and without one it would be taken
 * again. A creation time stays, and is sign enough.
 */
const noteLoss = (snapshot: VolumeSnapshot): readonly ClusterAction[] =>
  snapshot.status?.creationTime === undefined
    ? edit(kind, snapshot, { annotations: { [annotations.contentLost]: snapshot.metadata.uid } })
    : [];

/** Told once, in the status and by an event. */
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
function protect(view: SnapshotView): readonly ClusterAction[] {
  const { snapshot, content } = view;
  const policy = content?.spec.deletionPolicy ?? classOf(view)?.deletionPolicy;
  const addFinalizers = [finalizers.snapshotAsSource, ...(policy === "Delete" ? [finalizers.snapshotBound] : [])];
  const defaulted =
    view.source.kind === "claim" && snapshot.spec.volumeSnapshotClassName === undefined
      ? view.defaultClasses[0]
      : undefined;
  return edit(kind, snapshot, {
    addFinalizers,
    ...(defaulted === undefined ? {} : { spec: { volumeSnapshotClassName: defaulted.metadata.name } }),
  });
}

function planCreation(view: SnapshotView): Plan {
  const object = contentFor(view);
  if (object === undefined) return nothing;
  const create: ClusterAction = {
    kind: "create",
    ref: { kind: "VolumeSnapshotContent", name: object.metadata.name ?? "" },
    object,
  };
  const protection = protect(view);
  return doing(protection.length > 0 ? protection : stillWaiting(view), [
    create,
    event(
      view.snapshot,
      "Normal",
      "CreatingSnapshot",
      withCode(`Waiting for a snapshot ${keyOf(view.snapshot)} to be created by the CSI driver.`, "SNAP-291"),
    ),
  ]);
}

/**
 * What was promised must not be quietly taken again. By a list from the past, a snapshot whose content was lost long after it got
 * ready would look as if it still waited for its first; a version-guarded write tells, and where none is due, the server does.
 */
const stillWaiting = ({ snapshot }: SnapshotView): readonly ClusterAction[] => [
  {
    kind: "confirm",
    ref: refOf(kind, snapshot),
    resourceVersion: snapshot.metadata.resourceVersion,
    trustsReplies: true,
  },
];

/** A pre-provisioned content learns which snapshot it belongs to; nothing else of its spec is touched. */
function planBinding(view: SnapshotView): Plan {
  const { snapshot, content } = view;
  if (content === undefined) return nothing;
  const volumeSnapshotRef = { ...content.spec.volumeSnapshotRef, uid: snapshot.metadata.uid };
  const className = content.spec.volumeSnapshotClassName ?? snapshot.spec.volumeSnapshotClassName;
  const spec = { volumeSnapshotRef, ...(className === undefined ? {} : { volumeSnapshotClassName: className }) };
  const addFinalizers = content.metadata.deletionTimestamp === undefined ? [finalizers.contentBound] : [];
  return doing(
    protect(view),
    edit("VolumeSnapshotContent", content, { addFinalizers, spec: spec as unknown as JsonObject }),
  );
}

function planStatus(view: SnapshotView): Plan {
  const { snapshot, content, nowMs } = view;
  if (content === undefined) return nothing;
  const protection = protect(view);
  const wanted = statusFrom(snapshot, content, rfc3339(nowMs));
  const waitMs =
    snapshot.status?.boundVolumeSnapshotContentName === undefined && hasNoReport(content)
      ? Math.max(
          ageLeftMs(content, bindingDelayMs, nowMs),
          Math.min(ageLeftMs(content, bindingDelayMsMax, nowMs), queueIdleMsMin - view.queueIdleMs),
        )
      : 0;
  if (waitMs > 0) return { actions: protection, next: { kind: "after", ms: waitMs } };
  // The finalizer patch changes the version the status patch is guarded by: one write now, the other on the next pass.
  if (protection.length > 0) return doing(protection);
  const write = patchStatus(kind, snapshot, snapshot.status as JsonObject | undefined, wanted as JsonObject);
  return write.length === 0 ? nothing : doing(write, milestones(snapshot, wanted));
}

/** A clock that is behind the server's by more than this says nothing about the content's age. */
const clockSkewMsMax = 1_000;
/** No wait at all by a clock that was set back: the age it tells would stay negative, and the status unwritten, for hours. */
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
/** Our finalizers go together and last: as long as one is on, the content is either there or known to be gone. */
const release = (snapshot: VolumeSnapshot): readonly ClusterAction[] =>
  edit(kind, snapshot, { removeFinalizers: ownFinalizers });

/** Letting go is for ever: a content that our cache has not seen yet would be left without its snapshot. */
const confirmation = ({ snapshot, content }: SnapshotView): readonly ClusterAction[] => [
  {
    kind: "confirm",
    ref: { kind: "VolumeSnapshotContent", name: contentNameOf(snapshot), uid: content?.metadata.uid },
    resourceVersion: content?.metadata.resourceVersion,
  },
];

function planDeletion(view: SnapshotView): Plan {
  const { snapshot, content, restoring } = view;
  if (!ownFinalizers.some((name) => snapshot.metadata.finalizers?.includes(name))) return nothing;
  if (content === undefined || !pointsAt(content, snapshot)) return doing(confirmation(view), release(snapshot));
  // Only a ready snapshot can be read from; waiting for a claim that waits for readiness would be waiting in a circle.
  const reader = content.status?.readyToUse === true ? restoring[0] : undefined;
  if (reader !== undefined)
    return doing([
      event(
        snapshot,
        "Warning",
        "SnapshotDeletePending",
        withCode(`Snapshot is being used to restore a PVC: ${keyOf(reader)}`, "SNAP-241"),
      ),
    ]);
  const mark = edit("VolumeSnapshotContent", content, { annotations: { [annotations.beingDeleted]: "yes" } });
  const unread = view.missingClaims.map(absence);
  if (content.spec.deletionPolicy === "Retain") return doing(unread, mark, release(snapshot));
  // One after the other, so that the deletion can name the version it was decided for: whoever wants to retain it may be quicker.
  if (mark.length > 0) return doing(unread, mark);
  return content.metadata.deletionTimestamp === undefined
    ? doing(unread, [deletionOf(content)])
    : doing(violation(view, content));
}

/** That the claim is gone, and not left out by a list of our cache: it may be reading from the snapshot. */
const absence = ({ namespace, name }: ObjectName): ClusterAction => ({
  kind: "confirm",
  ref: { kind: "PersistentVolumeClaim", namespace, name },
  resourceVersion: undefined,
});

/** Whoever deleted a snapshot looks at it, and not at its content, to see why it is still there. */
function violation({ snapshot, nowMs }: SnapshotView, { metadata, status }: VolumeSnapshotContent) {
  const said = status?.error?.message;
  // What the snapshot says already was said of its creation; the next word comes when the deletion is tried in vain.
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
