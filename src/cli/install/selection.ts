/** Which components are meant, and all objects of theirs in the order in which they are applied. */
import {
  type Addition,
  type ComponentRow,
  type Installation,
  type ManifestObject,
  namespaceOf,
  object,
} from "../../api/manifests/component.ts";
import { crdObjects, manifestFiles, monitoringObjects, namespaceObjects } from "../../api/manifests/objects.ts";
import { componentRows } from "../../api/manifests/rows.ts";
import { claimConfigurationName } from "../../api/manifests/webhook-configurations.ts";
import { createVolumeCallsSuffix } from "../../api/names.ts";
import type { JsonObject } from "../../base/json.ts";
import type { PolicySubject } from "../../rules/policy-rows.ts";
import { policyObjects } from "./admission.ts";
import { labelled, ownershipOf } from "./ownership.ts";
import type { ServiceName } from "./webhook-references.ts";

/** The addition of the webhook that is chosen by a flag. */
const claimsFolder = "claims";

export const defaultComponents = componentRows.filter(({ isDefault }) => isDefault).map(({ name }) => name);

/** One line with the remedy for names that are no component. */
export function selectionProblem(names: readonly string[]): string | undefined {
  const unknown = names.find((name) => componentRows.every((row) => row.name !== name));
  if (names.length === 0) return `--components names none; for example --components=${defaultComponents.join(",")}`;
  return unknown === undefined
    ? undefined
    : `--components: there is no component ${JSON.stringify(unknown)}; there are ${componentRows.map(({ name }) => name).join(", ")}`;
}

export interface InstallPlan {
  readonly rows: readonly ComponentRow[];
  readonly installation: Installation;
  readonly crds: readonly ManifestObject[];
  readonly namespaces: readonly ManifestObject[];
  /** Ordered by component; after them the admission policies, if there are any. */
  readonly parts: readonly (readonly ManifestObject[])[];
  /** In the order in which they are applied. */
  readonly objects: readonly ManifestObject[];
}

export interface PlanOptions {
  /** Also the webhook configuration for the data sources of claims. */
  readonly claims?: boolean;
  /** What there are admission policies for. */
  readonly policies?: readonly PolicySubject[];
}

export function planFor(
  names: readonly string[],
  installation: Installation,
  { claims = false, policies = [] }: PlanOptions = {},
): InstallPlan {
  const rows = componentRows.filter(({ name }) => names.includes(name));
  const own = (objects: readonly ManifestObject[]) => objects.map((object) => labelled(object, installation));
  const partsOfRows = rows.map((row) =>
    own([
      ...manifestFiles(row, installation).flatMap(({ objects }) => objects),
      ...chosenObjects(row, installation, ({ folder, neededBy = [] }) =>
        folder === claimsFolder ? claims : neededBy.some((name) => names.includes(name)),
      ),
      ...monitoringObjects(row, installation),
    ]),
  );
  const parts =
    policies.length === 0 ? partsOfRows : [...partsOfRows, own(policyObjects(installation.namespace, policies))];
  return {
    rows,
    installation,
    crds: own(crdObjects(rows, installation)),
    namespaces: own(namespaceObjects(rows, installation)),
    parts,
    objects: [...parts.flat().filter((one) => !refusesUntilReady(one)), ...parts.flat().filter(refusesUntilReady)],
  };
}

/** It has failurePolicy Fail: requests would be refused until the webhook answers. */
export const refusesUntilReady = ({ metadata: { name } }: ManifestObject): boolean => name === claimConfigurationName;

/** Whether a stored object is of this installation: then it is kept in step, also without being asked for. */
export const isKept = (stored: JsonObject | undefined, { namespace, driverNamespace }: Installation): boolean =>
  ["own", "unlabelled"].includes(ownershipOf(stored, { namespace, driverNamespace }, new Set()).kind);

const chosenObjects = (row: ComponentRow, installation: Installation, isChosen: (addition: Addition) => boolean) =>
  row
    .additions(installation)
    .filter(isChosen)
    .flatMap(({ files = [] }) => files.flatMap(({ objects }) => objects));

export const objectsOf = ({ crds, namespaces, objects }: InstallPlan): readonly ManifestObject[] => [
  ...crds,
  ...namespaces,
  ...objects,
];

export const describe = ({ kind, metadata: { namespace, name } }: ManifestObject): string =>
  namespace === undefined ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;

/** What has pods. */
export const isWorkload = ({ kind }: ManifestObject): boolean => kind === "Deployment" || kind === "DaemonSet";

export const servicesOf = (objects: readonly ManifestObject[]): readonly ServiceName[] =>
  objects
    .filter(({ kind }) => kind === "Service")
    .map(({ metadata: { name, namespace = "default" } }) => ({ name, namespace }));

/** The parts with the Secrets of certificates, which are no manifests: `snapkeep certs` makes them. */
export const partsWithSecrets = ({ rows, parts, installation }: InstallPlan): InstallPlan["parts"] =>
  parts.map((part, index) => {
    const row = rows[index];
    if (row?.certificateSecret === undefined) return part;
    const metadata = { name: row.certificateSecret, namespace: namespaceOf(row, installation) };
    return [object("v1", "Secret", { metadata }), ...part];
  });

export interface Election {
  readonly lease: ManifestObject;
  /** Whose pods hold it. */
  readonly workload: ManifestObject;
}

/** The leases by which replicas of the components, and of their sidecars, choose a leader. */
export const electionsOf = ({ rows, parts, installation }: InstallPlan): readonly Election[] =>
  rows.flatMap((row, index) => {
    const workload = parts[index]?.find(isWorkload);
    if (workload === undefined) return [];
    return row.namespaceRules
      .filter(({ resources }) => resources?.includes("leases"))
      .filter(({ forRenewal }) => forRenewal === undefined || installation.certificates === "self")
      .flatMap(({ resourceNames = [], namespace = namespaceOf(row, installation) }) =>
        resourceNames
          .filter((name) => !name.endsWith(createVolumeCallsSuffix))
          .map((name) => ({
            lease: object("coordination.k8s.io/v1", "Lease", { metadata: { name, namespace } }),
            workload,
          })),
      );
  });

/** Those in namespaces that are not the installation's: they do not go with their namespace. */
export const leasesOf = (plan: InstallPlan): readonly ManifestObject[] => {
  const own = plan.namespaces.map(({ metadata }) => metadata.name);
  return electionsOf(plan)
    .map(({ lease }) => lease)
    .filter(({ metadata: { namespace = "" } }) => !own.includes(namespace));
};
