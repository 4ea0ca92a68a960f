/**
 * What the process remembers of its calls: replies, the calls that they are to, pauses after volumes that were created in vain, delays
 * before claims are taken for the own node, ids that a driver has answered and then replaced by others, and which deletions the driver
 * refuses for good.
 *
 * Memory: one reply for each volume in work, and bounded maps. What is lost with it: a call is repeated earlier, under the same name;
 * and the volume of a replaced id stays at the driver, which is that driver's defect.
 */
import type { Backoff } from "../../../base/backoff.ts";
import type { Millis } from "../../../base/brand.ts";
import { createLru } from "../../../base/lru.ts";
import type { World } from "../../../base/world.ts";
import { type CachedReply, type CsiReply, createReplyCache, type ReplyCache } from "../../../runtime/reply-cache.ts";
import type { VolumeName, VolumeUid } from "../identity.ts";
import { createAnsweredIds } from "./answered-ids.ts";
import type { VolumeAnswer, VolumeCall, VolumeReply } from "./call.ts";
import { createPauses } from "./pauses.ts";
import { isRefusedForGood } from "./refusals.ts";
import { strayId, type TargetUid, type VolumeTarget } from "./target.ts";

/** What is remembered of the calls for a volume that a claim wants. */
export interface CallMemory {
  /** To the last call that was sent for the same goal, until it expires. */
  readonly reply: VolumeReply;
  readonly replyLeftMs: Millis;
  /** The reply is to DeleteVolume. */
  readonly isUndoing: boolean;
  /** The reply is to a call that was sent only to learn the id of the volume. */
  readonly isLearning: boolean;
  /** Malformed replies, the last one included, since the last well-formed one for the same goal. */
  readonly malformedReplies: number;
  /** Replies in a row that were as the last one: errors, for example. */
  readonly repliesInRow: number;
  /** The call that the reply is to, or a later one. */
  readonly repliedTo: VolumeCall | undefined;
  /** When that call was sent, by the wall clock. */
  readonly sentAtMs: Millis | undefined;
  /** The name of another volume to which the driver has answered the same id. */
  readonly sharedWith: string | undefined;
  /** The id that the driver has answered to an earlier attempt, when it answered another one later: nobody else knows of that volume. */
  readonly stray: Stray | undefined;
  /** How long nothing is to be sent, because volumes were created and deleted in vain. */
  readonly pauseMs: Millis;
  /** How long to wait before the claim is taken for the own node; undefined: not decided yet. */
  readonly takeInMs: Millis | undefined;
}

export interface Stray {
  readonly id: string;
  /** To its deletion. */
  readonly reply: VolumeReply;
  readonly replyLeftMs: Millis;
}

/** What is remembered of the calls that delete the volume of a PersistentVolume. */
export interface DeletionMemory extends Pick<CallMemory, "reply" | "replyLeftMs" | "repliedTo" | "sentAtMs"> {
  /** The version of the PersistentVolume whose volume the driver has refused for good to delete, as often as it is asked. */
  readonly refusedVersion: string | undefined;
}

const noReply = { reply: { kind: "none" }, replyLeftMs: 0 } as const;
const noCall = { repliedTo: undefined, sentAtMs: undefined } as const;
/** Nothing was sent. */
export const noCalls: CallMemory = {
  ...noReply,
  ...noCall,
  isUndoing: false,
  isLearning: false,
  malformedReplies: 0,
  repliesInRow: 0,
  sharedWith: undefined,
  stray: undefined,
  pauseMs: 0,
  takeInMs: undefined,
};
export const noDeletion: DeletionMemory = { ...noReply, ...noCall, refusedVersion: undefined };

export interface Remembered {
  readonly replies: ReplyCache<VolumeTarget, VolumeAnswer, VolumeTarget["goal"]>;
  about(name: VolumeName): CallMemory;
  aboutStored(uid: VolumeUid): DeletionMemory;
  keep(target: VolumeTarget, reply: CsiReply<VolumeAnswer>): void;
  /** To be called before a call is sent. */
  sending(target: VolumeTarget, call: VolumeCall): void;
  /** For how long, each time longer. The reply is forgotten. */
  pause(name: VolumeName): Millis;
  /** For how long the claim is left to other nodes, each time longer. */
  delayTaking(name: VolumeName): Millis;
  /** The own node has the claim, or tries no more. */
  taken(name: VolumeName): void;
  /** Since the last call about the target was prepared; its outcome is stored now. */
  tookMs(uid: TargetUid): Millis;
  /** The call is repeated. */
  forgetReply(name: VolumeName): void;
  /** The owner of a source may think otherwise now. */
  forgetDenial(name: VolumeName): void;
  /** The volume that the driver has answered before is deleted. */
  forgetStray(name: VolumeName): void;
  /** The volume is stored, or nobody wants it any more. */
  forget(name: VolumeName): void;
  /** The PersistentVolume is gone. */
  forgetStored(uid: VolumeUid): void;
}

const volumesMax = 10_000;
/** What the driver refuses for good is asked so many times. */
const refusalsMax = 10;
/** Secrets cannot be watched: one that was missing is looked for again after this long at the latest. */
const secretRetryMsMax: Millis = 15_000;

type Cached = CachedReply<VolumeAnswer, VolumeTarget["goal"]>;
const expiryOf = ({ reply, receivedAtMs, expiresAtMs }: Cached): Millis =>
  reply.kind === "unsent" ? Math.min(expiresAtMs, receivedAtMs + secretRetryMsMax) : expiresAtMs;

export function createRemembered(
  world: Pick<World, "elapsed" | "now" | "random">,
  backoff: Backoff,
  takingDelay: Backoff = backoff,
): Remembered {
  const replies = createReplyCache<VolumeTarget, VolumeAnswer, VolumeTarget["goal"]>({
    world,
    backoff,
    poll: backoff,
    goalOf: ({ goal }) => goal,
    validityOf: (_target, { kind }) => (kind === "denied" ? "until retry" : "for good"),
  });
  const sent = createLru<{ readonly call: VolumeCall; readonly sentAtMs: Millis }>(volumesMax);
  const startedAtMs = createLru<Millis>(volumesMax);
  const pauses = createPauses(world, backoff, volumesMax);
  const delays = createPauses(world, takingDelay, volumesMax);
  const ids = createAnsweredIds(volumesMax);
  const refused = createLru<string>(volumesMax);

  const noteRefusal = (target: VolumeTarget, reply: CsiReply<VolumeAnswer>): void => {
    if (target.kind !== "stored") return;
    const { uid } = target.metadata;
    const tries = (replies.get(uid)?.tries ?? 0) + 1;
    const isForGood = reply.kind === "failed" && isRefusedForGood(reply.fault);
    if (isForGood && tries >= refusalsMax) refused.set(uid, target.version);
    else refused.delete(uid);
  };
  const forgetReply = (uid: TargetUid): void => {
    ids.release(uid, replies.get(uid)?.reply);
    replies.forget(uid);
  };
  const leftMsOf = (cached: Cached | undefined): Millis =>
    Math.max((cached === undefined ? 0 : expiryOf(cached)) - world.elapsed(), 0);
  const callTo = (uid: TargetUid) => {
    const last = sent.get(uid);
    return last === undefined ? noCall : { repliedTo: last.call, sentAtMs: last.sentAtMs };
  };
  /** The last reply, until it expires. */
  const replyTo = (uid: TargetUid) => {
    const cached = replies.get(uid);
    const replyLeftMs = leftMsOf(cached);
    if (cached === undefined || replyLeftMs === 0) return noReply;
    const { reply, goal, malformedReplies, tries } = cached;
    return {
      reply,
      replyLeftMs,
      isUndoing: goal === "delete",
      isLearning: goal === "learn",
      malformedReplies,
      repliesInRow: tries + 1,
    };
  };
  const strayOf = (name: VolumeName): Stray | undefined => {
    const id = ids.strayOf(name);
    if (id === undefined) return undefined;
    const { reply, replyLeftMs } = replyTo(strayId(name, id));
    return { id, reply, replyLeftMs };
  };

  return {
    replies,
    about: (name) => ({
      ...noCalls,
      ...replyTo(name),
      ...callTo(name),
      sharedWith: ids.sharerOf(name, replies.get(name)?.reply),
      stray: strayOf(name),
      pauseMs: pauses.leftMs(name) ?? 0,
      takeInMs: delays.leftMs(name),
    }),
    aboutStored: (uid) => {
      const { reply, replyLeftMs } = replyTo(uid);
      return { ...noDeletion, reply, replyLeftMs, ...callTo(uid), refusedVersion: refused.get(uid) };
    },
    keep: (target, reply) => {
      const { uid } = target.metadata;
      ids.release(uid, replies.get(uid)?.reply);
      replies.put(target, reply);
      noteRefusal(target, reply);
      ids.note(uid, reply);
    },
    sending: ({ metadata: { uid } }, call) => {
      sent.set(uid, { call, sentAtMs: world.now() });
      startedAtMs.set(uid, world.elapsed());
    },
    tookMs: (uid) => {
      const tookMs = world.elapsed() - (startedAtMs.get(uid) ?? world.elapsed());
      startedAtMs.delete(uid);
      return tookMs;
    },
    delayTaking: delays.lengthen,
    taken: delays.forget,
    pause: (name) => {
      const pauseMs = pauses.lengthen(name);
      forgetReply(name);
      return pauseMs;
    },
    forgetReply,
    forgetDenial: (name) => {
      if (replies.get(name)?.reply.kind === "denied") forgetReply(name);
    },
    forgetStray: (name) => {
      const id = ids.strayOf(name);
      if (id !== undefined) replies.forget(strayId(name, id));
      ids.forgetStray(name);
    },
    forget: (name) => {
      forgetReply(name);
      ids.forget(name);
      sent.delete(name);
      pauses.forget(name);
      delays.forget(name);
    },
    forgetStored: (uid) => {
      forgetReply(uid);
      refused.delete(uid);
      sent.delete(uid);
    },
  };
}
