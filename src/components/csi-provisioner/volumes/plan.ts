/** What to do about one volume that a claim wants, or that a CreateVolume call may have made. phase.ts describes the phases. */
import { provisioning } from "../../../api/names.ts";
import { editByReplacing } from "../../../api/patches.ts";
import { settled } from "../../../api/plan.ts";
import { isWaiting } from "../../../api/reasons.ts";
import type { PersistentVolumeClaim } from "../../../api/types.ts";
import { classNameOf, provisionerOf, selectedNodeOf } from "../claims/claim.ts";
import { doing, forget, inMs, type ProvisionerPlan, resting, sooner } from "../plan-steps.ts";
import { claimText, type ProvisionerReason, reading, reasonFor } from "../reasons.ts";
import type { Intent } from "../stored-calls/intent.ts";
import type { VolumeFacts, VolumeView } from "./observe.ts";
import { volumePhaseOf } from "./phase.ts";
import { planAbandoned } from "./plan-abandoned.ts";
import { planStray } from "./plan-stray.ts";
import { planWanted } from "./plan-wanted.ts";
import { requestOf } from "./request.ts";

export function planVolume(view: VolumeView): ProvisionerPlan {
  const plan = planFor(view);
  const stray = planStray(view);
  if (stray === undefined) return plan;
  const reason = isWaiting(plan.reason) ? plan.reason : stray.reason;
  return { actions: [...stray.actions, ...plan.actions], next: sooner(plan.next, stray.next), reason };
}

function planFor(view: VolumeView): ProvisionerPlan {
  const { facts } = view;
  const { name, claim, intent } = facts;
  switch (volumePhaseOf(view)) {
    case "stored": {
      const reason = reasonFor("Settled", `PersistentVolume ${name} is stored`);
      return intent === undefined ? resting(reason) : doing(reason, settled, forget(name));
    }
    case "abandoned":
      return planAbandoned(view, intent as Intent);
    case "untaken":
      return planUntaken(view, claim as PersistentVolumeClaim);
    case "wanted":
      return planWanted(view, claim as PersistentVolumeClaim);
    case "waiting":
      return resting(waitingForNode(facts, claim as PersistentVolumeClaim));
    case "foreign":
      return resting(
        reasonFor("NotOurs", `${claimText(claim as PersistentVolumeClaim)} is filled by the populator of its source`),
      );
    case "unwanted":
      return resting(notWanted(facts));
  }
}

function waitingForNode({ storageClass, options }: VolumeFacts, claim: PersistentVolumeClaim): ProvisionerReason {
  const waits = storageClass?.volumeBindingMode === "WaitForFirstConsumer";
  const why = waits
    ? `StorageClass ${classNameOf(claim)} binds its volumes when a pod is scheduled (WaitForFirstConsumer), and no node is selected yet: create a pod that uses the claim`
    : `no node is selected yet, and the provisioner of node ${options.ownNode?.name} selects none (--node-deployment-immediate-binding=false)`;
  return reasonFor("WaitsForNode", `${claimText(claim)}: ${why}`);
}

function notWanted({ name, claim, driver, options }: VolumeFacts): ProvisionerReason {
  if (claim === undefined) return reasonFor("Settled", `no claim wants volume ${name}`);
  const provisioner = provisionerOf(claim);
  if (provisioner !== driver.name)
    return reasonFor("NotOurs", `${claimText(claim)} is served by ${provisioner ?? "no provisioner yet"}`);
  if (claim.spec?.volumeName) return reasonFor("Settled", `${claimText(claim)} has volume ${claim.spec.volumeName}`);
  if (claim.metadata.deletionTimestamp !== undefined)
    return reasonFor("Settled", `${claimText(claim)} is being deleted`);
  return reasonFor(
    "NotOurs",
    `${claimText(claim)} is served by node ${selectedNodeOf(claim)}, not by ${options.ownNode?.name}`,
  );
}

/** One provisioner runs on each node, and any of them may take the claim: it does so by selecting its node. */
function planUntaken({ facts, memory }: VolumeView, claim: PersistentVolumeClaim): ProvisionerPlan {
  const { name, options } = facts;
  const node = options.ownNode?.name ?? "";
  const annotations = { ...claim.metadata.annotations, [provisioning.selectedNode]: node };
  const request = requestOf(facts, { ...claim, metadata: { ...claim.metadata, annotations } });
  // Not ours to take, and not ours to complain about: another node may fit.
  if (request.kind === "reschedule" || (request.kind === "wrong" && request.code === "SNAP-337"))
    return resting(reasonFor("NotOurs", `${claimText(claim)} is left to other nodes: ${request.message}`));
  const delayed = reasonFor("WaitsForNode", `${claimText(claim)}: node ${node} tries to take it in its turn`);
  if (memory.takeInMs === undefined) return doing(delayed, settled, { kind: "delayTaking", name });
  if (memory.takeInMs > 0) return doing(delayed, inMs(memory.takeInMs));
  if (request.kind === "unread") return doing(reading(claim, request.read), settled, request.read);
  const [replace] = editByReplacing("PersistentVolumeClaim", claim, {
    annotations: { [provisioning.selectedNode]: node },
  });
  if (replace?.kind !== "replace") return resting(delayed);
  const call = request.kind === "intent" ? request.intent.call : undefined;
  const taking = reasonFor("Writes", `${claimText(claim)}: node ${node} takes it, if its driver has room`);
  return doing(taking, settled, { kind: "take", name, claim: replace, call });
}
