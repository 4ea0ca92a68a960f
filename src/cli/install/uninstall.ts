/** `snapkeep install --uninstall`: pods end, then the rest of what was applied goes; definitions and data stay, and are named. */
import type { ManifestObject } from "../../api/manifests/component.ts";
import { namespaceOf, object } from "../../api/manifests/component.ts";
import { ownedLabel } from "../../api/manifests/objects.ts";
import { Fault } from "../../base/fault.ts";
import type { JsonObject } from "../../base/json.ts";
import { withCode } from "../../rules/error-codes.ts";
import { at } from "./existing.ts";
import { askingConfigurations, type Judged, judgeObjects, ownerOf, servicesOf } from "./judge.ts";
import { namespacesNamedBy, ownershipOf } from "./ownership.ts";
import { isPodOf } from "./pods.ts";
import type { Resources } from "./resources.ts";
import type { Waiting } from "./rollout.ts";
import { describe, type InstallPlan, isWorkload, leasesOf } from "./selection.ts";
import { type ServiceName, withoutServices } from "./webhook-references.ts";

export interface UninstallContext {
  readonly resources: Resources;
  readonly waiting: Waiting;
  /** Only says what would be deleted. */
  readonly isDryRun?: boolean;
  say(line: string): void;
}

export async function uninstallAll(plan: InstallPlan, context: UninstallContext): Promise<void> {
  const { resources, say, isDryRun = false } = context;
  const judged = await judgeObjects({ ...plan, parts: partsOf(plan) }, resources);
  const own = judged.filter(({ stored, ownership }) => stored !== undefined && ownership.kind !== "foreign");
  const services = servicesOf(judged.filter((one) => ownerOf(one) === undefined).map(({ object }) => object));
  const asking = await askingConfigurations(services, resources);
  if (own.length === 0 && asking.length === 0) throw await noInstallation(plan, judged, resources);
  for (const one of judged) {
    const owner = ownerOf(one);
    if (owner !== undefined) say(`stays: ${describe(one.object)}, which belongs to ${owner}`);
  }
  const names = new Set([...asking.map(describeStored), ...own.map(({ object }) => describe(object))]);
  for (const name of names) say(`${isDryRun ? "would delete" : "deletes"}: ${name}`);
  if (!isDryRun) {
    // Without its webhook, a configuration with failurePolicy Fail would refuse requests.
    const removed = await removeWebhooks(asking, services, resources);
    say(`${removed + (await removeAll(own, context))} objects deleted`);
  }
  for (const namespace of plan.namespaces) await removeNamespace(namespace, own, plan, context);
  for (const line of await whatStays(plan, resources)) say(`stays: ${line}`);
}

async function removeAll(own: readonly Judged[], context: UninstallContext): Promise<number> {
  const { resources } = context;
  let removed = 0;
  const remove = async (items: readonly Judged[], isForeground = false): Promise<void> => {
    for (const { stored = {} } of items) if (await resources.remove(stored, { isForeground })) removed += 1;
  };
  await remove(own.filter(({ object }) => isConfiguration(object)));
  const workloads = own.filter(({ object }) => isWorkload(object));
  await remove(workloads, true);
  await untilEnded(
    workloads.map(({ object }) => object),
    context,
  );
  await remove(own.filter(({ object }) => !isConfiguration(object) && !isWorkload(object)).toReversed());
  return removed;
}

/** The certificates are no manifest: `snapkeep certs` makes them. */
const partsOf = ({ rows, parts, installation }: InstallPlan): InstallPlan["parts"] =>
  rows.map((row, index) => {
    const { certificateSecret: name } = row;
    const metadata = { name: name ?? "", namespace: namespaceOf(row, installation) };
    const secrets = name === undefined ? [] : [object("v1", "Secret", { metadata })];
    return [...secrets, ...(parts[index] ?? [])];
  });

async function removeWebhooks(
  asking: readonly JsonObject[],
  services: readonly ServiceName[],
  resources: Resources,
): Promise<number> {
  let removed = 0;
  for (const configuration of asking) {
    const rest = withoutServices(configuration, services);
    if (rest !== undefined) await resources.replace(rest);
    else if (await resources.remove(configuration)) removed += 1;
  }
  return removed;
}

/** A mistyped namespace is more likely than an uninstallation of nothing. */
async function noInstallation(
  { installation: { namespace } }: InstallPlan,
  judged: readonly Judged[],
  resources: Resources,
): Promise<Fault> {
  const bindings = await resources.list("rbac.authorization.k8s.io/v1", "ClusterRoleBinding");
  const others = [...namespacesNamedBy(bindings.filter(isOfSnapkeep))].sort();
  const there = others.length === 0 ? "" : `; there is one in ${others.join(", ")}`;
  const here = judged.find((one) => one.object.metadata.namespace === namespace && ownerOf(one) !== undefined);
  const owned = here === undefined ? "" : `; ${describe(here.object)} belongs to ${ownerOf(here)}`;
  return new Fault(
    "NotFound",
    withCode(
      `nothing was deleted: there is no installation of these components in namespace ${namespace}${owned}${there}; give the namespace of the installation with --namespace`,
      "SNAP-805",
    ),
  );
}

const isOfSnapkeep = (found: JsonObject): boolean =>
  Object.entries(ownedLabel).every(([label, value]) => at(found, "metadata", "labels", label) === value);
const describeStored = (stored: JsonObject): string => describe(stored as unknown as ManifestObject);
const isConfiguration = ({ kind }: ManifestObject): boolean => kind.endsWith("WebhookConfiguration");
const lookEveryMs = 200;

/** Pods release their leases when they end, and need their rights for that. The next controller would wait until the leases expire. */
async function untilEnded(
  workloads: readonly ManifestObject[],
  { resources, waiting: { world, signal, msMax, progress }, say }: UninstallContext,
): Promise<void> {
  const giveUpAt = world.elapsed() + msMax;
  for (;;) {
    const left: string[] = [];
    for (const workload of workloads) if ((await resources.read(workload)) !== undefined) left.push(describe(workload));
    if (left.length === 0) return;
    if (world.elapsed() > giveUpAt)
      return say(`the pods of ${left.join(", ")} have not ended; they lose their rights now`);
    progress(() => `waiting until the pods of ${left.join(", ")} have ended`);
    await world.sleep(lookEveryMs, signal);
  }
}

/** What keeps a namespace from being deleted: it is in use. */
const inhabitantKinds = [
  ["v1", "Pod"],
  ["v1", "PersistentVolumeClaim"],
  ["apps/v1", "Deployment"],
  ["apps/v1", "DaemonSet"],
  ["apps/v1", "StatefulSet"],
  ["batch/v1", "Job"],
  ["batch/v1", "CronJob"],
] as const;

/** Only one that an installation has created, and in which nobody else works: other components of snapkeep may be left in it. */
async function removeNamespace(
  namespace: ManifestObject,
  own: readonly Judged[],
  { installation }: InstallPlan,
  { resources, say, isDryRun = false }: UninstallContext,
): Promise<void> {
  const stored = await resources.read(namespace);
  if (stored === undefined) return;
  const { name } = namespace.metadata;
  const ownership = ownershipOf(stored, installation, new Set());
  if (ownership.kind === "foreign") return say(`stays: ${describe(namespace)}, which was there before`);
  const others: string[] = [];
  for (const [apiVersion, kind] of inhabitantKinds)
    for (const found of await resources.list(apiVersion, kind))
      if (at(found, "metadata", "namespace") === name && !goesWith(own, { ...found, kind }))
        others.push(describeStored({ ...found, kind }));
  const [first, ...more] = others;
  if (first !== undefined)
    return say(
      `stays: ${describe(namespace)}, which is in use by ${first}${more.length === 0 ? "" : ` and ${more.length} more`}`,
    );
  if (isDryRun) return say(`would delete: ${describe(namespace)}`);
  await resources.remove(stored);
  say(`${describe(namespace)} deleted`);
}

/** One of the objects that are deleted, or a pod of one. */
const goesWith = (own: readonly Judged[], found: JsonObject): boolean =>
  own.some(
    ({ object, stored = {} }) =>
      describe(object) === describeStored(found) ||
      (found.kind === "Pod" && isWorkload(object) && isPodOf(found, stored)),
  );

const dataKinds = [
  ["snapshot.storage.k8s.io/v1", "VolumeSnapshot"],
  ["snapshot.storage.k8s.io/v1", "VolumeSnapshotContent"],
  ["v1", "PersistentVolume"],
] as const;

async function whatStays({ crds, rows }: InstallPlan, resources: Resources): Promise<readonly string[]> {
  const lines = [];
  for (const crd of crds)
    if ((await resources.read(crd)) !== undefined)
      lines.push(`${describe(crd)}: delete it by hand, and all objects of its kind are deleted with it`);
  for (const [apiVersion, kind] of dataKinds) {
    const count = (await resources.list(apiVersion, kind)).length;
    if (count > 0)
      lines.push(
        `${count} ${kind}${count === 1 ? "" : "s"}; without a controller and a driver they can be neither used nor deleted`,
      );
  }
  for (const lease of leasesOf({ rows }))
    if ((await resources.read(lease)) !== undefined)
      lines.push(`${describe(lease)}: the controller that is installed next takes it over`);
  for (const { data } of rows) if (data !== undefined) lines.push(data);
  return lines;
}
