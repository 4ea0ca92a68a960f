/**
 * Everything that this process only remembers. All of it is lost at a restart.
 *
 * replies                    holds  the last CSI reply about each content, the number of tries, when it expires
 *                            bound  the contents in the cache: a reply is forgotten with its content
 *                            lost   the call is repeated at once, and its backoff starts anew
 *                            safe   a content always asks for the same snapshot name, and DeleteSnapshot may be repeated
 * attempts                   holds  for which contents and snapshots CreateSnapshot was sent, which contents were released unsent
 *                            bound  sidecarLimits.createAttemptsMax; what is not newer than a forgotten entry counts as unknown
 *                            lost   the contents count as handled by a predecessor
 *                            safe   such a content is written, or read from the server, before CreateSnapshot is sent
 * attempts, removals         holds  the version at which the removal of the being-created annotation was requested
 *                            bound  sidecarLimits.createAttemptsMax
 *                            lost   a request of the process before may still arrive
 *                            safe   the next process writes its own id before CreateSnapshot, so that the request fails
 * sidecar id                 holds  the id of this process
 *                            bound  one string
 *                            lost   the next process has another id
 *                            safe   contents with another id count as handled by a predecessor
 *
 * The runtime remembers more, for every component: queue and backoff (runtime/queue.ts), versions that the server replied with
 * (runtime/action-handlers.ts), usual durations of calls (runtime/semaphore.ts). Their loss costs a request or a pause.
 */
import type { VolumeSnapshotContent } from "../../api/types.ts";
import type { Backoff } from "../../base/backoff.ts";
import { isFinal } from "../../base/fault.ts";
import { uuid, type World } from "../../base/world.ts";
import {
  type CsiReply,
  createReplyCache,
  type ObservedReply,
  observeReply,
  type ReplyCache,
  type Validity,
} from "../../runtime/reply-cache.ts";
import { type CreateAttempt, type CreateAttempts, createCreateAttempts } from "./create-attempts.ts";
import { isBeingCreated, isRemovable } from "./phase.ts";
import type { SnapshotAnswer } from "./reply.ts";

/** What the process remembers about one content. */
export interface ContentMemory extends ObservedReply<SnapshotAnswer> {
  readonly attempt: CreateAttempt;
}

/** What a process remembers that has just started: with it, anybody can run phase and plan on a content read from a cluster. */
export const noMemory: ContentMemory = {
  reply: { kind: "none" },
  isFirstAttempt: true,
  malformedReplies: 0,
  replyLeftMs: 0,
  attempt: { sidecarId: "", createSent: "unknown", isRemovalPending: false },
};

/** What a call about a content is for. */
export type Goal = "snapshot" | "outcome" | "removal";

export interface Memory {
  readonly replies: ReplyCache<VolumeSnapshotContent, SnapshotAnswer, Goal>;
  readonly attempts: CreateAttempts;
  about(content: VolumeSnapshotContent): ContentMemory;
  /** For a content that is gone. */
  forget(content: VolumeSnapshotContent): void;
}

export interface MemoryOptions {
  readonly world: World;
  readonly backoff: Backoff;
  readonly poll: Backoff;
  /** No other process may ever have had this id; random if undefined. */
  readonly sidecarId?: string | undefined;
}

export function createMemory({ world, backoff, poll, sidecarId = uuid(world) }: MemoryOptions): Memory {
  const replies = createReplyCache({ world, backoff, poll, goalOf, validityOf });
  const attempts = createCreateAttempts(sidecarId);
  return {
    replies,
    attempts,
    about: (content) => {
      const attempt = attempts.about(content);
      const cached = replies.get(content.metadata.uid);
      if (cached === undefined) return { ...noMemory, attempt };
      const isHeld = (reply: CsiReply<SnapshotAnswer>): boolean => isRefusalHeld(content, reply);
      return { ...observeReply(cached, goalOf(content), world.elapsed(), isHeld), attempt };
    },
    forget: ({ metadata }) => replies.forget(metadata.uid),
  };
}

const goalOf = (content: VolumeSnapshotContent): Goal => {
  if (isRemovable(content)) return "removal";
  return content.metadata.deletionTimestamp === undefined ? "snapshot" : "outcome";
};

const validityOf = ({ status }: VolumeSnapshotContent, answer: SnapshotAnswer): Validity => {
  if (answer.kind === "deleted") return "for good";
  // A driver that replies with another handle than the known one may be corrected, so the call is repeated.
  if (status?.snapshotHandle && status.snapshotHandle !== answer.snapshot.handle) return "until retry";
  return answer.snapshot.ready ? "for good" : "until poll";
};

/**
 * A final error of CreateSnapshot counts until the being-created annotation is removed. If CreateSnapshot were repeated before, the
 * request that removes the annotation could arrive after the next call was sent. A ready content has no such call: a final error is
 * one of its deletion, and an annotation left behind must not prevent a retry.
 */
const isRefusalHeld = (content: VolumeSnapshotContent, reply: CsiReply<SnapshotAnswer>): boolean =>
  reply.kind === "failed" && isFinal(reply.fault) && content.status?.readyToUse !== true && isBeingCreated(content);
