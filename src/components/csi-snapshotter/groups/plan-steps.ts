/** What the plans of group contents are made of: a call with its intent, an error that is reported once, the last edit of the metadata. */
import { refOf, statusError } from "../../../api/builders.ts";
import { annotations, finalizers } from "../../../api/names.ts";
import { edit, patchStatus } from "../../../api/patches.ts";
import type { Ref } from "../../../api/plan.ts";
import { type ClusterAction, type CodedMessage, type Next, type Plan, settled } from "../../../api/plan.ts";
import type { VolumeGroupSnapshotContent } from "../../../api/types.ts";
import type { JsonObject } from "../../../base/json.ts";
import { isSameError } from "../../../base/same-error.ts";
import { millisOf } from "../../../base/time.ts";
import { membersOf, noteOfMembers } from "../../../rules/group-members.ts";
import { type ContentErrorCode, reasonsByCode } from "../../../rules/snapshot-reasons.ts";
import type { CsiCallAction } from "../../../runtime/csi-calls.ts";
import { type SidecarReason, why } from "../reasons.ts";
import type { GroupView } from "./observe.ts";
import type { GroupCall } from "./plan-calls.ts";

type GroupCsiAction = CsiCallAction<VolumeGroupSnapshotContent, GroupCall>;
export type GroupAction = ClusterAction | GroupCsiAction;
export interface GroupPlan extends Plan<GroupAction> {
  readonly reason: SidecarReason;
}

export const groupContentKind = "VolumeGroupSnapshotContent";
export const groupPlan = (
  reason: SidecarReason,
  next: Next,
  ...actions: readonly (readonly GroupAction[])[]
): GroupPlan => ({ actions: actions.flat(), next, reason });

/** A call cannot be undone: a version-guarded write comes before it, and where none is due, a read. */
export const confirmedGroup = (content: VolumeGroupSnapshotContent): readonly ClusterAction[] => [
  { kind: "confirm", ref: refOf(groupContentKind, content), resourceVersion: content.metadata.resourceVersion },
];

/** Written before a creation is sent: a successor must find out that there may be a group. */
export function groupIntent(content: VolumeGroupSnapshotContent): readonly ClusterAction[] {
  const write = edit(groupContentKind, content, {
    addFinalizers: content.metadata.deletionTimestamp === undefined ? [finalizers.groupContentBound] : [],
    annotations: { [annotations.groupBeingCreated]: "yes" },
  });
  return write.length > 0 ? write : confirmedGroup(content);
}

/** No creation is in flight any more. The members are noted where no client of an older version can drop them. */
export function noteAnswered(content: VolumeGroupSnapshotContent): readonly ClusterAction[] {
  const members = membersOf(content);
  return edit(groupContentKind, content, {
    annotations: {
      [annotations.groupBeingCreated]: undefined,
      ...(members.length === 0 ? {} : { [annotations.groupMembers]: noteOfMembers(members) }),
    },
  });
}

export const callNames = {
  create: "CreateVolumeGroupSnapshot",
  get: "GetVolumeGroupSnapshot",
  delete: "DeleteVolumeGroupSnapshot",
} as const satisfies Record<GroupCall["method"], string>;

export function planGroupCall(
  { facts: { content, driver } }: GroupView,
  call: GroupCall,
  intent: readonly ClusterAction[],
): GroupPlan {
  const since = call.method === "delete" ? content.metadata.deletionTimestamp : content.metadata.creationTimestamp;
  const says = `${callNames[call.method]} is sent to driver ${driver}, and no reply has come yet`;
  return groupPlan(why("WaitsForDriver", says, [], millisOf(since)), settled, [
    { kind: "csi", about: content, call, intent },
  ]);
}

export interface Report {
  readonly event: string;
  readonly code: ContentErrorCode;
  readonly message: CodedMessage;
}

/** Reports one kind of error once, in status and event. The content is reconciled again when the reply expires. */
export function planGroupError(
  view: GroupView,
  { event: word, code, message }: Report,
  alsoOnMetadata: readonly ClusterAction[] = [],
): GroupPlan {
  const { content } = view.facts;
  const reason = groupReason(view, code, message);
  if (isGroupReported(content, message)) return groupPlan(reason, nextLook(view), alsoOnMetadata);
  const status = patchStatus(groupContentKind, content, content.status as JsonObject | undefined, {
    ...(content.status as JsonObject | undefined),
    readyToUse: content.status?.readyToUse === true,
    error: statusError(message, view.nowMs),
  });
  const next: Next = alsoOnMetadata.length > 0 ? { kind: "after", ms: 0 } : nextLook(view);
  return groupPlan(reason, next, status, [groupEvent(content, word, message)]);
}

export function groupReason(
  { facts: { content } }: GroupView,
  code: ContentErrorCode,
  message: CodedMessage,
): SidecarReason {
  const { reason, blocker } = reasonsByCode[code];
  const className = content.spec.volumeGroupSnapshotClassName;
  const waitsFor: readonly Ref[] =
    blocker === "class" && className ? [{ kind: "VolumeGroupSnapshotClass", name: className }] : [];
  const sinceMs = isGroupReported(content, message) ? millisOf(content.status?.error?.time) : undefined;
  return why(reason, message, waitsFor, sinceMs);
}

export const nextLook = ({ memory: { replyLeftMs } }: GroupView): Next =>
  replyLeftMs > 0 && Number.isFinite(replyLeftMs) ? { kind: "after", ms: replyLeftMs } : settled;

export const isGroupReported = ({ status }: VolumeGroupSnapshotContent, message: CodedMessage): boolean =>
  isSameError(status?.error?.message ?? "", message);

export const groupEvent = (
  about: VolumeGroupSnapshotContent,
  reason: string,
  message: CodedMessage,
): ClusterAction => ({
  kind: "event",
  about,
  event: { type: "Warning", reason, message },
});
