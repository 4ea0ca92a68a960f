/**
 * What this process remembers of groups beside the objects.
 *
 * replies  holds  the last CSI reply about each group content, the number of tries, when it expires
 *          bound  the contents in the cache: a reply is forgotten with its content
 *          lost   the call is repeated at once, and its backoff starts anew
 *          safe   a content always asks for the same group name, and DeleteVolumeGroupSnapshot may be repeated
 */
import type { VolumeGroupSnapshotContent } from "../../../api/types.ts";
import type { Backoff } from "../../../base/backoff.ts";
import type { World } from "../../../base/world.ts";
import { createReplyCache, type ObservedReply, observeReply, type ReplyCache } from "../../../runtime/reply-cache.ts";
import { isGroupRemovable } from "./phase.ts";
import type { GroupAnswer } from "./reply.ts";

export type GroupMemory = ObservedReply<GroupAnswer>;
type Goal = "group" | "outcome" | "removal";

/** What a process remembers that has just started. */
export const noGroupMemory: GroupMemory = {
  reply: { kind: "none" },
  isFirstAttempt: true,
  malformedReplies: 0,
  replyLeftMs: 0,
};

export interface GroupMemories {
  readonly replies: ReplyCache<VolumeGroupSnapshotContent, GroupAnswer, Goal>;
  about(content: VolumeGroupSnapshotContent): GroupMemory;
}

const goalOf = (content: VolumeGroupSnapshotContent): Goal => {
  if (isGroupRemovable(content)) return "removal";
  return content.metadata.deletionTimestamp === undefined ? "group" : "outcome";
};

export function createGroupMemory(options: {
  readonly world: World;
  readonly backoff: Backoff;
  readonly poll: Backoff;
}): GroupMemories {
  const replies = createReplyCache<VolumeGroupSnapshotContent, GroupAnswer, Goal>({
    ...options,
    goalOf,
    validityOf: (_content, answer) => {
      if (answer.kind === "deleted") return "for good";
      if (answer.group.mismatch !== undefined) return "until retry";
      return answer.group.ready ? "for good" : "until poll";
    },
  });
  return {
    replies,
    about: (content) => {
      const cached = replies.get(content.metadata.uid);
      return cached === undefined ? noGroupMemory : observeReply(cached, goalOf(content), options.world.elapsed());
    },
  };
}
