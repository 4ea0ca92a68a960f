/**
 * A component as it is installed in a cluster: one row per component, and the objects that follow from it. `npm run docs` writes them
 * to deploy/. Pure, so that tests and tools use the same objects.
 */
import type { Deployment } from "kubernetes-types/apps/v1.js";
import type {
  Container,
  Namespace,
  PodSpec,
  SecurityContext,
  Service,
  ServiceAccount,
} from "kubernetes-types/core/v1.js";
import type { PodDisruptionBudget } from "kubernetes-types/policy/v1.js";
import type {
  ClusterRole,
  ClusterRoleBinding,
  PolicyRule,
  Role,
  RoleBinding,
  Subject,
} from "kubernetes-types/rbac/v1.js";

/** Where a component is installed, and from which image. */
export interface Installation {
  readonly namespace: string;
  readonly image: string;
}

export interface ManifestObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

/** A file below the folder of the component, and the objects in it. */
export interface ManifestFile {
  readonly path: string;
  readonly objects: readonly ManifestObject[];
}

export interface ComponentRow {
  /** Folder below deploy/. */
  readonly name: string;
  readonly serviceAccount: string;
  /** What the service account may do in the whole cluster. */
  readonly clusterRules: readonly PolicyRule[];
  /** What it may do in its own namespace only. */
  readonly namespaceRules: readonly PolicyRule[];
  readonly workload: Workload;
  readonly service?: ServiceRow;
  /** Objects that belong to this component alone; they are applied together with the workload. */
  readonly others: (installation: Installation) => readonly ManifestFile[];
  /** What a cluster administrator may add or choose instead: folders beside that of the component. */
  readonly additions: (installation: Installation) => readonly Addition[];
}

interface Workload {
  readonly name: string;
  readonly app: string;
  readonly replicas: number;
  readonly container: Pick<Container, "args" | "ports" | "volumeMounts"> & {
    /** Requested, and the limit. */
    readonly memory: readonly [request: string, limit: string];
  };
  readonly volumes: NonNullable<PodSpec["volumes"]>;
  /** Must be longer than the time that the component goes on serving after SIGTERM. */
  readonly terminationGracePeriodSeconds: number;
}

interface ServiceRow {
  readonly name: string;
  readonly port: number;
  /** Name of a container port. */
  readonly targetPort: string;
}

/** Either a patch of the component, or objects of its own. */
export interface Addition {
  /** Follows the name of the component: kustomize refuses a folder that includes the one it lies in. */
  readonly folder: string;
  readonly why: string;
  readonly patch?: ManifestObject;
  readonly files?: readonly ManifestFile[];
}

/** What the Pod Security Standard "restricted" asks for. */
const restricted = {
  pod: { runAsNonRoot: true, runAsUser: 65_532, runAsGroup: 65_532, seccompProfile: { type: "RuntimeDefault" } },
  container: {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  } satisfies SecurityContext,
} as const;

const labelsOf = ({ name, workload }: ComponentRow): Record<string, string> => ({
  app: workload.app,
  "app.kubernetes.io/name": "snapkeep",
  "app.kubernetes.io/component": name,
});

export const namespaceObject = ({ namespace }: Installation): ManifestObject => {
  const level = "restricted";
  return object<Namespace>("v1", "Namespace", {
    metadata: {
      name: namespace,
      labels: Object.fromEntries(
        ["enforce", "audit", "warn"].map((mode) => [`pod-security.kubernetes.io/${mode}`, level]),
      ),
    },
  });
};

/** All objects of a component, in the order in which they are applied. */
export const manifestFiles = (row: ComponentRow, installation: Installation): readonly ManifestFile[] => [
  { path: "namespace.yaml", objects: [namespaceObject(installation)] },
  { path: "rbac.yaml", objects: accessObjects(row, installation) },
  { path: "deployment.yaml", objects: [deployment(row, installation), disruptionBudget(row, installation)] },
  ...(row.service === undefined
    ? []
    : [{ path: "service.yaml", objects: [serviceObject(row, row.service, installation)] }]),
  ...row.others(installation),
];

function accessObjects(row: ComponentRow, { namespace }: Installation): readonly ManifestObject[] {
  const { serviceAccount: name, clusterRules, namespaceRules } = row;
  const labels = labelsOf(row);
  const group = "rbac.authorization.k8s.io";
  const subjects: Subject[] = [{ kind: "ServiceAccount", name, namespace }];
  const inCluster = `${name}-runner`;
  return [
    object<ServiceAccount>("v1", "ServiceAccount", { metadata: { name, namespace, labels } }),
    object<ClusterRole>(`${group}/v1`, "ClusterRole", {
      metadata: { name: inCluster, labels },
      rules: [...clusterRules],
    }),
    object<ClusterRoleBinding>(`${group}/v1`, "ClusterRoleBinding", {
      metadata: { name: `${name}-role`, labels },
      subjects,
      roleRef: { kind: "ClusterRole", name: inCluster, apiGroup: group },
    }),
    object<Role>(`${group}/v1`, "Role", { metadata: { name, namespace, labels }, rules: [...namespaceRules] }),
    object<RoleBinding>(`${group}/v1`, "RoleBinding", {
      metadata: { name, namespace, labels },
      subjects,
      roleRef: { kind: "Role", name, apiGroup: group },
    }),
  ];
}

/** Three pods on one node are one: they are spread over nodes and zones as far as the cluster allows. */
const spreadOver = (topologyKey: string, app: string) => ({
  maxSkew: 1,
  topologyKey,
  whenUnsatisfiable: "ScheduleAnyway",
  labelSelector: { matchLabels: { app } },
});

function deployment(row: ComponentRow, { namespace, image }: Installation): ManifestObject {
  const { workload, serviceAccount: serviceAccountName } = row;
  const { app, replicas, volumes, terminationGracePeriodSeconds } = workload;
  const {
    memory: [memory, memoryMax],
    ...container
  } = workload.container;
  return object<Deployment>("apps/v1", "Deployment", {
    metadata: { name: workload.name, namespace, labels: labelsOf(row) },
    spec: {
      replicas,
      selector: { matchLabels: { app } },
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
      template: {
        metadata: { labels: labelsOf(row) },
        spec: {
          serviceAccountName,
          securityContext: restricted.pod,
          terminationGracePeriodSeconds,
          topologySpreadConstraints: [
            spreadOver("kubernetes.io/hostname", app),
            spreadOver("topology.kubernetes.io/zone", app),
          ],
          containers: [
            {
              name: app,
              image,
              ...container,
              livenessProbe: { httpGet: { path: "/healthz", port: "http" }, periodSeconds: 20 },
              readinessProbe: { httpGet: { path: "/readyz", port: "http" }, periodSeconds: 2 },
              resources: { requests: { cpu: "50m", memory }, limits: { memory: memoryMax } },
              securityContext: restricted.container,
            },
          ],
          volumes,
        },
      },
    },
  });
}

function disruptionBudget(row: ComponentRow, { namespace }: Installation): ManifestObject {
  const { name, app } = row.workload;
  return object<PodDisruptionBudget>("policy/v1", "PodDisruptionBudget", {
    metadata: { name, namespace, labels: labelsOf(row) },
    spec: {
      maxUnavailable: 1,
      // Pods that never became ready must not keep a node from being drained.
      unhealthyPodEvictionPolicy: "AlwaysAllow",
      selector: { matchLabels: { app } },
    },
  });
}

const serviceObject = (row: ComponentRow, { name, port, targetPort }: ServiceRow, { namespace }: Installation) =>
  object<Service>("v1", "Service", {
    metadata: { name, namespace, labels: labelsOf(row) },
    spec: { selector: { app: row.workload.app }, ports: [{ name: targetPort, protocol: "TCP", port, targetPort }] },
  });

/** Typed by Kubernetes' own types, so that a field that does not exist does not compile. */
const object = <T extends { metadata?: object }>(
  apiVersion: string,
  kind: string,
  body: Omit<T, "apiVersion" | "kind">,
): ManifestObject => ({ apiVersion, kind, ...body }) as unknown as ManifestObject;
