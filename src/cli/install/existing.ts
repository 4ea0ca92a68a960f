/** What already runs in the cluster and does the same work: found by its images, leases and definitions. */
import { leaseName } from "../../api/manifests/snapshot-controller.ts";
import { isObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import type { Resources } from "./resources.ts";

export interface Existing {
  /** Workloads of others, one sentence each. */
  readonly workloads: readonly string[];
  /** A held lease of another snapshot-controller that ours does not wait for, because it is in another namespace. */
  readonly rivals: readonly string[];
  readonly leases: readonly string[];
}

const ours = "snapkeep";
const programs = /(?:^|\/)(snapshot-controller|csi-snapshotter|csi-provisioner|snapshot-validation-webhook)[:@]/;

export async function findExisting(resources: Resources, leaseNamespace: string, nowMs: number): Promise<Existing> {
  const workloads = [];
  for (const kind of ["Deployment", "StatefulSet", "DaemonSet"])
    for (const object of await resources.list("apps/v1", kind))
      for (const image of imagesOf(object))
        if (programs.test(image) && labelOf(object, "app.kubernetes.io/name") !== ours)
          workloads.push(`${kind} ${placeOf(object)} runs ${image}`);
  const held = (await resources.list("coordination.k8s.io/v1", "Lease"))
    .filter((lease) => nameOf(lease) === leaseName && isHeld(lease, nowMs))
    .map((lease) => ({
      lease,
      text: `Lease ${placeOf(lease)} is held by ${String(at(lease, "spec", "holderIdentity"))}`,
    }));
  return {
    workloads,
    leases: held.map(({ text }) => text),
    rivals: held.filter(({ lease }) => at(lease, "metadata", "namespace") !== leaseNamespace).map(({ text }) => text),
  };
}

export function at(value: JsonValue | undefined, ...path: readonly string[]): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>((inner, key) => (isObject(inner) ? inner[key] : undefined), value);
}

const nameOf = (object: JsonObject): string => String(at(object, "metadata", "name") ?? "");
const labelOf = (object: JsonObject, label: string) => at(object, "metadata", "labels", label);
const placeOf = (object: JsonObject): string => `${String(at(object, "metadata", "namespace"))}/${nameOf(object)}`;

function imagesOf(object: JsonObject): readonly string[] {
  const containers = at(object, "spec", "template", "spec", "containers");
  return Array.isArray(containers) ? containers.map((container) => String(at(container, "image"))) : [];
}

/** Released leases have no holder; those of a holder that is gone run out. */
export function isHeld(lease: JsonObject, nowMs: number): boolean {
  const renewed = Date.parse(String(at(lease, "spec", "renewTime") ?? ""));
  const seconds = Number(at(lease, "spec", "leaseDurationSeconds") ?? 0);
  return (at(lease, "spec", "holderIdentity") ?? "") !== "" && renewed + seconds * 1000 > nowMs;
}
