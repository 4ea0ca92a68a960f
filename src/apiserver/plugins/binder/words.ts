/** The words of volume binding, spelled once: they are the contract between the binder, provisioners and people. */

import type { ObjectReference } from "../../../api/types.ts";
import { isObject } from "../../../base/json.ts";
import { part } from "../../builtin/check.ts";
import type { ApiObject } from "../../contracts.ts";

export const bindingAnnotations = {
  provisioner: "volume.kubernetes.io/storage-provisioner",
  provisionerBeta: "volume.beta.kubernetes.io/storage-provisioner",
  selectedNode: "volume.kubernetes.io/selected-node",
  classBeta: "volume.beta.kubernetes.io/storage-class",
  bindCompleted: "pv.kubernetes.io/bind-completed",
  boundByController: "pv.kubernetes.io/bound-by-controller",
  provisionedBy: "pv.kubernetes.io/provisioned-by",
} as const;

export const inUseFinalizers = {
  claim: "kubernetes.io/pvc-protection",
  volume: "kubernetes.io/pv-protection",
} as const;

export const annotationOf = ({ metadata }: ApiObject, name: string): string | undefined =>
  metadata.annotations !== undefined && Object.hasOwn(metadata.annotations, name)
    ? metadata.annotations[name]
    : undefined;

export function withAnnotations(object: ApiObject, added: Readonly<Record<string, string>>): ApiObject {
  return { ...object, metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, ...added } } };
}

export function withoutAnnotation(object: ApiObject, name: string): ApiObject {
  const { [name]: _, ...kept } = object.metadata.annotations ?? {};
  return { ...object, metadata: { ...object.metadata, annotations: kept } };
}

/** "" and absent are both "no class"; `undefined` is "not said", which a default may fill. */
export const classNameOf = (object: ApiObject): string | undefined => {
  const { storageClassName } = part(object, "spec");
  return (
    annotationOf(object, bindingAnnotations.classBeta) ??
    (typeof storageClassName === "string" ? storageClassName : undefined)
  );
};

export const claimRefOf = (volume: ApiObject): ObjectReference | undefined => {
  const { claimRef } = part(volume, "spec");
  return isObject(claimRef) ? (claimRef as unknown as ObjectReference) : undefined;
};

export const volumeNameOf = (claim: ApiObject): string => String(part(claim, "spec").volumeName ?? "");
export const phaseOf = (object: ApiObject): string => String(part(object, "status").phase ?? "");
export const modeOf = (object: ApiObject): string => String(part(object, "spec").volumeMode ?? "Filesystem");

/** The reference is to this claim, or was written before the claim had a uid. */
export function isBoundTo(volume: ApiObject, { metadata }: ApiObject): boolean {
  const ref = claimRefOf(volume);
  if (ref === undefined) return false;
  const sameName = ref.name === metadata.name && (ref.namespace ?? "") === (metadata.namespace ?? "");
  return sameName && ((ref.uid ?? "") === "" || ref.uid === metadata.uid);
}
