/**
 * Decides for one content which object to write, or which call to send, next. phase.ts describes the phases.
 *
 * Intent comes before effect: a content has the being-created annotation and its finalizer before the first CreateSnapshot is sent. The
 * annotation stays until the driver gives a final reply, because a call without one may still take the snapshot. A successor, also
 * another release or upstream's sidecar, then knows that there may be a snapshot to delete.
 */

import { patchStatus } from "../../api/patches.ts";
import { type Next, settled } from "../../api/plan.ts";
import type { VolumeSnapshotContent } from "../../api/types.ts";
import { unreachable } from "../../base/brand.ts";
import { type Fault, isFinal } from "../../base/fault.ts";
import type { JsonObject } from "../../base/json.ts";
import { type Problem, withCode } from "../../errors/codes.ts";
import type { SecretRef } from "../../rules/secret-template.ts";
import type { ContentErrorCode } from "../../rules/snapshot-reasons.ts";
import { notedSecretOf } from "../../rules/snapshotter-secrets.ts";
import { intentFor, isKnownUnsent } from "./create-attempts.ts";
import type { ContentView } from "./observe.ts";
import { isDeletionConfirmed, isOurs, phaseOf } from "./phase.ts";
import { createCall, listCall } from "./plan-calls.ts";
import { planAbandoned, planRemoval } from "./plan-removal.ts";
import {
  doing,
  event,
  isReported,
  kind,
  later,
  planCall,
  planError,
  quoted,
  removeBeingCreated,
  type SidecarPlan,
} from "./plan-steps.ts";
import { foreign, hasUnknownOutcome, notGivenUp, notReady, outcomeUnknown, why, wrong } from "./reasons.ts";
import type { SnapshotInfo } from "./reply.ts";

export function planContent(view: ContentView): SidecarPlan {
  if (isRemovableUnsent(view)) return planRemoval(view);
  const phase = phaseOf(view.facts);
  switch (phase) {
    case "foreign":
      return doing(foreign(view.facts), settled);
    case "ready":
      return planReady(view.facts.content);
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

/** The being-created annotation delays a removal only because CreateSnapshot may be in flight. */
const isRemovableUnsent = ({ facts, memory }: ContentView): boolean =>
  isOurs(facts) && isDeletionConfirmed(facts.content) && isKnownUnsent(memory.attempt);

/** The last write of a content: the snapshot-controller shows the snapshot ready after it, and users may change the content then. */
function planReady(content: VolumeSnapshotContent): SidecarPlan {
  const write = removeBeingCreated(content);
  if (write.length > 0) return doing(why("Writes", "the being-created annotation is removed"), settled, write);
  const isKept = content.metadata.deletionTimestamp === undefined;
  return doing(isKept ? why("Settled", "the snapshot is ready") : notGivenUp(content), settled);
}

function planCreate(view: ContentView): SidecarPlan {
  const { reply } = view.memory;
  switch (reply.kind) {
    case "taken":
      return planSnapshotInfo(view, reply.snapshot);
    case "failed": // Only a final reply proves that no snapshot is being taken: the annotation is removed then, not before.
      return planAbandoned(view) ?? planFailure(view, reply.fault);
    case "unsent": {
      const { name, namespace } = notedSecretOf(view.facts.content);
      const secret = name && namespace ? { name, namespace } : undefined;
      return planBlocked(view, { code: "SNAP-516", problem: reply.fault.message }, secret);
    }
    default:
      return planCreateCall(view);
  }
}

/** Only the call needs the class: a reply counts, whatever has become of the class since. */
function planCreateCall(view: ContentView): SidecarPlan {
  const { content } = view.facts;
  const prepared = createCall(view.facts);
  if (prepared.kind === "wrong") return planBlocked(view, prepared);
  const intent = intentFor(content, view.memory.attempt);
  if (intent !== undefined) return planCall(view, prepared, intent);
  const late = "the being-created annotation is removed first: a request that removes it may still arrive";
  return doing(why("Writes", late), settled, removeBeingCreated(content));
}

/** CreateSnapshot cannot be sent. If it never was, a content that was created with the being-created annotation loses it. */
function planBlocked(view: ContentView, { code, problem }: Problem<ContentErrorCode>, secret?: SecretRef): SidecarPlan {
  const message = withCode(`Failed to create snapshot: ${problem}`, code);
  return planError(
    view,
    { event: "SnapshotCreationFailed", message, reason: wrong(view, code, message, secret) },
    isKnownUnsent(view.memory.attempt) ? removeBeingCreated(view.facts.content) : [],
  );
}

function planSnapshotInfo(view: ContentView, taken: SnapshotInfo): SidecarPlan {
  const { content, driver } = view.facts;
  const known = content.status?.snapshotHandle;
  if (known && known !== taken.handle) return planOtherHandle(view, known, taken.handle);
  const next: Next = taken.ready ? settled : { kind: "after", ms: view.memory.replyLeftMs };
  const status = patchStatus(kind, content, content.status as JsonObject | undefined, statusWith(content, taken));
  // Only with the first write: the driver may reply like this at each poll.
  const events = known
    ? []
    : taken.oddities.map((oddity) =>
        event(
          content,
          "OddDriverReply",
          withCode(`${oddity} (driver ${driver}, snapshot "${taken.handle}")`, "SNAP-504"),
        ),
      );
  // The status is written first: a crash between the two writes leaves a needless annotation, but never loses the handle.
  const reason = taken.ready
    ? why("Writes", `snapshot "${taken.handle}" of driver ${driver} is ready: the status says so next`)
    : notReady(view, taken);
  return status.length > 0
    ? doing(reason, { kind: "after", ms: 0 }, status, events)
    : doing(reason, next, removeBeingCreated(content));
}

/** It is a reply all the same: no call is in flight, and the known snapshot can be deleted. */
function planOtherHandle(view: ContentView, known: string, answered: string): SidecarPlan {
  const message = withCode(
    `Failed to create snapshot: the driver answered handle "${answered}" for a snapshot it called "${known}" before; the first one is kept, and the driver must answer the same for the same name`,
    "SNAP-503",
  );
  const reason = wrong(view, "SNAP-503", message);
  return planError(view, { event: "SnapshotCreationFailed", message, reason }, removeBeingCreated(view.facts.content));
}

/** Handle and creation time describe the data and are written once. */
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
  const { content, canListSnapshots, driver } = view.facts;
  const { reply } = view.memory;
  const handle = content.spec.source.snapshotHandle ?? "";
  // Reconciled again when the driver is back.
  if (canListSnapshots === undefined)
    return doing(
      why("WaitsForDriver", `driver ${driver} cannot be reached, so that "${handle}" is not looked for`),
      settled,
    );
  if (!canListSnapshots) {
    const creationTimeNs = BigInt(view.nowMs) * 1_000_000n;
    return planSnapshotInfo(view, { handle, ready: true, creationTimeNs, sizeBytes: 0n, oddities: [] });
  }
  const prepared = listCall(view.facts);
  const fail = ({ code, problem }: Problem<ContentErrorCode>, secret?: SecretRef): SidecarPlan => {
    const message = withCode(`Failed to check and update snapshot content: ${problem}`, code);
    const reason = wrong(view, code, message, secret);
    return planError(view, { event: "SnapshotContentCheckandUpdateFailed", message, reason });
  };
  if (prepared.kind === "wrong") return fail(prepared);
  if (reply.kind === "taken") return planSnapshotInfo(view, reply.snapshot);
  if (reply.kind === "unsent") return fail({ code: "SNAP-516", problem: reply.fault.message }, prepared.call.secret);
  if (reply.kind === "failed") return fail({ code: "SNAP-521", problem: quoted(reply.fault) });
  return planCall(view, prepared, []);
}

function planFailure(view: ContentView, fault: Fault): SidecarPlan {
  const { content } = view.facts;
  const text = `Failed to create snapshot: failed to take snapshot of the volume ${content.spec.source.volumeHandle}: ${quoted(fault)}`;
  const word = "SnapshotCreationFailed";
  const message = withCode(text, "SNAP-501");
  if (!hasUnknownOutcome(fault)) {
    const reason = wrong(view, "SNAP-501", message);
    return planError(view, { event: word, message, reason }, isFinal(fault) ? removeBeingCreated(content) : []);
  }
  // The driver may still take the snapshot, so this is no failure: only an event reports it, and the call is repeated.
  const unknown = withCode(`${text}; the outcome is not known and the same snapshot is asked for again`, "SNAP-502");
  const reason = outcomeUnknown(view, unknown);
  return doing(reason, later(view), isReported(content, message) ? [] : [event(content, word, unknown)]);
}
