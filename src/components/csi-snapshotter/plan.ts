/**
 * One content: what to write, or to ask of the driver, next. The phases are drawn in phase.ts.
 *
 * Intent comes before effect: a content is marked, and has its finalizer, before the first CreateSnapshot leaves. The mark stays
 * until the driver gives a final answer, because a call without one may still cut. So whoever takes over, be it another release or
 * the upstream sidecar, knows that there may be something to delete.
 */

import { annotations, finalizers } from "../../api/names.ts";
import { edit, patchStatus } from "../../api/patches.ts";
import { type ClusterAction, type Next, settled } from "../../api/plan.ts";
import type { VolumeSnapshotContent } from "../../api/types.ts";
import { unreachable } from "../../base/brand.ts";
import { type Fault, isFinal } from "../../base/fault.ts";
import type { JsonObject } from "../../base/json.ts";
import { limits } from "../../base/limits.ts";
import type { ContentView, SnapshotInfo } from "./observe.ts";
import { isUnasked, phaseOf } from "./phase.ts";
import { createCall, listCall } from "./plan-calls.ts";
import { planAbandoned, planRemoval } from "./plan-removal.ts";
import {
  ask,
  confirmed,
  doing,
  event,
  isReported,
  kind,
  later,
  nothing,
  planError,
  quoted,
  removeBeingCreated,
  type SidecarPlan,
  withoutBeingCreated,
} from "./plan-steps.ts";

export function planContent(view: ContentView): SidecarPlan {
  const phase = phaseOf(view);
  switch (phase) {
    case "foreign":
      return nothing;
    case "ready":
      return planUnmarking(view);
    case "removable":
      return planRemoval(view);
    case "unverified":
      return planVerification(view);
    case "pending":
    case "untaken":
      return planCreate(view);
    default:
      return unreachable(phase);
  }
}

/**
 * Nobody waits for the mark of a ready snapshot to go, and whoever takes over takes it off as well. So in a burst it gives way to
 * the writes that somebody does wait for.
 */
function planUnmarking({ content, reply, sinceReplyMs, lullMs }: ContentView): SidecarPlan {
  const actions = removeBeingCreated(content);
  const leftMs = Math.min(limits.markLullMs - lullMs, limits.markLingerMsMax - sinceReplyMs);
  return actions.length > 0 && reply.kind === "taken" && leftMs > 0
    ? doing({ kind: "after", ms: leftMs })
    : doing(settled, actions);
}

function planCreate(view: ContentView): SidecarPlan {
  const { content, reply } = view;
  switch (reply.kind) {
    case "taken":
      return planSnapshotInfo(view, reply.snapshot);
    case "failed": // Only a final answer proves that nothing is being cut; the mark goes with it and not before.
      return (
        planAbandoned(view) ??
        planFailure(
          view,
          "SnapshotCreationFailed",
          `Failed to create snapshot: failed to take snapshot of the volume ${content.spec.source.volumeHandle}: ${quoted(reply.fault)}`,
          reply.fault,
        )
      );
    case "unsent":
      return planBlocked(view, reply.fault.message);
    default:
      return planQuestion(view);
  }
}

/** Only the next question needs the class: what has been answered counts, whatever has become of it meanwhile. */
function planQuestion(view: ContentView): SidecarPlan {
  const prepared = createCall(view);
  if (prepared.kind === "wrong") return planBlocked(view, prepared.message);
  const first = intent(view);
  return isUnfenced(view, first)
    ? doing(settled, removeBeingCreated(view.content))
    : doing(settled, ask(view.content, prepared, first));
}

/**
 * We have taken the mark off this very version, or wanted to: the answer did not come, and what the driver had said is forgotten
 * with a content that a list from the past left out. That request would take the mark off what is asked for next, unnoticed. So it
 * is made once more: whatever comes of it, the first one fails from then on.
 */
const isUnfenced = ({ content, isAnnotationRemovalPending }: ContentView, first: readonly ClusterAction[]): boolean =>
  isAnnotationRemovalPending && !content.status?.snapshotHandle && first.every(({ kind }) => kind === "confirm");

/** The driver cannot be asked. A content that was born with the mark does not keep it: nothing is being cut. */
const planBlocked = (view: ContentView, message: string): SidecarPlan =>
  planError(
    view,
    "SnapshotCreationFailed",
    `Failed to create snapshot: ${message}`,
    isUnasked(view.createSent) ? removeBeingCreated(view.content) : [],
  );

/**
 * Once a handle is known there is something to delete for certain, and the mark has nothing left to say.
 *
 * What a predecessor has marked gets our name too. A request of the predecessor to take the mark off may still be under way; it
 * names the version the content has now, so the write makes it fail, and it cannot take off the mark of what is asked for next.
 */
function intent({ content, createSent, sidecarId }: ContentView): readonly ClusterAction[] {
  if (content.status?.snapshotHandle) return confirmed(content);
  const addFinalizers = content.metadata.deletionTimestamp === undefined ? [finalizers.contentBound] : [];
  const setBeingCreated = {
    ...withoutBeingCreated,
    [annotations.beingCreated]: "yes",
    [annotations.snapshotterId]: sidecarId,
  };
  const write = edit(kind, content, { addFinalizers, annotations: setBeingCreated });
  return write.length > 0 || createSent === "never" ? write : confirmed(content);
}

function planSnapshotInfo(view: ContentView, taken: SnapshotInfo): SidecarPlan {
  const { content, replyLeftMs } = view;
  const known = content.status?.snapshotHandle;
  if (known && known !== taken.handle)
    return planError(
      view,
      "SnapshotCreationFailed",
      `Failed to create snapshot: the driver answered handle "${taken.handle}" for a snapshot it called "${known}" before; the first one is kept, and the driver must answer the same for the same name`,
      // An answer all the same: nothing is under way, and what is known can be deleted.
      removeBeingCreated(content),
    );
  const next: Next = taken.ready ? settled : { kind: "after", ms: replyLeftMs };
  const status = patchStatus(kind, content, content.status as JsonObject | undefined, statusWith(content, taken));
  // Told with the first write only: the driver may answer like this at each poll.
  const told = known
    ? []
    : taken.oddities.map((oddity) =>
        event(content, "OddDriverReply", `${oddity} (driver ${view.facts.driver}, snapshot "${taken.handle}")`),
      );
  // The status is written first: a crash between the two leaves a mark too many, never a handle too few.
  return status.length > 0 ? doing({ kind: "after", ms: 0 }, status, told) : doing(next, removeBeingCreated(content));
}

/** Handle and creation time are facts about the data and are written once. */
function statusWith(content: VolumeSnapshotContent, taken: SnapshotInfo): JsonObject {
  const { error: _cleared, ...old } = content.status ?? {};
  const size = taken.sizeBytes > 0n ? taken.sizeBytes : old.restoreSize;
  return {
    ...(old as JsonObject),
    snapshotHandle: old.snapshotHandle ?? taken.handle,
    creationTime: old.creationTime ?? taken.creationTimeNs,
    readyToUse: taken.ready,
    ...(size === undefined ? {} : { restoreSize: size }),
  };
}

function planVerification(view: ContentView): SidecarPlan {
  const { content, reply, facts, nowMs } = view;
  const handle = content.spec.source.snapshotHandle ?? "";
  if (facts.canListSnapshots === undefined) return nothing; // Looked at again when the driver is back.
  if (!facts.canListSnapshots)
    return planSnapshotInfo(view, {
      handle,
      ready: true,
      creationTimeNs: BigInt(nowMs) * 1_000_000n,
      sizeBytes: 0n,
      oddities: [],
    });
  const prepared = listCall(view);
  const trouble = (text: string): SidecarPlan =>
    planError(view, "SnapshotContentCheckandUpdateFailed", `Failed to check and update snapshot content: ${text}`, []);
  if (prepared.kind === "wrong") return trouble(prepared.message);
  if (reply.kind === "taken") return planSnapshotInfo(view, reply.snapshot);
  if (reply.kind === "unsent") return trouble(reply.fault.message);
  if (reply.kind === "failed") return trouble(quoted(reply.fault));
  return doing(settled, ask(content, prepared));
}

function planFailure(view: ContentView, reason: string, message: string, fault: Fault): SidecarPlan {
  // No answer in time is no failure: the cut may be going on, so only an event tells of it and the question is repeated.
  if (isSilence(fault))
    return doing(
      later(view),
      isReported(view.content, message)
        ? []
        : [
            event(
              view.content,
              reason,
              `${message}; the outcome is not known and the same snapshot is asked for again`,
            ),
          ],
    );
  return planError(view, reason, message, isFinal(fault) ? removeBeingCreated(view.content) : []);
}

const isSilence = ({ code }: Fault): boolean =>
  code === "DeadlineExceeded" || code === "Cancelled" || code === "UnknownOutcome";
