/** The files of deploy/, printed from the rows of src/api/manifests. */
import { stringify } from "yaml";
import type { Addition, ComponentRow, Installation, ManifestFile, ManifestObject } from "../api/manifests/component.ts";
import { namespaceOf } from "../api/manifests/component.ts";
import { alertingRule } from "../api/manifests/monitoring.ts";
import { crdObjects, manifestFiles, monitoringObjects, namespaceObjects } from "../api/manifests/objects.ts";
import { componentRows } from "../api/manifests/rows.ts";
import { policyObjects } from "./install/admission.ts";
import { chartFiles } from "./install/chart.ts";
import { dashboard } from "./install/dashboard.ts";

export const installationOf = (
  version: string,
  {
    namespace = "snapkeep",
    repository = "snapkeep",
    tag = version,
    kubeletFolder = "/var/lib/kubelet",
    certificates = "self" as Installation["certificates"],
  } = {},
): Installation => ({
  version,
  namespace,
  driverNamespace: `${namespace}-drivers`,
  image: `${repository}:${tag}`,
  driverImage: `${repository}:${tag}-driver`,
  certificates,
  kubeletFolder,
});

const policiesFolder = "admission-policies";

type Entry = readonly [path: string, text: string];

/** Path below deploy/ → text. */
export function deployFiles(installation: Installation): Readonly<Record<string, string>> {
  return Object.fromEntries([
    ...baseFolders(installation).map(([path, text]): Entry => [`kustomize/base/${path}`, text]),
    ...overlayFolders(installation).map(([path, text]): Entry => [`kustomize/overlays/${path}`, text]),
    ...Object.entries(chartFiles(componentRows, installation.version)).map(
      ([path, text]): Entry => [`helm/snapkeep/${path}`, text],
    ),
    ["monitoring/alerts.yaml", alertsFile()],
    ["monitoring/dashboard.json", `${JSON.stringify(dashboard(componentRows), undefined, 2)}\n`],
  ]);
}

const namespaceFolder = (name: string): string => `namespace-${name}`;

function baseFolders(installation: Installation): readonly Entry[] {
  const crds = crdObjects(componentRows, installation).map((crd) => ({
    path: `${crd.metadata.name}.yaml`,
    objects: [crd],
  }));
  return [
    ...folder("crds", crds, {}, "Apply these first, and wait until they are established."),
    ...namespaceObjects(componentRows, installation).flatMap((namespace) =>
      folder(namespaceFolder(namespace.metadata.name), [{ path: "namespace.yaml", objects: [namespace] }]),
    ),
    ...folder(
      policiesFolder,
      [{ path: "policies.yaml", objects: policyObjects(installation.namespace, ["snapshots", "guards"]) }],
      {},
      "The rules for snapshots without a webhook, for Kubernetes 1.30 or newer. They need nothing else.",
    ),
    ...folder(
      `${policiesFolder}-shares`,
      [{ path: "policies.yaml", objects: policyObjects(installation.namespace, ["shares"]) }],
      {},
      "The rules for shares without a webhook. They read the ConfigMaps of the allow-lists in the namespace that paramRef names.",
    ),
    ...folder(
      `${policiesFolder}-claims`,
      [{ path: "policies.yaml", objects: policyObjects(installation.namespace, ["claims"]) }],
      {},
      "The rules for data sources of claims without a webhook, for Kubernetes 1.36 or newer.",
    ),
    ...componentRows.flatMap((row) => [
      ...folder(row.name, manifestFiles(row, installation), {}, row.summary),
      ...folder(
        `${row.name}-monitoring`,
        [{ path: "monitoring.yaml", objects: monitoringObjects(row, installation) }],
        {},
        "For clusters with the Prometheus operator.",
      ),
    ]),
  ];
}

function overlayFolders(installation: Installation): readonly Entry[] {
  const defaults = componentRows.filter(({ isDefault }) => isDefault);
  return [
    ...folder("default", [], { resources: basesOf(defaults, installation) }, "What most clusters need."),
    ...folder(
      "without-webhook",
      [],
      {
        resources: [
          ...basesOf(
            defaults.filter(({ certificateSecret }) => certificateSecret === undefined),
            installation,
          ),
          `../../base/${policiesFolder}`,
        ],
      },
      "What most clusters need, with admission policies instead of the webhook.",
    ),
    ...folder("all", [], { resources: basesOf(componentRows, installation) }, "Every component."),
    ...folder(
      "monitoring",
      [],
      { resources: defaults.map(({ name }) => `../../base/${name}-monitoring`) },
      "For clusters with the Prometheus operator: what most clusters need is watched.",
    ),
    ...componentRows.flatMap((row) => [
      ...folder(row.name, [], { resources: basesOf([row], installation) }, `Only ${row.name}, with its namespace.`),
      ...row.additions(installation).flatMap((addition) => additionFolder(row, installation, addition)),
    ]),
  ];
}

const basesOf = (rows: readonly ComponentRow[], installation: Installation): readonly string[] => [
  ...new Set(rows.map((row) => `../../base/${namespaceFolder(namespaceOf(row, installation))}`)),
  ...rows.map(({ name }) => `../../base/${name}`),
];

function additionFolder(
  row: ComponentRow,
  installation: Installation,
  { folder: below, why, patch, files = [] }: Addition,
): readonly Entry[] {
  const path = `${row.name}-${below}`;
  if (patch === undefined) return folder(path, files, {}, why);
  const more = { resources: basesOf([row], installation), patches: [{ patch: yaml(patch) }] };
  return folder(path, files, more, why);
}

interface Kustomization {
  readonly resources?: readonly string[];
  readonly patches?: readonly { readonly patch: string }[];
}

function folder(
  path: string,
  files: readonly ManifestFile[],
  more: Kustomization = {},
  comment?: string,
): readonly Entry[] {
  return [
    ...files.map((file): Entry => [`${path}/${file.path}`, documents(file.objects)]),
    [`${path}/kustomization.yaml`, kustomization({ resources: files.map((file) => file.path), ...more }, comment)],
  ];
}

/** A rule file of Prometheus itself, for clusters without its operator. */
const alertsFile = (): string =>
  `${generated}${yaml({
    groups: componentRows
      .filter(({ alerts }) => alerts.length > 0)
      .map(({ name, alerts }) => ({ name: `snapkeep-${name}`, rules: alerts.map(alertingRule) })),
  })}`;

const generated = "# Written by `npm run docs` from src/api/manifests; change those.\n";
const yaml = (value: unknown): string => stringify(value, { aliasDuplicateObjects: false, lineWidth: 0 });
export const yamlDocuments = (objects: readonly ManifestObject[]): string =>
  objects.map((object) => `---\n${yaml(object)}`).join("");
const documents = (objects: readonly ManifestObject[]): string => `${generated}${yamlDocuments(objects)}`;
const kustomization = (body: Kustomization, comment?: string): string =>
  `${generated}${comment === undefined ? "" : `# ${comment}\n`}${yaml({ apiVersion: "kustomize.config.k8s.io/v1beta1", kind: "Kustomization", ...body })}`;
