/**
 * What volume-data-source-validator says of a claim, as its controller decides it: it reads spec.dataSourceRef only, knows claims and
 * VolumeSnapshots by itself, and everything else by a VolumePopulator of the same group and kind. "invalid" is the one result that it
 * reports: a Warning UnrecognizedDataSourceKind on the claim.
 */
import type { KubeObject, PersistentVolumeClaim } from "../src/api/types.ts";

export type ValidatorResult = "empty" | "pvc" | "snapshot" | "populator" | "invalid";

export function validatorResult(
  { spec }: Pick<PersistentVolumeClaim, "spec">,
  populators: readonly KubeObject[],
): ValidatorResult {
  const ref = spec?.dataSourceRef;
  if (ref === undefined || ref === null) return "empty";
  const group = ref.apiGroup ?? "";
  if (group === "" && ref.kind === "PersistentVolumeClaim") return "pvc";
  if (group === "snapshot.storage.k8s.io" && ref.kind === "VolumeSnapshot") return "snapshot";
  const isRegistered = populators.some((object) => {
    const { sourceKind } = object as { readonly sourceKind?: { readonly group?: string; readonly kind?: string } };
    return (sourceKind?.group ?? "") === group && sourceKind?.kind === ref.kind;
  });
  return isRegistered ? "populator" : "invalid";
}
