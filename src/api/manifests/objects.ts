/** The objects that follow from a component's row, in the order in which they are applied. */
import type { Namespace, Service, ServiceAccount } from "kubernetes-types/core/v1.js";
import type { NetworkPolicy } from "kubernetes-types/networking/v1.js";
import type { PodDisruptionBudget } from "kubernetes-types/policy/v1.js";
import type {
  ClusterRole,
  ClusterRoleBinding,
  PolicyRule,
  Role,
  RoleBinding,
  Subject,
} from "kubernetes-types/rbac/v1.js";
import type { ComponentRow, Installation, ManifestFile, ManifestObject, Right, ServiceRow } from "./component.ts";
import { labelsOf, namespaceOf, object } from "./component.ts";
import { metricsServiceName, prometheusRule, serviceMonitor } from "./monitoring.ts";
import { workloadObject } from "./workload.ts";

/** Namespaces that an installation has created, and may delete, have this label. */
export const ownedLabel = { "app.kubernetes.io/name": "snapkeep" };
const rbac = "rbac.authorization.k8s.io";

/** There is one namespace for all restricted pods, and one for the others if the rows need one. */
export function namespaceObjects(rows: readonly ComponentRow[], installation: Installation): readonly ManifestObject[] {
  const levels = new Map(
    rows.map((row) => [
      namespaceOf(row, installation),
      row.workload.unrestricted === undefined ? "restricted" : "privileged",
    ]),
  );
  return [...levels].map(([name, level]) => {
    const labels = [
      ...["enforce", "audit", "warn"].map((mode) => [`pod-security.kubernetes.io/${mode}`, level]),
      // The webhook for shares and its driver must be able to start while the webhook is down.
      ["csi.sharedresource.openshift.io/skip-validation", "true"],
    ];
    return object<Namespace>("v1", "Namespace", {
      metadata: { name, labels: { ...ownedLabel, ...Object.fromEntries(labels) } },
    });
  });
}

/** The release that a definition comes from: an older one does not replace it. */
export const versionAnnotation = "snapkeep.dev/version";

export const crdObjects = (
  rows: readonly ComponentRow[],
  { version }: Pick<Installation, "version">,
): readonly ManifestObject[] => {
  const byName = new Map(rows.flatMap((row) => row.crds?.() ?? []).map((crd) => [crd.metadata.name, crd]));
  return [...byName.values()].map((crd) => {
    const { annotations = {} } = crd.metadata as { readonly annotations?: Readonly<Record<string, string>> };
    return { ...crd, metadata: { ...crd.metadata, annotations: { ...annotations, [versionAnnotation]: version } } };
  });
};

/** All files of a component but its namespace and its CRDs, which components share. */
export const manifestFiles = (row: ComponentRow, installation: Installation): readonly ManifestFile[] => [
  { path: "rbac.yaml", objects: accessObjects(row, installation) },
  {
    path: "workload.yaml",
    objects: [workloadObject(row, installation), ...disruptionBudget(row, installation)],
  },
  { path: "service.yaml", objects: serviceObjects(row, installation) },
  { path: "networkpolicy.yaml", objects: [networkPolicy(row, installation)] },
  ...row.others(installation),
];

/** These are kinds of the Prometheus operator: they are left out where the cluster does not serve them. */
export const monitoringObjects = (row: ComponentRow, installation: Installation): readonly ManifestObject[] => [
  serviceMonitor(row, installation),
  ...prometheusRule(row, installation),
];

const plainRule = ({ why: _, namespace: _place, forRenewal: _renewal, ...rule }: Right): PolicyRule => rule;

/** Sidecars of one pod share a service account, and may need the same. */
function distinct(rights: readonly Right[]): PolicyRule[] {
  const rules = new Map(rights.map((right) => [JSON.stringify(plainRule(right)), plainRule(right)]));
  return [...rules.values()];
}

function accessObjects(row: ComponentRow, installation: Installation): readonly ManifestObject[] {
  const { serviceAccount: name } = row;
  const isGiven = ({ forRenewal }: Right): boolean => forRenewal === undefined || installation.certificates === "self";
  const [clusterRules, namespaceRules] = [row.clusterRules.filter(isGiven), row.namespaceRules.filter(isGiven)];
  const labels = labelsOf(row);
  const namespace = namespaceOf(row, installation);
  const subjects: Subject[] = [{ kind: "ServiceAccount", name, namespace }];
  // The replaced programs have the same accounts, and roles named after them: both installations are there during a swap.
  const inCluster = `snapkeep-${name}`;
  const places = Map.groupBy(namespaceRules, (right) => right.namespace ?? namespace);
  return [
    object<ServiceAccount>("v1", "ServiceAccount", { metadata: { name, namespace, labels } }),
    object<ClusterRole>(`${rbac}/v1`, "ClusterRole", {
      metadata: { name: inCluster, labels },
      rules: distinct(clusterRules),
    }),
    object<ClusterRoleBinding>(`${rbac}/v1`, "ClusterRoleBinding", {
      metadata: { name: inCluster, labels },
      subjects,
      roleRef: { kind: "ClusterRole", name: inCluster, apiGroup: rbac },
    }),
    ...[...places].flatMap(([place, rights]) => [
      object<Role>(`${rbac}/v1`, "Role", { metadata: { name, namespace: place, labels }, rules: distinct(rights) }),
      object<RoleBinding>(`${rbac}/v1`, "RoleBinding", {
        metadata: { name, namespace: place, labels },
        subjects,
        roleRef: { kind: "Role", name, apiGroup: rbac },
      }),
    ]),
  ];
}

function disruptionBudget(row: ComponentRow, installation: Installation): readonly ManifestObject[] {
  const { name, app, runs } = row.workload;
  // The only pod could never be evicted, and pods of every node are not evicted at all.
  if (runs.kind !== "replicas") return [];
  return [
    object<PodDisruptionBudget>("policy/v1", "PodDisruptionBudget", {
      metadata: { name, namespace: namespaceOf(row, installation), labels: labelsOf(row) },
      spec: {
        maxUnavailable: 1,
        // Pods that never became ready must not keep a node from being drained.
        unhealthyPodEvictionPolicy: "AlwaysAllow",
        selector: { matchLabels: { app } },
      },
    }),
  ];
}

/** OpenShift writes a certificate for the Service into the Secret that this names. */
const servingCertificate = "service.beta.openshift.io/serving-cert-secret-name";

function serviceObjects(row: ComponentRow, installation: Installation): readonly ManifestObject[] {
  const namespace = namespaceOf(row, installation);
  const selector = { app: row.workload.app };
  const labels = labelsOf(row);
  const statusPorts = row.workload.containers.map(({ statusPort, ports }) => ({
    name: statusPort,
    protocol: "TCP",
    port: ports.find(({ name }) => name === statusPort)?.containerPort ?? 0,
    targetPort: statusPort,
  }));
  const overTls = row.workload.containers.flatMap(({ tlsStatus }) => tlsStatus ?? []);
  const tlsPorts = overTls.map(({ port }) => ({ name: port, protocol: "TCP", port: 443, targetPort: port }));
  const annotations = Object.fromEntries(overTls.map(({ secret }) => [servingCertificate, secret]));
  return [
    ...(row.service === undefined ? [] : [serviceObject(row, row.service, namespace)]),
    object<Service>("v1", "Service", {
      metadata: {
        name: metricsServiceName(row),
        namespace,
        labels: { ...labels, "snapkeep.dev/service": "metrics" },
        ...(overTls.length === 0 ? {} : { annotations }),
      },
      spec: { selector, ports: [...statusPorts, ...tlsPorts] },
    }),
  ];
}

const serviceObject = (row: ComponentRow, { name, port, targetPort }: ServiceRow, namespace: string) =>
  object<Service>("v1", "Service", {
    metadata: { name, namespace, labels: labelsOf(row) },
    spec: { selector: { app: row.workload.app }, ports: [{ name: targetPort, protocol: "TCP", port, targetPort }] },
  });

/**
 * Only the ports that are served can be reached. Outgoing connections are not limited: they go to the API server, whose address no
 * selector can name.
 */
function networkPolicy(row: ComponentRow, installation: Installation): ManifestObject {
  const { name, app, containers } = row.workload;
  const ports = containers.flatMap((container) => container.ports.map((port) => port.name ?? ""));
  return object<NetworkPolicy>("networking.k8s.io/v1", "NetworkPolicy", {
    metadata: { name, namespace: namespaceOf(row, installation), labels: labelsOf(row) },
    spec: {
      podSelector: { matchLabels: { app } },
      policyTypes: ["Ingress"],
      ingress: [{ ports: ports.map((port) => ({ protocol: "TCP", port })) }],
    },
  });
}
