/**
 * What an uninstallation deletes, and in which order: webhook configurations first, because they would refuse requests once their Service
 * is gone, and admission policies; then pods, which need their rights to release their leases; then the rest, and the namespaces that nobody uses any more.
 * Objects of others, definitions and data stay, and are named. Pure.
 */
import type { ComponentRow, ManifestObject } from "../../api/manifests/component.ts";
import type { CodedMessage } from "../../api/plan.ts";
import type { JsonObject } from "../../base/json.ts";
import { withCode } from "../../errors/codes.ts";
import { isPolicyObject } from "./admission.ts";
import { at } from "./fields.ts";
import { type Found, type Judged, judgeParts, ownerOf } from "./judge.ts";
import { isOfSnapkeep, namespacesNamedBy, ownershipOf } from "./ownership.ts";
import { isPodOf } from "./pods.ts";
import { describe, type InstallPlan, isWorkload, servicesOf } from "./selection.ts";
import { asksService, type ServiceName, withoutServices } from "./webhook-references.ts";

/** What keeps a namespace from being deleted. */
export const useKinds = [
  ["v1", "Pod"],
  ["v1", "PersistentVolumeClaim"],
  ["apps/v1", "Deployment"],
  ["apps/v1", "DaemonSet"],
  ["apps/v1", "StatefulSet"],
  ["batch/v1", "Job"],
  ["batch/v1", "CronJob"],
] as const;

/** Objects with data of users. */
export const dataKinds = [
  ["snapshot.storage.k8s.io/v1", "VolumeSnapshot"],
  ["snapshot.storage.k8s.io/v1", "VolumeSnapshotContent"],
  ["v1", "PersistentVolume"],
] as const;

export interface UninstallRead {
  readonly installation: InstallPlan["installation"];
  readonly rows: readonly Pick<ComponentRow, "data">[];
  /** Keyed by component. */
  readonly parts: readonly (readonly Found[])[];
  readonly namespaces: readonly Found[];
  readonly crds: readonly Found[];
  readonly leases: readonly Found[];
  /** These are of the whole cluster. */
  readonly configurations: readonly JsonObject[];
  readonly bindings: readonly JsonObject[];
  readonly uses: readonly JsonObject[];
  readonly data: readonly { readonly kind: string; readonly count: number }[];
}

export type UninstallAction =
  | { readonly act: "replace"; readonly object: JsonObject }
  | { readonly act: "remove"; readonly object: JsonObject }
  /** Its pods end before it is gone. */
  | { readonly act: "end"; readonly object: JsonObject }
  | { readonly act: "untilEnded"; readonly workloads: readonly ManifestObject[] }
  /** If nobody has begun to use it meanwhile. */
  | { readonly act: "removeUnused"; readonly object: JsonObject };

export interface Uninstallation {
  /** There is nothing to uninstall. */
  readonly refusal?: CodedMessage;
  /** What is kept, and why. */
  readonly kept: readonly string[];
  /** The names of what is deleted. */
  readonly deletes: readonly string[];
  readonly actions: readonly UninstallAction[];
  /** What is left in the cluster afterwards. */
  readonly left: readonly string[];
}

export function uninstallPlan(read: UninstallRead): Uninstallation {
  const judged = judgeParts(read.parts, read.installation);
  const own = judged.flatMap(({ object, stored, ownership }) =>
    stored !== undefined && (ownership.kind === "own" || ownership.kind === "unlabelled") ? [{ object, stored }] : [],
  );
  const services = servicesOf(judged.filter((one) => ownerOf(one) === undefined).map(({ object }) => object));
  const asking = read.configurations.filter((configuration) => asksService(configuration, services));
  const objects = own.map(({ stored }) => stored);
  const others = judged.flatMap((one) => (isOthers(one) && one.stored !== undefined ? [one.stored] : []));
  const namespaces = read.namespaces.map((found) => judgeNamespace(found, read, [...others, ...read.uses], objects));
  const removable = namespaces.flatMap(({ removed = [] }) => removed);
  const empty = { kept: [], deletes: [], actions: [], left: [] };
  if (own.length + asking.length + removable.length === 0) return { ...empty, refusal: nothingThere(read, judged) };

  const isAsking = ({ stored }: Stored): boolean => asking.some((one) => nameOf(one) === nameOf(stored));
  const workloads = own.filter(({ object }) => isWorkload(object));
  const rest = own.filter((one) => !isAsking(one) && !isConfiguration(one) && !isWorkload(one.object)).toReversed();
  const configurations = own.filter((one) => isConfiguration(one) && !isAsking(one));
  return {
    kept: [...judged.flatMap(keptLine), ...namespaces.flatMap(({ kept = [] }) => kept)],
    deletes: [
      ...asking.map((configuration) =>
        withoutServices(configuration, services) === undefined
          ? nameOf(configuration)
          : `the webhooks of ${nameOf(configuration)} that ask ${services.map(serviceText).join(" or ")}`,
      ),
      ...own.filter((one) => !isAsking(one)).map(({ object }) => describe(object)),
    ].concat(removable.map(nameOf)),
    actions: [
      ...asking.map((configuration): UninstallAction => {
        const shared = withoutServices(configuration, services);
        return shared === undefined ? { act: "remove", object: configuration } : { act: "replace", object: shared };
      }),
      ...configurations.map(({ stored }) => ({ act: "remove" as const, object: stored })),
      ...workloads.map(({ stored }) => ({ act: "end" as const, object: stored })),
      ...(workloads.length === 0
        ? []
        : [{ act: "untilEnded" as const, workloads: workloads.map(({ object }) => object) }]),
      ...rest.map(({ stored }) => ({ act: "remove" as const, object: stored })),
      ...removable.map((object) => ({ act: "removeUnused" as const, object })),
    ],
    left: leftLines(read),
  };
}

interface Stored {
  readonly object: ManifestObject;
  readonly stored: JsonObject;
}

/** What has a say in the requests of others. */
const isConfiguration = ({ object }: Stored): boolean =>
  object.kind.endsWith("WebhookConfiguration") || isPolicyObject(object);
const nameOf = (stored: JsonObject): string => describe(stored as unknown as ManifestObject);

const serviceText = ({ namespace, name }: ServiceName): string => `Service ${namespace}/${name}`;
const isOthers = ({ ownership }: Judged): boolean => ownership.kind === "foreign" || ownership.kind === "unclaimed";

function keptLine({ object, ownership }: Judged): readonly string[] {
  if (ownership.kind === "foreign") return [`${describe(object)}, which belongs to ${ownership.owner}`];
  return ownership.kind === "unclaimed"
    ? [`${describe(object)}, of which nothing says whose installation it is; delete it by hand if nobody uses it`]
    : [];
}

/** Only one that an installation has created, and in which nobody else works: other components of snapkeep may be in it. */
function judgeNamespace(
  { object, stored }: Found,
  { installation }: UninstallRead,
  uses: readonly JsonObject[],
  removed: readonly JsonObject[],
): { readonly kept?: readonly string[]; readonly removed?: readonly JsonObject[] } {
  if (stored === undefined) return {};
  if (ownershipOf(stored, installation, new Set()).kind === "foreign")
    return { kept: [`${describe(object)}, which was there before`] };
  const use = useOf(object, uses, removed);
  return use === undefined ? { removed: [stored] } : { kept: [use] };
}

/** Undefined: nothing is in the namespace but what is removed, and its pods. */
export function useOf(
  namespace: ManifestObject,
  uses: readonly JsonObject[],
  removed: readonly JsonObject[],
): string | undefined {
  const goes = (found: JsonObject): boolean =>
    removed.some((one) => nameOf(one) === nameOf(found) || (found.kind === "Pod" && isPodOf(found, one)));
  const others = uses.filter((found) => at(found, "metadata", "namespace") === namespace.metadata.name && !goes(found));
  const [first, ...more] = others.map(nameOf);
  if (first === undefined) return undefined;
  return `${describe(namespace)}, which is in use by ${first}${more.length === 0 ? "" : ` and ${more.length} more`}`;
}

/** A mistyped namespace is more likely than an uninstallation of nothing. */
function nothingThere(
  { installation: { namespace }, bindings }: UninstallRead,
  judged: readonly Judged[],
): CodedMessage {
  const others = [...namespacesNamedBy(bindings.filter(isOfSnapkeep))].sort();
  const there = others.length === 0 ? "" : `; there is one in ${others.join(", ")}`;
  const here = judged.find((one) => one.object.metadata.namespace === namespace && ownerOf(one) !== undefined);
  const owned = here === undefined ? "" : `; ${describe(here.object)} belongs to ${ownerOf(here)}`;
  return withCode(
    `nothing was deleted: there is no installation of these components in namespace ${namespace}${owned}${there}; give the namespace of the installation with --namespace`,
    "SNAP-805",
  );
}

function leftLines({ crds, leases, rows, data }: UninstallRead): readonly string[] {
  const there = (found: readonly Found[]) =>
    found.flatMap(({ object, stored }) => (stored === undefined ? [] : [describe(object)]));
  return [
    ...there(crds).map((name) => `${name}: delete it by hand, and all objects of its kind are deleted with it`),
    ...data.flatMap(({ kind, count }) =>
      count === 0
        ? []
        : [
            `${count} ${kind}${count === 1 ? "" : "s"}; without a controller and a driver they can be neither used nor deleted`,
          ],
    ),
    ...there(leases).map((name) => `${name}: the controller that is installed next takes it over`),
    ...rows.flatMap((row) => row.data ?? []),
  ];
}
