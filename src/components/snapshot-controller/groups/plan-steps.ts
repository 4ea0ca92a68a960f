/** What the plans of groups are made of. */
import { statusError } from "../../../api/builders.ts";
import { patchStatus } from "../../../api/patches.ts";
import type { ClusterAction, CodedEvent, CodedMessage } from "../../../api/plan.ts";
import type { VolumeGroupSnapshot } from "../../../api/types.ts";
import type { JsonObject } from "../../../base/json.ts";
import type { GroupView } from "./observe.ts";

export const groupEvent = (
  about: VolumeGroupSnapshot,
  type: CodedEvent["type"],
  reason: string,
  message: CodedMessage,
): ClusterAction => ({ kind: "event", about, event: { type, reason, message } });

/** An error of a group is reported once, in the status and as an event. */
export function groupErrorReport(
  { facts: { group }, nowMs }: GroupView,
  word: string,
  message: CodedMessage,
): readonly ClusterAction[] {
  if (group.status?.error?.message === message) return [];
  const status = { ...group.status, readyToUse: group.status?.readyToUse === true, error: statusError(message, nowMs) };
  return [
    ...patchStatus(
      "VolumeGroupSnapshot",
      group,
      group.status as JsonObject | undefined,
      status as unknown as JsonObject,
    ),
    groupEvent(group, "Warning", word, message),
  ];
}
