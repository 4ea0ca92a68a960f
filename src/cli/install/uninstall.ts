/** `snapkeep install --uninstall`: pods end, then the rest of what was applied goes; definitions and data stay, and are named. */
import type { ManifestObject } from "../../api/manifests/component.ts";
import { namespaceOf, object } from "../../api/manifests/component.ts";
import { ownedLabel } from "../../api/manifests/objects.ts";
import type { JsonObject } from "../../base/json.ts";
import { at } from "./existing.ts";
import type { Resources } from "./resources.ts";
import type { Waiting } from "./rollout.ts";
import { describe, type InstallPlan, isWorkload } from "./selection.ts";

export interface UninstallContext {
  readonly resources: Resources;
  readonly waiting: Waiting;
  say(line: string): void;
}

export async function uninstallAll(plan: InstallPlan, context: UninstallContext): Promise<void> {
  const { resources, say } = context;
  const objects = [...plan.objects.toReversed(), ...secretsOf(plan)];
  const workloads = objects.filter(isWorkload);
  let removed = 0;
  const remove = async (items: readonly ManifestObject[], isForeground = false): Promise<void> => {
    for (const item of items) if (await resources.remove(item, { isForeground })) removed += 1;
  };
  // Without its webhook, a configuration with failurePolicy Fail would refuse requests.
  await remove(objects.filter(isConfiguration));
  await remove(workloads, true);
  await untilEnded(workloads, context);
  await remove(objects.filter((item) => !isConfiguration(item) && !isWorkload(item)));
  say(`${removed} objects deleted`);
  for (const namespace of plan.namespaces) await removeNamespace(namespace, resources, say);
  for (const line of await whatStays(plan, resources)) say(`stays: ${line}`);
}

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

const secretsOf = ({ rows, installation }: InstallPlan): readonly ManifestObject[] =>
  rows.flatMap((row) =>
    row.certificateSecret === undefined
      ? []
      : [
          object("v1", "Secret", {
            metadata: { name: row.certificateSecret, namespace: namespaceOf(row, installation) },
          }),
        ],
  );

/** Only one that an installation has created, and that holds no pods and claims of others. */
async function removeNamespace(namespace: ManifestObject, resources: Resources, say: (line: string) => void) {
  const stored = await resources.read(namespace);
  if (stored === undefined) return;
  const { name } = namespace.metadata;
  const [label = "", value] = Object.entries(ownedLabel)[0] ?? [];
  if (at(stored, "metadata", "labels", label) !== value)
    return say(`stays: ${describe(namespace)}, which was there before`);
  const isForeign = (item: JsonObject): boolean =>
    at(item, "metadata", "namespace") === name && at(item, "metadata", "labels", label) !== value;
  const foreign = [
    ...(await resources.list("v1", "Pod")),
    ...(await resources.list("v1", "PersistentVolumeClaim")),
    ...(await resources.list("apps/v1", "Deployment")),
    ...(await resources.list("apps/v1", "DaemonSet")),
  ].filter(isForeign);
  if (foreign.length > 0) return say(`stays: ${describe(namespace)}, which has ${foreign.length} objects of others`);
  await resources.remove(namespace);
  say(`${describe(namespace)} deleted`);
}

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
  for (const lease of leasesElsewhere(rows))
    if ((await resources.read(lease)) !== undefined)
      lines.push(`${describe(lease)}: the controller that is installed next takes it over`);
  for (const { data } of rows) if (data !== undefined) lines.push(data);
  return lines;
}

/** Leases in namespaces that are not the installation's: those do not go with their namespace. */
const leasesElsewhere = (rows: InstallPlan["rows"]): readonly ManifestObject[] =>
  rows.flatMap(({ namespaceRules }) =>
    namespaceRules.flatMap(({ resources, resourceNames = [], namespace }) =>
      namespace !== undefined && resources?.includes("leases")
        ? resourceNames.map((name) => object("coordination.k8s.io/v1", "Lease", { metadata: { name, namespace } }))
        : [],
    ),
  );
