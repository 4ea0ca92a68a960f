/**
 * Replies of a CSI driver, kept per object until a plan has acted on them. A reply is an observation: the call handler puts it here and
 * triggers the object, and the next plan reads it. Each reply expires at the next retry or poll, or stays as long as its object.
 *
 * The cache is empty after a restart. That is safe for a component whose calls are idempotent: it repeats the call. The component
 * forgets the reply of an object that is gone, so there are at most as many replies as objects.
 */
import { type Backoff, backoffMs } from "../base/backoff.ts";
import type { Millis } from "../base/brand.ts";
import { type Fault, isFault, isFinal } from "../base/fault.ts";
import { limits } from "../base/limits.ts";
import type { World } from "../base/world.ts";

/** What a call is about: an object of the cluster, or something with the metadata of one. */
export interface CallTarget {
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly uid: string };
}

/** The outcome of a call. `Answer` is what the component reads from a reply of the driver; its kinds differ from those here. */
export type CsiReply<Answer> = Answer | CallError;
export type CallError =
  /** The call was not sent: its secret could not be read. */
  { readonly kind: "unsent"; readonly fault: Fault } | { readonly kind: "failed"; readonly fault: Fault };

export const isCallError = (reply: { readonly kind: string }): reply is CallError =>
  reply.kind === "failed" || reply.kind === "unsent";

/** How long an answer counts: until the next poll, until the next retry, or as long as its object exists. */
export type Validity = "until poll" | "until retry" | "for good";

export interface CachedReply<Answer, Goal extends string> {
  readonly reply: CsiReply<Answer>;
  /** What the call was for. An error of one goal says nothing about the next. */
  readonly goal: Goal;
  /** Malformed replies, this one included, since the last well-formed one for the same goal. */
  readonly malformedReplies: number;
  /** Replies of this kind for the same goal right before it. */
  readonly tries: number;
  /** This and the next are readings of the monotonic clock. */
  readonly receivedAtMs: Millis;
  readonly expiresAtMs: Millis;
}

/** The keys are the uids of the targets. */
export interface ReplyCache<Target extends CallTarget, Answer extends { readonly kind: string }, Goal extends string>
  extends ReadonlyMap<string, CachedReply<Answer, Goal>> {
  put(target: Target, reply: CsiReply<Answer>): void;
  forget(uid: string): void;
}

export interface ReplyCacheOptions<Target, Answer, Goal> {
  readonly world: Pick<World, "elapsed" | "random">;
  readonly backoff: Backoff;
  /** First and longest pause between two polls of an operation that is not complete. */
  readonly poll: Backoff;
  goalOf(target: Target): Goal;
  validityOf(target: Target, answer: Answer): Validity;
}

export function createReplyCache<
  Target extends CallTarget,
  Answer extends { readonly kind: string },
  Goal extends string,
>({
  world,
  backoff,
  poll,
  goalOf,
  validityOf,
}: ReplyCacheOptions<Target, Answer, Goal>): ReplyCache<Target, Answer, Goal> {
  const replies = new Map<string, CachedReply<Answer, Goal>>();
  /** An API server that cannot be reached is soon back: a secret is read again within seconds. */
  const unreached: Backoff = { ...backoff, maxMs: Math.min(backoff.maxMs, limits.unreachedRetryMsMax) };
  const pauseFor = (target: Target, reply: CsiReply<Answer>): Backoff | undefined => {
    if (isCallError(reply)) return reply.kind === "unsent" && reply.fault.code === "Unavailable" ? unreached : backoff;
    const pauses = { "until poll": poll, "until retry": backoff, "for good": undefined };
    return pauses[validityOf(target, reply)];
  };
  return Object.assign(replies, {
    put(target: Target, reply: CsiReply<Answer>): void {
      const { uid } = target.metadata;
      const goal = goalOf(target);
      const before = replies.get(uid);
      const hasSameGoal = before?.goal === goal;
      const tries = hasSameGoal && before.reply.kind === reply.kind ? before.tries + 1 : 0;
      const pause = pauseFor(target, reply);
      const receivedAtMs = world.elapsed();
      replies.set(uid, {
        reply,
        goal,
        tries,
        malformedReplies: malformedWith(reply, hasSameGoal ? before.malformedReplies : 0),
        receivedAtMs,
        expiresAtMs: receivedAtMs + (pause ? backoffMs(pause, tries, world.random()) : Number.POSITIVE_INFINITY),
      });
    },
    forget: (uid: string): void => void replies.delete(uid),
  });
}

/** What a plan sees of the reply about one object. */
export interface ObservedReply<Answer> {
  /** None: no call was made for this goal, or its reply has expired and the call is due again. */
  readonly reply: CsiReply<Answer> | { readonly kind: "none" };
  /** No call was made for this goal yet. */
  readonly isFirstAttempt: boolean;
  readonly malformedReplies: number;
  /** How long the reply still counts; the object is reconciled again then. */
  readonly replyLeftMs: Millis;
}

export function observeReply<Answer extends { readonly kind: string }, Goal extends string>(
  cached: CachedReply<Answer, Goal> | undefined,
  goal: Goal,
  elapsedMs: Millis,
  /** Whether the reply counts beyond its time and its goal, because something must happen first. */
  isHeld: (reply: CsiReply<Answer>) => boolean = () => false,
): ObservedReply<Answer> {
  if (cached === undefined)
    return { reply: { kind: "none" }, isFirstAttempt: true, malformedReplies: 0, replyLeftMs: 0 };
  const { reply, expiresAtMs } = cached;
  const hasSameGoal = cached.goal === goal;
  // A deletion does not wait for the retry of a failed creation.
  const isCurrent = expiresAtMs > elapsedMs && (hasSameGoal || !isCallError(reply));
  return {
    reply: isCurrent || isHeld(reply) ? reply : { kind: "none" },
    isFirstAttempt: !hasSameGoal,
    malformedReplies: hasSameGoal ? cached.malformedReplies : 0,
    replyLeftMs: Math.max(expiresAtMs - elapsedMs, 0),
  };
}

/** Only a well-formed reply resets the count: a driver that cannot be reached now and then has not replied. */
function malformedWith(reply: { readonly kind: string } | CallError, before: number): number {
  if (!isCallError(reply)) return 0;
  if (reply.kind === "unsent") return before;
  if (isFinal(reply.fault)) return 0;
  return isFault(reply.fault, "MalformedReply") ? before + 1 : before;
}
