/** What already runs in the cluster and does the same work: found by its images and leases. Pure. */
import { leaseName } from "../../api/manifests/snapshot-controller.ts";
import type { JsonObject } from "../../base/json.ts";
import { at, listAt, nameOf, namespaceIn } from "./fields.ts";
import { isOfSnapkeep } from "./ownership.ts";

export interface Existing {
  /** Workloads of others, one sentence each. */
  readonly workloads: readonly string[];
  /** Held leases of snapshot-controllers. */
  readonly leases: readonly string[];
  /** Those that ours does not wait for, because they are in another namespace. */
  readonly rivals: readonly string[];
}

const programs = /(?:^|\/)(snapshot-controller|csi-snapshotter|csi-provisioner|snapshot-validation-webhook)[:@]/;

export function existingOf(
  workloads: readonly JsonObject[],
  leases: readonly JsonObject[],
  { leaseNamespace, nowMs }: { readonly leaseNamespace: string; readonly nowMs: number },
): Existing {
  const held = leases.filter((lease) => nameOf(lease) === leaseName && isHeld(lease, nowMs));
  const rivals = held.filter((lease) => namespaceIn(lease) !== leaseNamespace);
  return {
    workloads: workloads
      .filter((object) => !isOfSnapkeep(object))
      .flatMap((object) =>
        imagesOf(object)
          .filter((image) => programs.test(image))
          .map((image) => `${String(object.kind)} ${placeOf(object)} runs ${image}`),
      ),
    leases: held.map(leaseText),
    rivals: rivals.map(leaseText),
  };
}

const leaseText = (lease: JsonObject): string =>
  `Lease ${placeOf(lease)} is held by ${String(at(lease, "spec", "holderIdentity"))}`;
const placeOf = (object: JsonObject): string => `${namespaceIn(object)}/${nameOf(object)}`;
const imagesOf = (object: JsonObject): readonly string[] =>
  listAt(object, "spec", "template", "spec", "containers").map(({ image }) => String(image));

/** Released leases have no holder; those of a holder that is gone run out. */
export function isHeld(lease: JsonObject, nowMs: number): boolean {
  const renewed = Date.parse(String(at(lease, "spec", "renewTime") ?? ""));
  const seconds = Number(at(lease, "spec", "leaseDurationSeconds") ?? 0);
  return (at(lease, "spec", "holderIdentity") ?? "") !== "" && renewed + seconds * 1000 > nowMs;
}
