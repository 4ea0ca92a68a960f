/**
 * What kube-controller-manager's volume binder would do next with a claim or a volume. Pure: the one next step, so that a
 * crash between any two steps loses nothing.
 *
 *   claim   pending ──▶ (volume's claimRef ▶ volume Bound ▶ claim's volumeName ▶ claim Bound) ──▶ bound ──▶ lost
 *   volume  pending ──▶ available ──▶ bound ──▶ released ──▶ deleted by its provisioner, or kept (Retain)
 */
import type { EventText } from "../../../api/plan.ts";
import { equal, type JsonObject } from "../../../base/json.ts";
import { part } from "../../builtin/check.ts";
import type { ApiObject } from "../../contracts.ts";
import { matchingVolume, misfit } from "./match.ts";
import {
  annotationOf,
  bindingAnnotations,
  claimRefOf,
  classNameOf,
  isBoundTo,
  modeOf,
  phaseOf,
  volumeNameOf,
  withAnnotations,
  withoutAnnotation,
} from "./words.ts";

export type Step =
  /** The object as it shall be; `status` says which half of it is written. */
  | { readonly kind: "write"; readonly object: ApiObject; readonly status: boolean }
  /** Nothing to write: this is what people should know, said once. */
  | { readonly kind: "tell"; readonly about: ApiObject; readonly event: EventText }
  | { readonly kind: "rest" };

export interface BinderView {
  /** Volumes that may be for this claim: promised to it, or free and of its class. */
  candidates(claim: ApiObject): readonly ApiObject[];
  volume(name: string): ApiObject | undefined;
  claim(namespace: string, name: string): ApiObject | undefined;
  storageClass(name: string): ApiObject | undefined;
  /** The class a claim gets that did not say one. */
  defaultClass(): string | undefined;
}

const rest: Step = { kind: "rest" };
const write = (object: ApiObject): Step => ({ kind: "write", object, status: false });

function withStatus(object: ApiObject, changes: JsonObject): Step {
  const status = { ...part(object, "status"), ...changes };
  return equal(status, part(object, "status")) ? rest : { kind: "write", object: { ...object, status }, status: true };
}
const withPhase = (object: ApiObject, phase: string, more: JsonObject = {}): Step =>
  withStatus(object, { phase, ...more });

const withSpec = (object: ApiObject, changes: JsonObject): ApiObject => ({
  ...object,
  spec: { ...part(object, "spec"), ...changes },
});

const tell = (about: ApiObject, type: EventText["type"], reason: string, message: string): Step => ({
  kind: "tell",
  about,
  event: { type, reason, message },
});

/** The first that is not resting. */
const firstOf = (...steps: readonly Step[]): Step => steps.find(({ kind }) => kind !== "rest") ?? rest;

export function planClaim(claim: ApiObject, view: BinderView): Step {
  if (annotationOf(claim, bindingAnnotations.bindCompleted) !== undefined) return planBound(claim, view);
  const wanted = volumeNameOf(claim);
  return wanted === "" ? planUnbound(claim, view) : planPreBound(claim, view.volume(wanted));
}

function planUnbound(claim: ApiObject, view: BinderView): Step {
  const className = classNameOf(claim);
  const storageClass = className === undefined || className === "" ? undefined : view.storageClass(className);
  const delayed = storageClass?.volumeBindingMode === "WaitForFirstConsumer";
  const volume = matchingVolume(claim, view.candidates(claim), delayed);
  if (volume !== undefined) return planBinding(volume, claim);
  const byDefault = className === undefined ? view.defaultClass() : undefined;
  if (byDefault !== undefined) return write(withSpec(claim, { storageClassName: byDefault }));
  const pending = withPhase(claim, "Pending");
  if (delayed && annotationOf(claim, bindingAnnotations.selectedNode) === undefined)
    return firstOf(
      pending,
      tell(claim, "Normal", "WaitForFirstConsumer", "waiting for first consumer to be created before binding"),
    );
  if (className === undefined || className === "")
    return firstOf(
      pending,
      tell(
        claim,
        "Normal",
        "FailedBinding",
        "no persistent volumes available for this claim and no storage class is set",
      ),
    );
  // The phase is left as it is: the provisioner's volume will be bound, or nothing will.
  return planProvisioning(claim, className, storageClass);
}

/** Provisioners act on claims that name them in these annotations. */
function planProvisioning(claim: ApiObject, className: string, storageClass: ApiObject | undefined): Step {
  if (storageClass === undefined)
    return tell(claim, "Warning", "ProvisioningFailed", `storageclass.storage.k8s.io "${className}" not found`);
  const provisioner = String(storageClass.provisioner ?? "");
  if (provisioner.startsWith("kubernetes.io/"))
    return tell(claim, "Warning", "ProvisioningFailed", `no volume plugin matched name: ${provisioner}`);
  const named = { [bindingAnnotations.provisionerBeta]: provisioner, [bindingAnnotations.provisioner]: provisioner };
  const isNamed = Object.keys(named).every((name) => annotationOf(claim, name) === provisioner);
  if (!isNamed) return write(withAnnotations(claim, named));
  return tell(
    claim,
    "Normal",
    "ExternalProvisioning",
    `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.`,
  );
}

/** The claim names its volume itself, or the binder has begun to bind it. */
function planPreBound(claim: ApiObject, volume: ApiObject | undefined): Step {
  const pending = withPhase(claim, "Pending");
  if (volume === undefined) return pending;
  const name = volume.metadata.name ?? "";
  if (claimRefOf(volume) === undefined) {
    const why = misfit(volume, claim);
    if (why === undefined) return planBinding(volume, claim);
    return firstOf(
      pending,
      tell(claim, "Warning", "VolumeMismatch", `Cannot bind to requested volume "${name}": ${why}`),
    );
  }
  if (isBoundTo(volume, claim)) return planBinding(volume, claim);
  return firstOf(
    pending,
    tell(claim, "Warning", "FailedBinding", `volume "${name}" already bound to a different claim.`),
  );
}

function planBound(claim: ApiObject, view: BinderView): Step {
  const name = volumeNameOf(claim);
  if (name === "")
    return lost(claim, "ClaimLost", "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!");
  const volume = view.volume(name);
  if (volume === undefined)
    return lost(claim, "ClaimLost", "Bound claim has lost its PersistentVolume. Data on the volume is lost!");
  if (claimRefOf(volume) === undefined || claimRefOf(volume)?.uid === claim.metadata.uid)
    return planBinding(volume, claim);
  return lost(claim, "ClaimMisbound", "Two claims are bound to the same volume, this one is bound incorrectly");
}

const lost = (claim: ApiObject, reason: string, message: string): Step =>
  firstOf(withPhase(claim, "Lost"), tell(claim, "Warning", reason, message));

/** Four writes, each of which can be the last before a crash: whoever looks next goes on from there. */
function planBinding(volume: ApiObject, claim: ApiObject): Step {
  return firstOf(
    promise(volume, claim),
    withPhase(volume, "Bound"),
    fixate(claim, volume),
    withPhase(claim, "Bound", {
      accessModes: part(volume, "spec").accessModes ?? [],
      capacity: part(volume, "spec").capacity ?? {},
    }),
  );
}

function promise(volume: ApiObject, claim: ApiObject): Step {
  const ref = claimRefOf(volume);
  if (ref !== undefined && isBoundTo(volume, claim) && (ref.uid ?? "") !== "") return rest;
  const { namespace = "", name = "", uid = "", resourceVersion = "" } = claim.metadata;
  const claimRef = { kind: "PersistentVolumeClaim", namespace, name, uid, apiVersion: "v1", resourceVersion };
  const promised = withSpec(volume, { claimRef });
  return write(
    ref === undefined ? withAnnotations(promised, { [bindingAnnotations.boundByController]: "yes" }) : promised,
  );
}

function fixate(claim: ApiObject, volume: ApiObject): Step {
  const name = volume.metadata.name ?? "";
  const chosenHere = volumeNameOf(claim) !== name;
  const completed = annotationOf(claim, bindingAnnotations.bindCompleted) !== undefined;
  if (!chosenHere && completed) return rest;
  return write(
    withAnnotations(chosenHere ? withSpec(claim, { volumeName: name }) : claim, {
      [bindingAnnotations.bindCompleted]: "yes",
      ...(chosenHere ? { [bindingAnnotations.boundByController]: "yes" } : {}),
    }),
  );
}

export function planVolume(volume: ApiObject, view: BinderView): Step {
  const ref = claimRefOf(volume);
  if (ref === undefined || (ref.uid ?? "") === "") return withPhase(volume, "Available");
  const found = view.claim(ref.namespace ?? "", ref.name ?? "");
  const claim = found?.metadata.uid === ref.uid ? found : undefined;
  if (claim === undefined) return planReleased(volume);
  const chosen = volumeNameOf(claim);
  if (chosen === volume.metadata.name) return withPhase(volume, "Bound");
  if (chosen !== "") return planRejected(volume);
  if (modeOf(volume) === modeOf(claim)) return rest;
  return tell(
    volume,
    "Warning",
    "VolumeMismatch",
    `Cannot bind PersistentVolume to requested PersistentVolumeClaim "${claim.metadata.name}" due to incompatible volumeMode.`,
  );
}

/** Its claim is gone. Whoever made the volume deletes it when its policy says so; the others stay for an administrator. */
const planReleased = (volume: ApiObject): Step =>
  ["Released", "Failed"].includes(phaseOf(volume)) ? rest : withPhase(volume, "Released");

/** The claim has taken another volume. One that was made for it goes; any other is free again. */
function planRejected(volume: ApiObject): Step {
  const made = annotationOf(volume, bindingAnnotations.provisionedBy) !== undefined;
  if (made && part(volume, "spec").persistentVolumeReclaimPolicy === "Delete") return planReleased(volume);
  if (annotationOf(volume, bindingAnnotations.boundByController) !== undefined)
    return write(withoutAnnotation(withoutClaim(volume), bindingAnnotations.boundByController));
  const { uid: _, ...ref } = claimRefOf(volume) ?? {};
  return write(withSpec(volume, { claimRef: ref as JsonObject }));
}

function withoutClaim(volume: ApiObject): ApiObject {
  const { claimRef: _, ...spec } = part(volume, "spec");
  return { ...volume, spec };
}
