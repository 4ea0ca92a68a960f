/**
 * Removes a content: DeleteSnapshot if the policy says so, then release.
 *
 * A driver that sends several malformed replies, and no other, will not send a usable one until it is repaired, perhaps never. The
 * content is released then, so that it stays deletable, and an event names what may be left on the storage.
 */
import { annotations, finalizers } from "../../api/names.ts";
import { edit } from "../../api/patches.ts";
import { type ClusterAction, type CodedMessage, settled } from "../../api/plan.ts";
import type { VolumeSnapshotContent } from "../../api/types.ts";
import { isFault } from "../../base/fault.ts";
import { limits } from "../../base/limits.ts";
import { withCode } from "../../errors/codes.ts";
import { isKnownUnsent } from "./create-attempts.ts";
import type { ContentMemory } from "./memory.ts";
import type { ContentView } from "./observe.ts";
import { isBeingCreated, isRepeatable, namesVolume } from "./phase.ts";
import { deleteCall, secretMismatch, snapshotName } from "./plan-calls.ts";
import {
  confirmed,
  doing,
  event,
  kind,
  planCall,
  planError,
  quoted,
  removeBeingCreated,
  type SidecarAction,
  type SidecarPlan,
  withoutBeingCreated,
} from "./plan-steps.ts";
import { hasUnknownOutcome, outcomeUnknown, type SidecarReason, why, wrong } from "./reasons.ts";

export function planRemoval(view: ContentView): SidecarPlan {
  const { content, driver } = view.facts;
  if (isUnrepeatable(view)) return planUnrepeatable(view);
  const { reply } = view.memory;
  const prepared = deleteCall(content);
  const handle = content.status?.snapshotHandle;
  if (reply.kind === "deleted") return release(content, `driver ${driver} has deleted snapshot "${handle}"`);
  if (prepared.kind === "none") return release(content, prepared.says);
  if (prepared.kind === "unverified") return releaseWith(content, unverified(view, prepared.handle));
  const report = (message: CodedMessage, reason: SidecarReason): SidecarPlan =>
    planError(view, { event: "SnapshotDeleteError", message, reason });
  if (prepared.kind === "wrong") {
    const { code, problem } = prepared;
    const message = withCode(`Failed to get snapshot credentials: ${problem}; ${orRetain}`, code);
    return report(message, wrong(view, code, message));
  }
  if (isUnreadable(view.memory)) return releaseWith(content, leftover(view, `snapshot "${handle}"`));
  if (reply.kind === "failed") {
    const message = withCode(`Failed to delete snapshot: ${quoted(reply.fault)}`, "SNAP-531");
    const isUnknown = hasUnknownOutcome(reply.fault);
    return report(message, isUnknown ? outcomeUnknown(view, message) : wrong(view, "SNAP-531", message));
  }
  if (reply.kind === "unsent") {
    const message = withCode(`Failed to get snapshot credentials: ${reply.fault.message}`, "SNAP-516");
    return report(message, wrong(view, "SNAP-516", message, prepared.call.secret));
  }
  return planCall(view, prepared, confirmed(content), mismatch(view));
}

/**
 * CreateSnapshot may have taken something, and the content no longer says of which volume, or by which name: the driver cannot be asked
 * again.
 */
const isUnrepeatable = ({ facts: { content }, memory: { attempt } }: ContentView): boolean =>
  !isRepeatable(content) &&
  isBeingCreated(content) &&
  content.status?.readyToUse !== true &&
  !isKnownUnsent(attempt) &&
  (namesVolume(content) || Boolean(content.spec.volumeSnapshotRef?.uid));

function planUnrepeatable({ facts: { content, options } }: ContentView): SidecarPlan {
  if (content.status?.snapshotHandle) return planHandleKnown(content);
  const { volumeSnapshotRef: ref, source } = content.spec;
  const cause = ref?.uid
    ? `spec.source no longer names the one volume that snapshot "${snapshotName(options, ref.uid)}" was requested of`
    : `spec.volumeSnapshotRef.uid is not set, and if it was, a snapshot of volume "${source.volumeHandle}" may have been requested by a name made from it`;
  const left = `Content ${content.metadata.name} is let go: ${cause}, so the driver cannot be asked whether it was taken; look for it, and delete it by the means of the storage`;
  return releaseWith(content, withCode(left, "SNAP-535"));
}

/** The snapshot can be deleted, and only the annotation delays that. */
const planHandleKnown = (content: VolumeSnapshotContent): SidecarPlan =>
  doing(
    why("Writes", "the being-created annotation is removed: the handle is known, and can be deleted"),
    settled,
    removeBeingCreated(content),
  );

/** Reported and counted with the first attempt. It blocks nothing. */
function mismatch(view: ContentView): readonly SidecarAction[] {
  const message = view.memory.isFirstAttempt ? secretMismatch(view.facts) : undefined;
  if (message === undefined) return [];
  return [event(view.facts.content, "DeletionSecretMismatch", message), { kind: "count", what: "secretMismatch" }];
}

/** Releases a terminating content whose CreateSnapshot has only malformed replies. Undefined: the driver may still reply. */
export function planAbandoned(view: ContentView): SidecarPlan | undefined {
  const { content, options } = view.facts;
  const { volumeSnapshotRef: ref, source } = content.spec;
  const isTerminating =
    content.metadata.deletionTimestamp !== undefined &&
    content.metadata.annotations?.[annotations.beingDeleted] === "yes";
  if (!isTerminating || !isUnreadable(view.memory)) return undefined;
  if (content.status?.snapshotHandle) return planHandleKnown(content);
  const name = snapshotName(options, ref.uid ?? "");
  return releaseWith(content, leftover(view, `snapshot "${name}" of volume "${source.volumeHandle}"`));
}

const isUnreadable = ({ reply, malformedReplies }: ContentMemory): boolean =>
  reply.kind === "failed" && isFault(reply.fault, "MalformedReply") && malformedReplies >= limits.malformedRepliesMax;

const leftover = (
  { facts: { content, driver }, memory: { reply, malformedReplies } }: ContentView,
  what: string,
): CodedMessage =>
  withCode(
    `Content ${content.metadata.name} is let go: ${malformedReplies} replies of driver ${driver} could not be read, and none could (${reply.kind === "failed" ? quoted(reply.fault) : ""}), so ${what} may be left there; look for it, and delete it by the means of the storage`,
    "SNAP-532",
  );

const orRetain = "to let the content go without deleting the snapshot, set spec.deletionPolicy to Retain";

const release = (content: VolumeSnapshotContent, says: string): SidecarPlan =>
  doing(why("Released", says), settled, releaseOf(content));

/** The event comes before the write: after a crash in between it is sent twice, not never. */
function releaseWith(content: VolumeSnapshotContent, left: CodedMessage): SidecarPlan {
  const write = releaseOf(content);
  const events = write.length === 0 ? [] : [event(content, "SnapshotLeftAtDriver", left)];
  return doing(why("Released", left), settled, events, write);
}

const releaseOf = (content: VolumeSnapshotContent): readonly ClusterAction[] =>
  edit(kind, content, { removeFinalizers: [finalizers.contentBound], annotations: withoutBeingCreated });

const unverified = ({ facts: { content, driver } }: ContentView, handle: string): CodedMessage =>
  withCode(
    `Content ${content.metadata.name} is let go without DeleteSnapshot: driver ${driver} never confirmed that it has spec.source.snapshotHandle "${handle}", so nothing is deleted by it; if that snapshot exists and is not wanted, delete it by the means of the storage`,
    "SNAP-533",
  );
