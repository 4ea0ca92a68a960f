/**
 * Reads what a decision about one content needs: the content, its class, and what has been answered so far. A CSI reply is an
 * observation like any other: it lands in a slot, wakes the content, and the planner looks again. After a crash the slots are empty,
 * and asking again is safe because the name asked for never changes.
 */
import { annotations } from "../../api/names.ts";
import type { VolumeSnapshotClass, VolumeSnapshotContent } from "../../api/types.ts";
import { type Key, keyIn, type Millis } from "../../base/brand.ts";
import { isFinal } from "../../base/fault.ts";
import { type CachedReply, type CsiReply, isCallError, type Validity } from "../../runtime/reply-cache.ts";
import { isRemovable } from "./phase.ts";

/** What the driver said of a snapshot, without what cannot be. */
export interface SnapshotInfo {
  readonly handle: string;
  readonly ready: boolean;
  readonly creationTimeNs: bigint;
  /** 0: not known. */
  readonly sizeBytes: bigint;
  /** What was wrong with the answer, and what is made of it. */
  readonly oddities: readonly string[];
}

/** What the driver can answer, errors aside. */
export type SnapshotAnswer = { readonly kind: "taken"; readonly snapshot: SnapshotInfo } | { readonly kind: "deleted" };
export type Reply = { readonly kind: "none" } | CsiReply<SnapshotAnswer>;

/** What a call about a content is for. */
export type Goal = "snapshot" | "outcome" | "removal";
export const goalOf = (content: VolumeSnapshotContent): Goal => {
  if (isRemovable(content)) return "removal";
  return content.metadata.deletionTimestamp === undefined ? "snapshot" : "outcome";
};

export const validityOf = ({ status }: VolumeSnapshotContent, answer: SnapshotAnswer): Validity => {
  if (answer.kind === "deleted") return "for good";
  // A driver that answers another handle than the known one may be corrected, so it is asked again.
  if (status?.snapshotHandle && status.snapshotHandle !== answer.snapshot.handle) return "until retry";
  return answer.snapshot.ready ? "for good" : "until poll";
};

export type CachedSnapshotReply = CachedReply<SnapshotAnswer, Goal>;

export interface DriverFacts {
  readonly driver: string;
  /** Undefined: the driver is away, and may come back as another version. */
  readonly canListSnapshots: boolean | undefined;
}

export interface SidecarOptions {
  readonly snapshotNamePrefix: string;
  /** -1: the whole uid. */
  readonly snapshotNameUuidLength: number;
  readonly extraCreateMetadata: boolean;
}

/**
 * Whether the driver has been asked to cut: by this process, by nobody at all, or by somebody who cannot be asked any more. Let go:
 * by nobody, and this process has taken the mark off since, so there may be nothing left to cut for.
 */
export type CreateSent = "here" | "never" | "perhaps" | "let go";

export interface ContentView {
  readonly content: VolumeSnapshotContent;
  readonly snapshotClass: VolumeSnapshotClass | undefined;
  readonly reply: Reply;
  /** Nothing has been answered yet about what is wanted now. */
  readonly isFirstAttempt: boolean;
  /** How many replies were malformed since the last one that was not, while the same was wanted as now. */
  readonly malformedReplies: number;
  /** Whether the driver has been asked to cut it before. */
  readonly createSent: CreateSent;
  /** Whether a request of ours to take the mark off this version may still arrive. */
  readonly isAnnotationRemovalPending: boolean;
  /** The name of our term. */
  readonly sidecarId: string;
  /** Until when the reply holds; the content is looked at again then. */
  readonly replyLeftMs: Millis;
  /** How long ago the reply came; without one, 0. */
  readonly sinceReplyMs: Millis;
  /** How long ago the last reply about any content came. */
  readonly lullMs: Millis;
  readonly facts: DriverFacts;
  readonly options: SidecarOptions;
  readonly nowMs: Millis;
}

/** The secondary indexes; index.ts hands them to the stores. */
export const indexes = {
  VolumeSnapshotContent: { class: ({ spec }: VolumeSnapshotContent) => spec.volumeSnapshotClassName },
} as const;

interface Caches {
  readonly VolumeSnapshotContent: { get(key: Key): VolumeSnapshotContent | undefined };
  readonly VolumeSnapshotClass: { get(key: Key): VolumeSnapshotClass | undefined };
}

export interface Surroundings {
  readonly stores: Caches;
  readonly replies: ReadonlyMap<string, CachedSnapshotReply>;
  readonly attempts: {
    readonly name: string;
    asked(content: VolumeSnapshotContent): CreateSent;
    isAnnotationRemovalPending(content: VolumeSnapshotContent): boolean;
  };
  readonly facts: DriverFacts;
  readonly options: SidecarOptions;
}

export function observe(
  { stores, replies, attempts, facts, options }: Surroundings,
  key: Key,
  { nowMs, elapsedMs, lastReplyAtMs }: Record<"nowMs" | "elapsedMs" | "lastReplyAtMs", Millis>,
): ContentView | undefined {
  const content = stores.VolumeSnapshotContent.get(key);
  if (content === undefined) return undefined;
  const className = content.spec.volumeSnapshotClassName;
  const slot = replies.get(content.metadata.uid);
  const isFirstAttempt = slot === undefined || slot.goal !== goalOf(content);
  const replyLeftMs = (slot?.expiresAtMs ?? 0) - elapsedMs;
  return {
    content,
    snapshotClass: className ? stores.VolumeSnapshotClass.get(keyIn(undefined, className)) : undefined,
    reply: slot !== undefined && counts(slot, content, replyLeftMs) ? slot.reply : { kind: "none" },
    isFirstAttempt,
    malformedReplies: isFirstAttempt ? 0 : slot.malformedReplies,
    createSent: attempts.asked(content),
    isAnnotationRemovalPending: attempts.isAnnotationRemovalPending(content),
    sidecarId: attempts.name,
    replyLeftMs: Math.max(replyLeftMs, 0),
    sinceReplyMs: elapsedMs - (slot?.receivedAtMs ?? elapsedMs),
    lullMs: elapsedMs - lastReplyAtMs,
    facts,
    options,
    nowMs,
  };
}

function counts(slot: CachedSnapshotReply, content: VolumeSnapshotContent, leftMs: Millis): boolean {
  if (keepsBeingCreated(slot, content)) return true;
  // Whoever deletes a snapshot that could not be taken or found does not wait until that would have been tried again.
  return leftMs > 0 && !(isCallError(slot.reply) && slot.goal !== goalOf(content));
}

/**
 * A final refusal of a cut counts until its mark is off. Asked again before that, a request to take the mark off that is still on
 * its way could arrive, unnoticed, after the next cut has begun. A ready content is cut: what was refused there is its deletion,
 * and a mark left behind must not keep that from being tried again.
 */
const keepsBeingCreated = ({ reply }: CachedSnapshotReply, { metadata, status }: VolumeSnapshotContent): boolean =>
  reply.kind === "failed" &&
  isFinal(reply.fault) &&
  status?.readyToUse !== true &&
  metadata.annotations?.[annotations.beingCreated] === "yes";
