/** Reads whether what is installed works. */
import { namespaceOf, object } from "../../api/manifests/component.ts";
import { isFault } from "../../base/fault.ts";
import type { JsonObject } from "../../base/json.ts";
import { factsOf, readConfigurations, readSecret } from "../../components/webhook/certificates/cluster.ts";
import type { KubeApi } from "../../kube/api.ts";
import { certificateDefaults } from "../certs/renew.ts";
import { nameOf, namespaceIn } from "./fields.ts";
import { type FoundCertificate, type FoundPod, type FoundWorkload, type Health, healthPlan } from "./health-plan.ts";
import { isPodOf } from "./pods.ts";
import type { Resources } from "./resources.ts";
import { electionsOf, type InstallPlan, isWorkload } from "./selection.ts";

export interface HealthContext {
  readonly api: KubeApi;
  readonly resources: Pick<Resources, "read" | "list">;
  readonly nowMs: number;
  readonly signal: AbortSignal;
}

/** Reasons are a help: without the right to read them, the rest is said all the same. */
async function ifAllowed<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (reason) {
    if (isFault(reason, "PermissionDenied")) return undefined;
    throw reason;
  }
}

/** With what was said about each. */
export async function readPods(
  workload: JsonObject,
  { list }: Pick<Resources, "list">,
): Promise<readonly FoundPod[] | undefined> {
  const namespace = namespaceIn(workload);
  const listed = await ifAllowed(list("v1", "Pod", { namespace }));
  if (listed === undefined) return undefined;
  const found: FoundPod[] = [];
  for (const pod of listed.filter((one) => isPodOf(one, workload))) {
    const fieldSelector = `involvedObject.kind=Pod,involvedObject.name=${nameOf(pod)}`;
    found.push({ pod, events: (await ifAllowed(list("v1", "Event", { namespace, fieldSelector }))) ?? [] });
  }
  return found;
}

export async function findProblems(plan: InstallPlan, context: HealthContext): Promise<Health> {
  const { resources, nowMs } = context;
  const workloads: FoundWorkload[] = [];
  for (const workload of plan.objects.filter(isWorkload)) {
    const stored = await resources.read(workload);
    if (stored !== undefined) workloads.push({ object: workload, stored, pods: await readPods(stored, resources) });
  }
  const leases = [];
  for (const { lease, workload } of electionsOf(plan))
    leases.push({ object: lease, stored: await resources.read(lease), workload });
  const certificates = await readCertificates(plan, context);
  return healthPlan({ workloads, leases, certificates, nowMs, renewBeforeMs: certificateDefaults.renewBefore });
}

async function readCertificates(
  { rows, installation }: InstallPlan,
  { api, signal }: HealthContext,
): Promise<readonly FoundCertificate[]> {
  const found: FoundCertificate[] = [];
  for (const row of rows) {
    const { certificateSecret: name, service } = row;
    if (name === undefined || service === undefined) continue;
    const namespace = namespaceOf(row, installation);
    const read = async () =>
      factsOf(await readSecret(api, { namespace, name }, signal), await readConfigurations(api, signal), {
        namespace,
        service: service.name,
        dns: [],
      });
    const secret = object("v1", "Secret", { metadata: { name, namespace } });
    found.push({ secret, facts: await ifAllowed(read()) });
  }
  return found;
}
