/**
 * What the process remembers of its calls: replies, the calls that they are to, pauses after volumes that were created in vain, delays
 * before claims are taken for the own node, and ids that a driver has answered and then replaced by others.
 *
 * It also remembers which deletions the driver refuses for good.
 *
 * Memory: one reply for each volume in work, and bounded maps. What is lost with it: a call is repeated earlier, under the same name;
 * and the volume of a replaced id stays at the driver, which is that driver's defect.
 */
import { type Backoff, backoffMs } from "../../../base/backoff.ts";
import type { Millis } from "../../../base/brand.ts";
import { createLru } from "../../../base/lru.ts";
import type { World } from "../../../base/world.ts";
import { type CachedReply, type CsiReply, createReplyCache, type ReplyCache } from "../../../runtime/reply-cache.ts";
import { isRefusedForGood, strayUid, type VolumeTarget } from "../plan-steps.ts";
import type { StoredVolumeView, Stray, VolumeAnswer, VolumeMemory } from "../volumes/observe.ts";
import type { VolumeCall } from "./call.ts";

export interface Remembered {
  readonly replies: ReplyCache<VolumeTarget, VolumeAnswer, VolumeTarget["goal"]>;
  keep(target: VolumeTarget, reply: CsiReply<VolumeAnswer>): void;
  /** To be called before a call is sent. */
  sending(target: VolumeTarget, call: VolumeCall): void;
  /** For how long, each time longer. The reply is forgotten. */
  pause(volumeName: string): Millis;
  /** For how long the claim is left to other nodes, each time longer. */
  delayTaking(volumeName: string): Millis;
  /** The own node has the claim, or tries no more. */
  taken(volumeName: string): void;
  /** Since the last call about the target was prepared; its outcome is stored now. */
  tookMs(uid: string): Millis;
  /** The call is repeated. */
  forgetReply(volumeName: string): void;
  /** The owner of a source may think otherwise now. */
  forgetDenial(volumeName: string): void;
  /** The volume that the driver has answered before is deleted. */
  forgetStray(volumeName: string): void;
  /** The volume is stored, or nobody wants it any more. */
  forget(volumeName: string): void;
  memoryOf(
    uid: string,
  ): Pick<StoredVolumeView["memory"], "refusedVersion"> &
    Pick<
      VolumeMemory,
      | "reply"
      | "replyLeftMs"
      | "isUndoing"
      | "isLearning"
      | "malformedReplies"
      | "repliesInRow"
      | "repliedTo"
      | "sentAtMs"
      | "pauseMs"
      | "sharedWith"
      | "takeInMs"
      | "stray"
    >;
}

const volumesMax = 10_000;
/** What the driver refuses for good is asked so many times. */
const refusalsMax = 10;
/** Secrets cannot be watched: one that was missing is looked for again after this long at the latest. */
const secretRetryMsMax: Millis = 15_000;

const expiryOf = ({ reply, receivedAtMs, expiresAtMs }: CachedReply<VolumeAnswer, VolumeTarget["goal"]>): Millis =>
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
  const calls = createLru<{ readonly call: VolumeCall; readonly sentAtMs: Millis }>(volumesMax);
  const startedAtMs = createLru<Millis>(volumesMax);
  const pauses = createLru<{ readonly times: number; readonly untilMs: Millis }>(volumesMax);
  const delays = createLru<{ readonly times: number; readonly untilMs: Millis }>(volumesMax);
  const delayIn = (known: typeof pauses, volumeName: string, by: Backoff): Millis => {
    const times = known.get(volumeName)?.times ?? 0;
    const ms = backoffMs(by, times, world.random());
    known.set(volumeName, { times: times + 1, untilMs: world.elapsed() + ms });
    return ms;
  };
  /** Ids that the driver has answered, by the first volume name that each was answered to. */
  const ids = new Map<string, string>();
  /** The id of the last reply for each name, until that volume is deleted or stored; and the one that it took the place of. */
  const answered = createLru<string>(volumesMax);
  const strays = createLru<string>(volumesMax);
  const noteId = (volumeName: string, reply: CsiReply<VolumeAnswer>): void => {
    if (reply.kind === "deleted") answered.delete(volumeName);
    if (reply.kind !== "created") return;
    const before = answered.get(volumeName);
    if (before !== undefined && before !== reply.volume.id && !ids.has(before)) strays.set(volumeName, before);
    answered.set(volumeName, reply.volume.id);
  };
  const refused = createLru<string>(volumesMax);
  const noteRefusal = ({ metadata: { uid }, goal, version }: VolumeTarget, reply: CsiReply<VolumeAnswer>): void => {
    const tries = (replies.get(uid)?.tries ?? 0) + 1;
    const isForGood = goal === "delete" && reply.kind === "failed" && isRefusedForGood(reply.fault);
    if (isForGood && tries >= refusalsMax && version !== undefined) refused.set(uid, version);
    else refused.delete(uid);
  };
  const forgetIdOf = (volumeName: string): void => {
    const reply = replies.get(volumeName)?.reply;
    if (reply?.kind === "created" && ids.get(reply.volume.id) === volumeName) ids.delete(reply.volume.id);
  };
  const forgetReply = (volumeName: string): void => {
    forgetIdOf(volumeName);
    replies.forget(volumeName);
  };
  const strayIn = (volumeName: string, id: string): Stray => {
    const cached = replies.get(strayUid(volumeName, id));
    const replyLeftMs = Math.max((cached === undefined ? 0 : expiryOf(cached)) - world.elapsed(), 0);
    return { id, reply: cached === undefined || replyLeftMs === 0 ? { kind: "none" } : cached.reply, replyLeftMs };
  };
  return {
    replies,
    forgetReply,
    keep: (target, reply) => {
      forgetIdOf(target.metadata.uid);
      replies.put(target, reply);
      noteRefusal(target, reply);
      noteId(target.metadata.uid, reply);
      if (reply.kind === "created" && !ids.has(reply.volume.id)) ids.set(reply.volume.id, target.metadata.uid);
    },
    sending: ({ metadata }, call) => {
      calls.set(metadata.uid, { call, sentAtMs: world.now() });
      startedAtMs.set(metadata.uid, world.elapsed());
    },
    tookMs: (uid) => {
      const tookMs = world.elapsed() - (startedAtMs.get(uid) ?? world.elapsed());
      startedAtMs.delete(uid);
      return tookMs;
    },
    delayTaking: (volumeName) => delayIn(delays, volumeName, takingDelay),
    taken: (volumeName) => void delays.delete(volumeName),
    pause: (volumeName) => {
      const pauseMs = delayIn(pauses, volumeName, backoff);
      forgetReply(volumeName);
      return pauseMs;
    },
    forgetDenial: (volumeName) => {
      if (replies.get(volumeName)?.reply.kind === "denied") forgetReply(volumeName);
    },
    forgetStray: (volumeName) => {
      const id = strays.get(volumeName);
      if (id !== undefined) replies.forget(strayUid(volumeName, id));
      strays.delete(volumeName);
    },
    forget: (volumeName) => {
      forgetReply(volumeName);
      answered.delete(volumeName);
      refused.delete(volumeName);
      calls.delete(volumeName);
      pauses.delete(volumeName);
      delays.delete(volumeName);
    },
    memoryOf: (uid) => {
      const cached = replies.get(uid);
      const replyLeftMs = (cached === undefined ? 0 : expiryOf(cached)) - world.elapsed();
      const counts = cached !== undefined && replyLeftMs > 0;
      const sent = calls.get(uid);
      const strayId = strays.get(uid);
      const takeAtMs = delays.get(uid)?.untilMs;
      const sharer = cached?.reply.kind === "created" ? ids.get(cached.reply.volume.id) : undefined;
      return {
        sharedWith: sharer === uid ? undefined : sharer,
        reply: counts ? cached.reply : { kind: "none" },
        isUndoing: counts && cached.goal === "delete",
        isLearning: counts && cached.goal === "learn",
        malformedReplies: counts ? cached.malformedReplies : 0,
        refusedVersion: refused.get(uid),
        repliesInRow: counts ? cached.tries + 1 : 0,
        replyLeftMs: Math.max(replyLeftMs, 0),
        repliedTo: sent?.call,
        sentAtMs: sent?.sentAtMs,
        stray: strayId === undefined ? undefined : strayIn(uid, strayId),
        takeInMs: takeAtMs === undefined ? undefined : Math.max(takeAtMs - world.elapsed(), 0),
        pauseMs: Math.max((pauses.get(uid)?.untilMs ?? 0) - world.elapsed(), 0),
      };
    },
  };
}
