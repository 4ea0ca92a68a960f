/** Reads what plans are made from: the stored objects of an installation, and what is around them. */
import type { ManifestObject } from "../../api/manifests/component.ts";
import type { JsonObject } from "../../base/json.ts";
import { type ApplyRead, rivalKinds } from "./apply-plan.ts";
import type { DriftRead } from "./drift-plan.ts";
import type { Found } from "./judge.ts";
import type { Resources } from "./resources.ts";
import { type InstallPlan, leasesOf, partsWithSecrets } from "./selection.ts";
import { dataKinds, type UninstallRead, useKinds } from "./uninstall-plan.ts";
import { askedServices, type ServiceName } from "./webhook-references.ts";

type Reader = Pick<Resources, "read" | "list" | "serves">;
type Kinds = readonly (readonly [apiVersion: string, kind: string])[];

async function readAll(objects: readonly ManifestObject[], { read }: Reader): Promise<readonly Found[]> {
  const found: Found[] = [];
  for (const object of objects) found.push({ object, stored: await read(object) });
  return found;
}

async function readParts(parts: InstallPlan["parts"], reader: Reader): Promise<readonly (readonly Found[])[]> {
  const found: (readonly Found[])[] = [];
  for (const part of parts) found.push(await readAll(part, reader));
  return found;
}

/** Items of lists do not say of which kind they are. */
async function readKinds(kinds: Kinds, { list }: Reader): Promise<readonly JsonObject[]> {
  const found: JsonObject[] = [];
  for (const [apiVersion, kind] of kinds)
    for (const item of await list(apiVersion, kind)) found.push({ ...item, apiVersion, kind });
  return found;
}

/** Whether the cluster serves an object's kind. */
export async function servedIn(objects: readonly ManifestObject[], { serves }: Reader) {
  const served = new Set<ManifestObject>();
  for (const object of objects) if (await serves(object)) served.add(object);
  return (object: ManifestObject): boolean => served.has(object);
}

const configurationKinds: Kinds = [
  ["admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"],
  ["admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration"],
];
const bindingKinds: Kinds = [["rbac.authorization.k8s.io/v1", "ClusterRoleBinding"]];
const leaseKinds: Kinds = [["coordination.k8s.io/v1", "Lease"]];

export const readUses = (reader: Reader): Promise<readonly JsonObject[]> => readKinds(useKinds, reader);

export async function readForApply(plan: InstallPlan, reader: Reader, nowMs: number): Promise<ApplyRead> {
  const { installation, rows } = plan;
  return {
    installation,
    rows,
    parts: await readParts(plan.parts, reader),
    crds: await readAll(plan.crds, reader),
    namespaces: await readAll(plan.namespaces, reader),
    workloads: await readKinds(rivalKinds, reader),
    leases: await readKinds(leaseKinds, reader),
    nowMs,
  };
}

export async function readForUninstall(plan: InstallPlan, reader: Reader): Promise<UninstallRead> {
  const { installation, rows } = plan;
  const data = [];
  for (const [apiVersion, kind] of dataKinds) data.push({ kind, count: (await reader.list(apiVersion, kind)).length });
  return {
    installation,
    rows,
    parts: await readParts(partsWithSecrets(plan), reader),
    namespaces: await readAll(plan.namespaces, reader),
    crds: await readAll(plan.crds, reader),
    leases: await readAll(leasesOf(plan), reader),
    configurations: await readKinds(configurationKinds, reader),
    bindings: await readKinds(bindingKinds, reader),
    uses: await readUses(reader),
    data,
  };
}

export async function readForDrift(plan: InstallPlan, reader: Reader): Promise<DriftRead> {
  const configurations = await readKinds(configurationKinds, reader);
  const missingServices: ServiceName[] = [];
  for (const metadata of askedServices(configurations))
    if ((await reader.read({ apiVersion: "v1", kind: "Service", metadata })) === undefined)
      missingServices.push(metadata);
  return {
    installation: plan.installation,
    parts: await readParts(plan.parts, reader),
    crds: await readAll(plan.crds, reader),
    namespaces: await readAll(plan.namespaces, reader),
    isServed: await servedIn(plan.objects, reader),
    configurations,
    missingServices,
  };
}
