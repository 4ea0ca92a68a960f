/** `snapkeep install --apply`: definitions, namespaces, objects, certificates; then it waits until everything is ready. */
import type { ManifestObject } from "../../api/manifests/component.ts";
import { namespaceOf } from "../../api/manifests/component.ts";
import { leaseNamespace } from "../../api/manifests/snapshot-controller.ts";
import { snapshotConfigurationName } from "../../api/manifests/webhook-configurations.ts";
import { Fault } from "../../base/fault.ts";
import type { JsonObject } from "../../base/json.ts";
import type { KubeApi } from "../../kube/api.ts";
import { withCode } from "../../rules/error-codes.ts";
import { certificateDefaults, renewInCluster } from "../certs/renew.ts";
import { type CrdVerdict, judgeCrd } from "./crd-age.ts";
import { at, findExisting } from "./existing.ts";
import { judgeObjects, refuseForeign } from "./judge.ts";
import type { Resources } from "./resources.ts";
import { type Waiting, waitUntilReady, waitUntilServed } from "./rollout.ts";
import { describe, type InstallPlan, isWorkload } from "./selection.ts";

export interface ApplyContext {
  readonly api: KubeApi;
  readonly resources: Resources;
  readonly waiting: Waiting;
  /** Takes objects of another installation over. */
  readonly adopts?: boolean;
  /** Installs beside the stored CRDs, in whatever phase they are. */
  readonly keepsCrds?: boolean;
  say(line: string): void;
}

export async function applyAll(plan: InstallPlan, context: ApplyContext): Promise<void> {
  const { resources, waiting, say } = context;
  await tellExisting(plan, context);
  if (context.adopts !== true) refuseForeign(await judgeObjects(plan, resources), plan.installation.namespace);
  const crds = await applicableCrds(plan, context);
  for (const crd of crds) await resources.apply(crd);
  if (crds.length > 0) say(`${crds.length} CustomResourceDefinitions applied`);
  await waitUntilServed(resources, plan.crds, waiting);
  resources.forget();
  await createNamespaces(plan, context);
  const { served, unserved } = await servedObjects(plan.objects, resources);
  // Pods start when the rights and certificates that they need are there.
  const apply = async (object: ManifestObject): Promise<void> => {
    await resources.apply(await withLivePolicy(object, resources));
    waiting.progress(() => `applied ${describe(object)}`);
  };
  for (const object of served.filter((item) => !isWorkload(item))) await apply(object);
  await makeCertificates(plan, context);
  for (const object of served.filter(isWorkload)) await apply(object);
  say(`${served.length} objects applied`);
  for (const line of unservedLines(unserved)) say(line);
  await waitUntilReady(resources, served, waiting);
  say("everything is ready");
}

/** Two controllers at work would create two contents for one snapshot. */
async function tellExisting({ rows }: InstallPlan, { resources, waiting, say }: ApplyContext): Promise<void> {
  const { workloads, leases, rivals } = await findExisting(resources, leaseNamespace, waiting.world.now());
  for (const line of [...workloads, ...leases]) say(`already there: ${line}`);
  if (!rows.some(({ name }) => name === "snapshot-controller") || rivals.length === 0) return;
  throw new Fault(
    "FailedPrecondition",
    withCode(
      `another snapshot-controller is at work: ${rivals.join("; ")}; ours would wait for a lease in ${leaseNamespace} and both would work at once; scale the other one to 0 replicas first`,
      "SNAP-801",
    ),
  );
}

async function applicableCrds(
  { crds }: InstallPlan,
  { resources, keepsCrds = false, say }: ApplyContext,
): Promise<readonly ManifestObject[]> {
  const applicable = [];
  for (const crd of crds) {
    const stored = await resources.read(crd);
    const verdict = judgeCrd(stored, crd);
    const stays = keepsCrds && stored !== undefined;
    if (!stays && (verdict.kind === "refuse" || verdict.kind === "migrate")) throw refusedCrd(crd, verdict);
    if (verdict.kind === "apply" && !stays) applicable.push(crd);
    else say(`${describe(crd)} stays as it is: ${verdict.kind === "apply" ? "--keep-crds" : verdict.why}`);
  }
  return applicable;
}

const refusedCrd = (crd: ManifestObject, verdict: Exclude<CrdVerdict, { kind: "apply" | "keep" }>): Fault =>
  new Fault(
    "FailedPrecondition",
    verdict.kind === "migrate"
      ? withCode(
          `${describe(crd)} is not replaced: ${verdict.why}, and install never changes a phase; nothing was changed; run ${verdict.next} first (snapkeep migrate --status shows where the CRDs are), or install beside the CRDs as they are with --keep-crds`,
          "SNAP-806",
        )
      : withCode(
          `${describe(crd)} is not replaced: ${verdict.why}; install that release or a later one; nothing was changed`,
          "SNAP-802",
        ),
  );

/** One that exists belongs to somebody else, and keeps its labels: "restricted" could stop other pods in it. */
async function createNamespaces({ namespaces }: InstallPlan, { resources, say }: ApplyContext): Promise<void> {
  for (const namespace of namespaces)
    if ((await resources.read(namespace)) === undefined) {
      await resources.apply(namespace);
      say(`${describe(namespace)} created`);
    }
}

export async function servedObjects(objects: readonly ManifestObject[], resources: Resources) {
  const [served, unserved]: [ManifestObject[], ManifestObject[]] = [[], []];
  for (const object of objects) ((await resources.serves(object)) ? served : unserved).push(object);
  return { served, unserved };
}

export const unservedLines = (unserved: readonly ManifestObject[]): readonly string[] =>
  [...Map.groupBy(unserved, ({ apiVersion, kind }) => `${kind} (${apiVersion})`)].map(
    ([kind, objects]) =>
      `left out, because the cluster does not serve ${kind}: ${objects.map(({ metadata }) => metadata.name).join(", ")}`,
  );

/** `snapkeep webhook promote` has set Fail, and an upgrade must not take that back. */
export async function withLivePolicy(object: ManifestObject, resources: Resources): Promise<ManifestObject> {
  if (object.metadata.name !== snapshotConfigurationName) return object;
  const stored = at(await resources.read(object), "webhooks");
  if (!Array.isArray(stored)) return object;
  const policies = new Map(stored.map((webhook) => [at(webhook, "name"), at(webhook, "failurePolicy")]));
  const { webhooks } = object as unknown as { readonly webhooks: readonly JsonObject[] };
  const kept = webhooks.map((webhook) => ({
    ...webhook,
    failurePolicy: policies.get(webhook.name) ?? webhook.failurePolicy,
  }));
  return { ...object, webhooks: kept } as ManifestObject;
}

async function makeCertificates(
  { rows, installation }: InstallPlan,
  { api, waiting, say }: ApplyContext,
): Promise<void> {
  const { world, signal } = waiting;
  for (const row of rows) {
    const { certificateSecret: secret, service } = row;
    if (secret === undefined || service === undefined) continue;
    const namespace = namespaceOf(row, installation);
    const options = { ...certificateDefaults, namespace, secret, service: service.name };
    await renewInCluster(api, options, world.now(), signal, say);
  }
}
