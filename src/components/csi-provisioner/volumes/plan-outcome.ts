/** CreateVolume has an outcome: the volume is published, or is not usable, or there is none, or nobody knows. */
import { provisioning } from "../../../api/names.ts";
import { editByReplacing } from "../../../api/patches.ts";
import { type ClusterAction, type CodedMessage, settled } from "../../../api/plan.ts";
import type { PersistentVolumeClaim } from "../../../api/types.ts";
import { type Fault, isFault } from "../../../base/fault.ts";
import { withCode } from "../../../errors/codes.ts";
import { selectedNodeOf } from "../claims/claim.ts";
import type { CreatedVolume } from "../driver/call.ts";
import { isRefusal } from "../driver/refusals.ts";
import {
  doing,
  errorOf,
  forget,
  inMs,
  later,
  type ProvisionerPlan,
  pause,
  provisioningFailed,
  quoting,
} from "../plan-steps.ts";
import { claimText, failing, reasonFor, retrying } from "../reasons.ts";
import type { Intent } from "../stored-calls/intent.ts";
import type { VolumeView } from "./observe.ts";
import { persistentVolumeOf } from "./persistent-volume.ts";
import { undo } from "./plan-abandoned.ts";
import { creating, isSameCall, sendCreation } from "./plan-creation.ts";
import { requestOf } from "./request.ts";
import { unusable } from "./unusable.ts";

export function planCreated(
  view: VolumeView,
  claim: PersistentVolumeClaim,
  intent: Intent,
  created: CreatedVolume,
): ProvisionerPlan {
  const { facts, memory } = view;
  const { name, holder } = facts;
  const driver = facts.driver.name;
  if (holder !== undefined) {
    const text = `driver ${driver} answered with volume "${created.id}", which belongs to PersistentVolume ${holder}: it is neither used nor deleted`;
    const message = withCode(text, "SNAP-346");
    return doing(
      notUsable(view, claim, message),
      settled,
      errorOf(claim, provisioningFailed, message),
      pause(name, true),
    );
  }
  const problem = unusable(intent.call, created, driver);
  if (problem !== undefined) {
    const error = errorOf(claim, provisioningFailed, problem);
    const reason = notUsable(view, claim, problem);
    return memory.lateVolumeMs > 0
      ? doing(reason, inMs(memory.lateVolumeMs), error)
      : doing(reason, settled, error, undo(view, intent, created));
  }
  const object = persistentVolumeOf({
    claim,
    storageClass: {
      ...(intent.reclaimPolicy === undefined ? {} : { reclaimPolicy: intent.reclaimPolicy }),
      ...(intent.mountOptions === undefined ? {} : { mountOptions: [...intent.mountOptions] }),
    },
    driver,
    identity: facts.identity,
    call: intent.call,
    created,
    secrets: intent.secrets,
    attributesClass: intent.attributesClass,
    controllerPublishReadonly: facts.options.controllerPublishReadonly,
  });
  const message = withCode(`Successfully provisioned volume ${name}`, "SNAP-391");
  return doing(
    reasonFor("Writes", `${claimText(claim)}: PersistentVolume ${name} is stored with volume "${created.id}"`),
    settled,
    { kind: "publishing", name, id: created.id },
    { kind: "create", ref: { kind: "PersistentVolume", name }, object },
    { kind: "event", about: claim, event: { type: "Normal", reason: "ProvisioningSucceeded", message } },
    { kind: "count", what: "created", about: claim, uid: name },
  );
}

/** The driver has made a volume that cannot be used. */
const notUsable = ({ memory }: VolumeView, claim: PersistentVolumeClaim, message: CodedMessage) =>
  reasonFor("DriverFailed", `${claimText(claim)}: ${message}`, [], memory.sentAtMs);

export function planFailed(view: VolumeView, claim: PersistentVolumeClaim, fault: Fault): ProvisionerPlan {
  const { facts, memory } = view;
  const { name, driver, intent } = facts;
  const says = (message: CodedMessage): string => `${claimText(claim)}: ${message}`;
  // The volume is still there, so its intent stays; the call that creates it tells its id again.
  if (memory.isUndoing) {
    const message = quoting(`driver ${driver.name} cannot delete volume ${name}`, fault, "SNAP-351");
    return doing(
      failing(view, says(message), fault),
      settled,
      errorOf(claim, provisioningFailed, message),
      pause(name, false),
    );
  }
  if (memory.reply.kind === "unsent") {
    const message = withCode(fault.message, "SNAP-338");
    return doing(retrying(view, says(message), fault), later(memory), errorOf(claim, provisioningFailed, message));
  }
  const code = isFault(fault, "MalformedReply") ? "SNAP-344" : "SNAP-341";
  const message = quoting(`driver ${driver.name} cannot create volume ${name}`, fault, code);
  const error = errorOf(claim, provisioningFailed, message);
  const reason = retrying(view, says(message), fault);
  if (intent === undefined || !isRefusal(fault)) return doing(reason, later(memory), error);
  if (!memory.isUncertain) {
    const forgotten = reasonFor("Writes", `${says(message)}; there is no volume, and the stored call is forgotten`);
    return doing(forgotten, later(memory), error, ...withoutRoom(view, claim, fault), forget(name));
  }
  // There may be a volume of this name, so the intent stays. What the claim asks for now is asked for under the same name.
  const request = isFault(fault, "AlreadyExists") ? undefined : requestOf(facts, claim);
  return request?.kind === "intent" && !isSameCall(intent.call, request.intent.call)
    ? doing(creating(view, claim, `${message}; `), settled, error, sendCreation(view, request.intent))
    : doing(reason, later(memory), error);
}

/** There is no room for the volume where the selected node is: the scheduler selects a node again. */
const withoutRoom = ({ facts }: VolumeView, claim: PersistentVolumeClaim, fault: Fault): readonly ClusterAction[] =>
  isFault(fault, "ResourceExhausted") &&
  (facts.intent?.call.topology !== undefined || facts.options.ownNode !== undefined) &&
  selectedNodeOf(claim) !== undefined
    ? withoutNode(claim)
    : [];

export const withoutNode = (claim: PersistentVolumeClaim): readonly ClusterAction[] =>
  editByReplacing("PersistentVolumeClaim", claim, { annotations: { [provisioning.selectedNode]: undefined } });
