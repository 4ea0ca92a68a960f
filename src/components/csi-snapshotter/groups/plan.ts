/**
 * Decides for one group content which object to write, or which call to send, next. phase.ts describes the phases.
 *
 * Intent comes before effect: the being-created annotation and the finalizer are there before the first creation is sent, and the
 * annotation stays until the driver gives a final reply. Ids that the driver has answered are stored whatever else is wrong.
 */
import { annotations, finalizers } from "../../../api/names.ts";
import { edit, patchStatus } from "../../../api/patches.ts";
import { type CodedMessage, type Next, settled } from "../../../api/plan.ts";
import type { VolumeGroupSnapshotContent } from "../../../api/types.ts";
import { unreachable } from "../../../base/brand.ts";
import { type Fault, isFault, isFinal } from "../../../base/fault.ts";
import { equal, type JsonObject } from "../../../base/json.ts";
import { limits } from "../../../base/limits.ts";
import { millisOf, rfc3339 } from "../../../base/time.ts";
import { withCode } from "../../../errors/codes.ts";
import { membersOf } from "../../../rules/group-members.ts";
import type { ContentErrorCode } from "../../../rules/snapshot-reasons.ts";
import { quoted } from "../plan-steps.ts";
import { hasUnknownOutcome, why } from "../reasons.ts";
import type { GroupView } from "./observe.ts";
import { groupPhaseOf, isGroupBeingCreated, isGroupDeletionConfirmed } from "./phase.ts";
import { createGroupCall, deleteGroupCall, getGroupCall, groupName } from "./plan-calls.ts";
import {
  confirmedGroup,
  type GroupPlan,
  groupContentKind,
  groupEvent,
  groupIntent,
  groupPlan,
  groupReason,
  isGroupReported,
  nextLook,
  noteAnswered,
  planGroupCall,
  planGroupError,
} from "./plan-steps.ts";
import type { GroupInfo } from "./reply.ts";

export function planGroup(view: GroupView): GroupPlan {
  const { content, driver } = view.facts;
  const phase = groupPhaseOf(view.facts);
  switch (phase) {
    case "foreign":
      return groupPlan(
        why("NotOurs", `the group content is of another driver or class, or has no clear source (${driver})`),
        settled,
      );
    case "ready":
      return planReady(content);
    case "removable":
      return planRemoval(view);
    case "unverified":
    case "pending":
      return planGet(view);
    case "untaken":
      return planCreate(view);
    default:
      return unreachable(phase);
  }
}

function planReady(content: VolumeGroupSnapshotContent): GroupPlan {
  const write = noteAnswered(content);
  if (write.length > 0) return groupPlan(why("Writes", "the being-created annotation is removed"), settled, write);
  return content.metadata.deletionTimestamp === undefined
    ? groupPlan(why("Settled", "the group is ready"), settled)
    : groupPlan(notGivenUp(content), settled);
}

const notGivenUp = ({ metadata, spec }: VolumeGroupSnapshotContent) => {
  const { namespace, name = "", uid } = spec.volumeGroupSnapshotRef ?? {};
  const says = `VolumeGroupSnapshot ${namespace}/${name} has not given up the content, which is being deleted`;
  const since = millisOf(metadata.deletionTimestamp);
  return why("WaitsForDeletionConfirmed", says, [{ kind: "VolumeGroupSnapshot", namespace, name, uid }], since);
};

function planCreate(view: GroupView): GroupPlan {
  const { content, driver, canGroup } = view.facts;
  const { reply } = view.memory;
  const word = "GroupSnapshotCreationFailed";
  const block = (code: ContentErrorCode, problem: string): GroupPlan =>
    planGroupError(view, { event: word, code, message: withCode(`Failed to create group snapshot: ${problem}`, code) });
  if (reply.kind === "taken") return planGroupInfo(view, reply.group);
  if (reply.kind === "failed") return planAbandoned(view, reply.fault) ?? planFailure(view, reply.fault);
  if (reply.kind === "unsent") return block("SNAP-516", reply.fault.message);
  if (canGroup === undefined) return groupPlan(why("WaitsForDriver", `driver ${driver} cannot be reached`), settled);
  const prepared = createGroupCall(view.facts);
  if (prepared.kind === "call") return planGroupCall(view, prepared.call, groupIntent(content));
  // A driver without a group controller has taken nothing, whatever its predecessor was asked.
  const isUnsent = prepared.code === "SNAP-541" && isGroupBeingCreated(content);
  return isUnsent && content.metadata.deletionTimestamp !== undefined
    ? groupPlan(
        why("Writes", "the being-created annotation is removed: the driver takes no groups"),
        settled,
        noteAnswered(content),
      )
    : block(prepared.code, prepared.problem);
}

function planFailure(view: GroupView, fault: Fault): GroupPlan {
  const { content, options } = view.facts;
  const name = groupName(options, content.spec.volumeGroupSnapshotRef.uid ?? "");
  const text = `Failed to create group snapshot: failed to take group "${name}" of ${content.spec.source.volumeHandles?.length} volumes: ${quoted(fault)}`;
  const word = "GroupSnapshotCreationFailed";
  const message = withCode(text, "SNAP-501");
  if (!hasUnknownOutcome(fault)) {
    const over = isFinal(fault) ? noteAnswered(content) : [];
    return planGroupError(view, { event: word, code: "SNAP-501", message }, over);
  }
  // The driver may still take the group, so this is no failure: only an event reports it, and the call is repeated.
  const unknown = withCode(`${text}; the outcome is not known and the same group is asked for again`, "SNAP-502");
  const reason = why("OutcomeUnknown", unknown);
  return groupPlan(
    reason,
    nextLook(view),
    isGroupReported(content, message) ? [] : [groupEvent(content, word, unknown)],
  );
}

/** A driver whose replies cannot be read will not send a usable one until it is repaired: a deleted content does not wait for that. */
function planAbandoned(view: GroupView, fault: Fault): GroupPlan | undefined {
  const { content, options } = view.facts;
  if (!isGroupDeletionConfirmed(content) || !isUnreadable(view, fault)) return undefined;
  const name = groupName(options, content.spec.volumeGroupSnapshotRef.uid ?? "");
  return releaseWith(content, leftover(view, `group "${name}"`, fault));
}

const isUnreadable = ({ memory }: GroupView, fault: Fault): boolean =>
  isFault(fault, "MalformedReply") && memory.malformedReplies >= limits.malformedRepliesMax;

function planGroupInfo(view: GroupView, taken: GroupInfo): GroupPlan {
  const { content, driver } = view.facts;
  const known = content.status?.volumeGroupSnapshotHandle;
  if (known && known !== taken.handle) {
    const text = `Failed to create group snapshot: the driver answered handle "${taken.handle}" for a group it called "${known}" before; the first one is kept, and the driver must answer the same for the same name`;
    const message = withCode(text, "SNAP-503");
    return planGroupError(
      view,
      { event: "GroupSnapshotCreationFailed", code: "SNAP-503", message },
      noteAnswered(content),
    );
  }
  const next: Next = taken.ready ? settled : { kind: "after", ms: view.memory.replyLeftMs };
  const message = mismatchOf(taken, driver);
  const status = patchStatus(
    groupContentKind,
    content,
    content.status as JsonObject | undefined,
    statusWith(content, taken, message, view.nowMs),
  );
  const reason =
    message !== undefined
      ? groupReason(view, "SNAP-542", message)
      : taken.ready
        ? why("Writes", `group "${taken.handle}" of driver ${driver} is ready: the status says so next`)
        : why("WaitsForDriver", `driver ${driver} has taken group "${taken.handle}", and it is not ready`);
  if (status.length === 0) return groupPlan(reason, next, noteAnswered(content));
  const events =
    message === undefined || isGroupReported(content, message)
      ? []
      : [groupEvent(content, "GroupSnapshotCreationFailed", message)];
  return groupPlan(reason, { kind: "after", ms: 0 }, status, events);
}

const mismatchOf = ({ handle, mismatch }: GroupInfo, driver: string): CodedMessage | undefined =>
  mismatch === undefined
    ? undefined
    : withCode(
        `Failed to create group snapshot: the answer of driver ${driver} about group "${handle}" is not what was asked for: ${mismatch}; the group is never ready like this, and is deleted with all that the driver named when the VolumeGroupSnapshot is deleted`,
        "SNAP-542",
      );

/**
 * Handle and creation time describe the data and are written once. The list is compared wherever it is kept: definitions of v1beta1 alone
 * have no room for it in the status, and would be written to for ever.
 */
function statusWith(
  content: VolumeGroupSnapshotContent,
  taken: GroupInfo,
  mismatch: CodedMessage | undefined,
  nowMs: number,
): JsonObject {
  const { error: oldError, ...old } = content.status ?? {};
  const pairs = taken.members.map(({ volumeHandle = "", snapshotHandle = "" }) => ({ volumeHandle, snapshotHandle }));
  const isFirst = !old.volumeGroupSnapshotHandle;
  const hasList = isFirst || (old.volumeSnapshotInfoList !== undefined && !equal(membersOf(content), taken.members));
  const error =
    mismatch === undefined
      ? undefined
      : oldError?.message === mismatch
        ? oldError
        : { message: mismatch, time: rfc3339(nowMs) };
  return {
    ...(old as JsonObject),
    volumeGroupSnapshotHandle: old.volumeGroupSnapshotHandle ?? taken.handle,
    creationTime: old.creationTime ?? rfc3339(Number(taken.creationTimeNs / 1_000_000n)),
    readyToUse: taken.ready,
    ...(hasList ? { volumeSnapshotInfoList: taken.members as unknown as JsonObject[] } : {}),
    ...(isFirst ? { volumeSnapshotHandlePairList: pairs } : {}),
    ...(error === undefined ? {} : { error: error as JsonObject }),
  };
}

function planGet(view: GroupView): GroupPlan {
  const { content, driver, canGroup } = view.facts;
  const { reply } = view.memory;
  // The reply that brought the handle: it is the newest answer, until it expires.
  if (reply.kind === "taken") return planGroupInfo(view, reply.group);
  const fail = (code: ContentErrorCode, problem: string): GroupPlan => {
    const message = withCode(`Failed to check and update group snapshot content: ${problem}`, code);
    return planGroupError(view, { event: "GroupSnapshotContentCheckandUpdateFailed", code, message });
  };
  if (canGroup === undefined) return groupPlan(why("WaitsForDriver", `driver ${driver} cannot be reached`), settled);
  const prepared = getGroupCall(view.facts);
  if (prepared.kind === "wrong") return fail(prepared.code, prepared.problem);
  if (reply.kind === "unsent") return fail("SNAP-516", reply.fault.message);
  if (reply.kind === "failed")
    return fail(content.status?.volumeGroupSnapshotHandle ? "SNAP-543" : "SNAP-521", quoted(reply.fault));
  // Without the answer's own members, those that a user named are what there is to know.
  return planGroupCall(view, prepared.call, []);
}

function planRemoval(view: GroupView): GroupPlan {
  const { content, driver, canGroup } = view.facts;
  const { reply } = view.memory;
  const handle = content.status?.volumeGroupSnapshotHandle;
  if (reply.kind === "deleted") return release(content, `driver ${driver} has deleted group "${handle}"`);
  const prepared = deleteGroupCall(view.facts);
  if (prepared.kind === "none") return release(content, prepared.says);
  if (prepared.kind === "unverified")
    return releaseWith(
      content,
      withCode(
        `Group content ${content.metadata.name} is let go without DeleteVolumeGroupSnapshot: driver ${driver} never confirmed that it has "${prepared.handle}", so nothing is deleted by it; if that group exists and is not wanted, delete it by the means of the storage`,
        "SNAP-533",
      ),
    );
  const report = (code: ContentErrorCode, problem: string): GroupPlan =>
    planGroupError(view, {
      event: "GroupSnapshotDeleteError",
      code,
      message: withCode(`Failed to delete group snapshot: ${problem}; ${orRetain}`, code),
    });
  if (prepared.kind === "wrong") return report(prepared.code, prepared.problem);
  if (reply.kind === "failed") {
    if (isUnreadable(view, reply.fault)) return releaseWith(content, leftover(view, `group "${handle}"`, reply.fault));
    return report("SNAP-531", quoted(reply.fault));
  }
  if (reply.kind === "unsent") return report("SNAP-516", reply.fault.message);
  if (canGroup === undefined) return groupPlan(why("WaitsForDriver", `driver ${driver} cannot be reached`), settled);
  return planGroupCall(view, prepared.call, confirmedGroup(content));
}

const orRetain = "to let the content go without deleting the group, set spec.deletionPolicy to Retain";

const leftover = ({ facts: { content, driver }, memory }: GroupView, what: string, fault: Fault): CodedMessage =>
  withCode(
    `Group content ${content.metadata.name} is let go: ${memory.malformedReplies} replies of driver ${driver} could not be read, and none could (${quoted(fault)}), so ${what} may be left there; look for it, and delete it by the means of the storage`,
    "SNAP-532",
  );

const releaseOf = (content: VolumeGroupSnapshotContent) =>
  edit(groupContentKind, content, {
    removeFinalizers: [finalizers.groupContentBound],
    annotations: { [annotations.groupBeingCreated]: undefined },
  });
const release = (content: VolumeGroupSnapshotContent, says: string): GroupPlan =>
  groupPlan(why("Released", says), settled, releaseOf(content));

/** The event comes before the write: after a crash in between it is sent twice, not never. */
function releaseWith(content: VolumeGroupSnapshotContent, left: CodedMessage): GroupPlan {
  const write = releaseOf(content);
  return groupPlan(
    why("Released", left),
    settled,
    write.length === 0 ? [] : [groupEvent(content, "GroupSnapshotLeftAtDriver", left)],
    write,
  );
}
