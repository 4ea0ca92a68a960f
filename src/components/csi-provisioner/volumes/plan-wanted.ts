/** A volume is wanted: what is asked for, and what stands in the way. */
import { settled } from "../../../api/plan.ts";
import type { PersistentVolumeClaim } from "../../../api/types.ts";
import { type ErrorCode, withCode } from "../../../errors/codes.ts";
import {
  doing,
  errorOf,
  inMs,
  type ProvisionerPlan,
  pause,
  pollMs,
  provisioningFailed,
  sooner,
} from "../plan-steps.ts";
import { claimText, pausing, reading, reasonFor, refused } from "../reasons.ts";
import type { Intent } from "../stored-calls/intent.ts";
import { judge } from "../stored-calls/judge.ts";
import type { VolumeView } from "./observe.ts";
import { planAbandoned } from "./plan-abandoned.ts";
import { confirmationOf, creating, isSameCall, sendCreation } from "./plan-creation.ts";
import { deniedIn, disclosed, planDenied } from "./plan-denied.ts";
import { planCreated, planFailed, withoutNode } from "./plan-outcome.ts";
import { type Request, requestOf } from "./request.ts";

export function planWanted(view: VolumeView, claim: PersistentVolumeClaim): ProvisionerPlan {
  const { facts, memory } = view;
  const { reply } = memory;
  if (memory.pauseMs > 0) return doing(pausing(facts), inMs(memory.pauseMs));
  // The claim is open again, or the owner of its source consents again: what was given up goes first.
  if (facts.intent?.undoes !== undefined && !memory.isAdopted) return planAbandoned(view, facts.intent);
  const denial = deniedIn(view);
  if (denial !== undefined) return planDenied(view, claim, denial);
  // A volume that could not be used is deleted: the next one is asked for after a pause.
  if (reply.kind === "deleted") return doing(pausing(facts), settled, pause(facts.name, true));
  if (facts.intent === undefined) return planUnsent(view, claim);
  if (memory.isAdopted) return planAdopted(view, claim, facts.intent);
  if (reply.kind === "created") return planCreated(view, claim, facts.intent, reply.volume);
  if (reply.kind === "failed" || reply.kind === "unsent") return planFailed(view, claim, reply.fault);
  // CreateVolume may have been sent with these arguments: it is repeated with the same until its outcome is known.
  return doing(creating(view, claim), settled, sendCreation(view, facts.intent));
}

/** Nothing was sent, or the driver has refused it. */
function planUnsent(view: VolumeView, claim: PersistentVolumeClaim): ProvisionerPlan {
  const { facts, memory } = view;
  const request = requestOf(facts, claim);
  if (request.kind !== "intent") return planUnready(view, claim, request);
  const { reply } = memory;
  const isFailed = reply.kind === "failed" || reply.kind === "unsent";
  // What the driver has refused is repeated after a while; what is asked for otherwise now is sent at once.
  if (isFailed && isSameCall(memory.repliedTo, request.intent.call)) return planFailed(view, claim, reply.fault);
  return doing(creating(view, claim), settled, sendCreation(view, request.intent, confirmationOf(view, claim)));
}

/**
 * Another process has stored the call: the claim is served as it asks to be now, under the same name. What cannot be asked for any more
 * is undone.
 */
function planAdopted(view: VolumeView, claim: PersistentVolumeClaim, stored: Intent): ProvisionerPlan {
  const { facts } = view;
  const request = requestOf(facts, claim);
  if (request.kind !== "intent") {
    const unready = planUnready(view, claim, request);
    if (request.kind !== "wrong") return unready;
    const { actions, next } = planAbandoned(view, stored);
    return doing(unready.reason, sooner(unready.next, next), ...unready.actions, ...actions);
  }
  const { intent, differences } = judge(stored, request.intent);
  const creation = sendCreation(view, intent);
  if (differences.length === 0) return doing(creating(view, claim), settled, creation);
  const message = withCode(
    `a stored CreateVolume call for ${facts.name} says otherwise than the claim, its StorageClass and its source do now (${differences.join(", ")}): it is not carried out, and the volume is asked for as they say; if nobody has changed them, look who has written the Lease of stored calls`,
    "SNAP-350",
  );
  return doing(
    reasonFor("StoredCallDiffers", `${claimText(claim)}: ${message}`, [], view.nowMs),
    settled,
    // It names no values: whoever may read the claim's events need not be who may see them.
    { kind: "reportCall", volume: facts.name, about: claim, reason: "StoredCallDiffers", message },
    creation,
  );
}

/** Rules whose remedy is on an object that is not watched: VolumeSnapshotContents, Nodes. */
const polledCodes: ReadonlySet<ErrorCode> = new Set([
  "SNAP-364",
  "SNAP-304",
  "SNAP-305",
  "SNAP-308",
  "SNAP-309",
  "SNAP-337",
  "SNAP-339",
]);

function planUnready(
  { facts }: VolumeView,
  claim: PersistentVolumeClaim,
  request: Exclude<Request, { kind: "intent" }>,
): ProvisionerPlan {
  if (request.kind === "unread") return doing(reading(claim, request.read), settled, request.read);
  const error = disclosed(facts.source, errorOf(claim, provisioningFailed, request.message));
  const reason = refused(facts, claim, request.code, request.message);
  if (request.kind === "reschedule") return doing(reason, settled, error, ...withoutNode(claim));
  const isUnwatched = facts.source.kind === "snapshot" && !facts.watchesSnapshots;
  return doing(reason, isUnwatched || polledCodes.has(request.code) ? inMs(pollMs) : settled, error);
}
