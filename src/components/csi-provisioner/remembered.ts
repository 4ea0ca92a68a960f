/**
 * What the process remembers of its calls: replies, the calls that they are to, and pauses after volumes that were created in vain.
 *
 * Memory: one reply for each volume in work, and bounded maps. What is lost with it: a call is repeated earlier, under the same name.
 */
import { type Backoff, backoffMs } from "../../base/backoff.ts";
import type { Millis } from "../../base/brand.ts";
import { createLru } from "../../base/lru.ts";
import type { World } from "../../base/world.ts";
import { type CachedReply, type CsiReply, createReplyCache, type ReplyCache } from "../../runtime/reply-cache.ts";
import type { VolumeCall } from "./call.ts";
import type { VolumeAnswer, VolumeMemory } from "./observe.ts";
import type { VolumeTarget } from "./plan-steps.ts";

export interface Remembered {
  readonly replies: ReplyCache<VolumeTarget, VolumeAnswer, VolumeTarget["goal"]>;
  keep(target: VolumeTarget, reply: CsiReply<VolumeAnswer>): void;
  /** To be called before a call is sent. */
  sending(target: VolumeTarget, call: VolumeCall): void;
  /** For how long, each time longer. The reply is forgotten. */
  pause(volumeName: string): Millis;
  /** Since the last call about the target was prepared; its outcome is stored now. */
  tookMs(uid: string): Millis;
  /** The call is repeated. */
  forgetReply(volumeName: string): void;
  /** The volume is stored, or nobody wants it any more. */
  forget(volumeName: string): void;
  memoryOf(
    uid: string,
  ): Pick<VolumeMemory, "reply" | "replyLeftMs" | "isUndoing" | "repliedTo" | "pauseMs" | "sharedWith">;
}

const volumesMax = 10_000;
/** Secrets cannot be watched: one that was missing is looked for again after this long at the latest. */
const secretRetryMsMax: Millis = 15_000;

const expiryOf = ({ reply, receivedAtMs, expiresAtMs }: CachedReply<VolumeAnswer, VolumeTarget["goal"]>): Millis =>
  reply.kind === "unsent" ? Math.min(expiresAtMs, receivedAtMs + secretRetryMsMax) : expiresAtMs;

export function createRemembered(world: Pick<World, "elapsed" | "random">, backoff: Backoff): Remembered {
  const replies = createReplyCache<VolumeTarget, VolumeAnswer, VolumeTarget["goal"]>({
    world,
    backoff,
    poll: backoff,
    goalOf: ({ goal }) => goal,
    validityOf: () => "for good",
  });
  const calls = createLru<VolumeCall>(volumesMax);
  const startedAtMs = createLru<Millis>(volumesMax);
  const pauses = createLru<{ readonly times: number; readonly untilMs: Millis }>(volumesMax);
  /** Ids that the driver has answered, by the first volume name that each was answered to. */
  const ids = new Map<string, string>();
  const forgetIdOf = (volumeName: string): void => {
    const reply = replies.get(volumeName)?.reply;
    if (reply?.kind === "created" && ids.get(reply.volume.id) === volumeName) ids.delete(reply.volume.id);
  };
  const forgetReply = (volumeName: string): void => {
    forgetIdOf(volumeName);
    replies.forget(volumeName);
  };
  return {
    replies,
    forgetReply,
    keep: (target, reply) => {
      forgetIdOf(target.metadata.uid);
      replies.put(target, reply);
      if (reply.kind === "created" && !ids.has(reply.volume.id)) ids.set(reply.volume.id, target.metadata.uid);
    },
    sending: ({ metadata }, call) => {
      calls.set(metadata.uid, call);
      startedAtMs.set(metadata.uid, world.elapsed());
    },
    tookMs: (uid) => {
      const tookMs = world.elapsed() - (startedAtMs.get(uid) ?? world.elapsed());
      startedAtMs.delete(uid);
      return tookMs;
    },
    pause: (volumeName) => {
      const times = pauses.get(volumeName)?.times ?? 0;
      const pauseMs = backoffMs(backoff, times, world.random());
      pauses.set(volumeName, { times: times + 1, untilMs: world.elapsed() + pauseMs });
      forgetReply(volumeName);
      return pauseMs;
    },
    forget: (volumeName) => {
      forgetReply(volumeName);
      calls.delete(volumeName);
      pauses.delete(volumeName);
    },
    memoryOf: (uid) => {
      const cached = replies.get(uid);
      const replyLeftMs = (cached === undefined ? 0 : expiryOf(cached)) - world.elapsed();
      const counts = cached !== undefined && replyLeftMs > 0;
      const sharer = cached?.reply.kind === "created" ? ids.get(cached.reply.volume.id) : undefined;
      return {
        sharedWith: sharer === uid ? undefined : sharer,
        reply: counts ? cached.reply : { kind: "none" },
        isUndoing: counts && cached.goal === "delete",
        replyLeftMs: Math.max(replyLeftMs, 0),
        repliedTo: calls.get(uid),
        pauseMs: Math.max((pauses.get(uid)?.untilMs ?? 0) - world.elapsed(), 0),
      };
    },
  };
}
