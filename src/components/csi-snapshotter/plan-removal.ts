/**
 * A content that goes: delete at the driver where the policy says so, then let go.
 *
 * A driver whose replies cannot be read, several times and never otherwise, will not answer until it is mended, perhaps never. The
 * content is let go then, and an event names what may be left there: a snapshot that nobody can delete helps nobody.
 */
import { annotations, finalizers } from "../../api/names.ts";
import { edit } from "../../api/patches.ts";
import { settled } from "../../api/plan.ts";
import type { VolumeSnapshotContent } from "../../api/types.ts";
import { isFault } from "../../base/fault.ts";
import { limits } from "../../base/limits.ts";
import type { ContentView } from "./observe.ts";
import { deleteCall, secretMismatch, snapshotName } from "./plan-calls.ts";
import {
  ask,
  confirmed,
  doing,
  event,
  kind,
  planError,
  quoted,
  removeBeingCreated,
  type SidecarAction,
  type SidecarPlan,
  withoutBeingCreated,
} from "./plan-steps.ts";

export function planRemoval(view: ContentView): SidecarPlan {
  const { content, reply } = view;
  const prepared = deleteCall(content);
  const fail = (text: string): SidecarPlan => planError(view, "SnapshotDeleteError", text, []);
  if (prepared.kind === "none" || reply.kind === "deleted") return release(content);
  if (prepared.kind === "unverified") return release(content, unverified(view, prepared.handle));
  if (prepared.kind === "wrong") return fail(`Failed to get snapshot credentials: ${prepared.message}; ${orRetain}`);
  if (isUnreadable(view)) return release(content, leftover(view, `snapshot "${content.status?.snapshotHandle}"`));
  if (reply.kind === "failed") return fail(`Failed to delete snapshot: ${quoted(reply.fault)}`);
  if (reply.kind === "unsent") return fail(`Failed to get snapshot credentials: ${reply.fault.message}`);
  return doing(settled, ask(content, prepared, confirmed(content)), mismatch(view));
}

/** Told and counted with the first attempt: it stands in the way of nothing. */
function mismatch(view: ContentView): readonly SidecarAction[] {
  const message = view.isFirstAttempt ? secretMismatch(view) : undefined;
  if (message === undefined) return [];
  return [event(view.content, "DeletionSecretMismatch", message), { kind: "count", what: "secretMismatch" }];
}

/** What may have been taken for a content that goes, and of which the driver says nothing that can be read; undefined: it may still. */
export function planAbandoned(view: ContentView): SidecarPlan | undefined {
  const { content, options } = view;
  const { volumeSnapshotRef: ref, source } = content.spec;
  const isGoing =
    content.metadata.deletionTimestamp !== undefined &&
    content.metadata.annotations?.[annotations.beingDeleted] === "yes";
  if (!isGoing || !isUnreadable(view)) return undefined;
  // With a handle there is something to delete for certain, and the annotation is all that holds it up.
  if (content.status?.snapshotHandle) return doing(settled, removeBeingCreated(content));
  const name = snapshotName(options, ref.uid ?? "");
  return release(content, leftover(view, `snapshot "${name}" of volume "${source.volumeHandle}"`));
}

const isUnreadable = ({ reply, malformedReplies }: ContentView): boolean =>
  reply.kind === "failed" && isFault(reply.fault, "MalformedReply") && malformedReplies >= limits.malformedRepliesMax;

const leftover = ({ content, facts, reply, malformedReplies }: ContentView, what: string): string =>
  `Content ${content.metadata.name} is let go: ${malformedReplies} replies of driver ${facts.driver} could not be read, and none could (${reply.kind === "failed" ? quoted(reply.fault) : ""}), so ${what} may be left there; look for it, and delete it by the means of the storage`;

const orRetain = "to let the content go without deleting the snapshot, set spec.deletionPolicy to Retain";

/** Says what may be left at the driver, and lets the content go. In this order: after a crash in between it is said twice, not never. */
function release(content: VolumeSnapshotContent, left?: string): SidecarPlan {
  const write = edit(kind, content, { removeFinalizers: [finalizers.contentBound], annotations: withoutBeingCreated });
  const told = left === undefined || write.length === 0 ? [] : [event(content, "SnapshotLeftAtDriver", left)];
  return doing(settled, told, write);
}

const unverified = ({ content, facts }: ContentView, handle: string): string =>
  `Content ${content.metadata.name} is let go without DeleteSnapshot: driver ${facts.driver} never confirmed that it has spec.source.snapshotHandle "${handle}", so nothing is deleted by it; if that snapshot exists and is not wanted, delete it by the means of the storage`;
