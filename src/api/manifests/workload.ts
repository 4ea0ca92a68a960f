/** The Deployment or DaemonSet of a component. */
import type { DaemonSet, Deployment } from "kubernetes-types/apps/v1.js";
import type { Container, PodSpec, PodTemplateSpec, SecurityContext } from "kubernetes-types/core/v1.js";
import type { ComponentRow, ContainerRow, Installation, ManifestObject, WorkloadRow } from "./component.ts";
import { labelsOf, namespaceOf, object } from "./component.ts";

/** What the Pod Security Standard "restricted" asks for. */
const restrictedPod = {
  runAsNonRoot: true,
  runAsUser: 65_532,
  runAsGroup: 65_532,
  seccompProfile: { type: "RuntimeDefault" },
} satisfies PodSpec["securityContext"];
/** The sidecars of a driver run as root too: only the owner of the driver's socket can connect to it. */
const rootPod = { runAsUser: 0, runAsGroup: 0, seccompProfile: { type: "RuntimeDefault" } };

const restrictedContainer = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ["ALL"] },
} satisfies SecurityContext;
const privilegedContainer = { privileged: true, readOnlyRootFilesystem: true } satisfies SecurityContext;

export function workloadObject(row: ComponentRow, installation: Installation): ManifestObject {
  const { name, app, runs } = row.workload;
  const metadata = { name, namespace: namespaceOf(row, installation), labels: labelsOf(row) };
  const selector = { matchLabels: { app } };
  const template = podTemplate(row, installation);
  if (runs.kind === "node")
    return object<DaemonSet>("apps/v1", "DaemonSet", {
      metadata,
      spec: { selector, updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1 } }, template },
    });
  const isSingle = runs.kind === "single";
  return object<Deployment>("apps/v1", "Deployment", {
    metadata,
    spec: {
      replicas: isSingle ? 1 : runs.count,
      selector,
      // An old pod ends only when a new one is ready, and a ready one looks at the lease. The old pods that are left leave a released
      // lease to the new ones (kube/lease-record.ts), so that it changes hands once per roll, whichever pod ends first.
      strategy: isSingle
        ? { type: "Recreate" }
        : { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: "100%" } },
      template,
    },
  });
}

function podTemplate(row: ComponentRow, installation: Installation): PodTemplateSpec {
  const { workload, serviceAccount: serviceAccountName } = row;
  const { containers, terminationGracePeriodSeconds } = workload;
  return {
    metadata: { labels: labelsOf(row) },
    spec: {
      serviceAccountName,
      securityContext: workload.unrestricted === undefined ? restrictedPod : rootPod,
      terminationGracePeriodSeconds,
      ...placement(workload),
      containers: containers.map((container) => containerObject(container, installation)),
      volumes: [...workload.volumes(installation)],
    },
  };
}

function containerObject(row: ContainerRow, installation: Installation): Container {
  const { name, hasPrograms, env, ports, statusPort, isPrivileged } = row;
  const [memory, memoryMax] = row.memory;
  const volumeMounts = [...row.volumeMounts(installation)];
  return {
    name,
    image: hasPrograms === true ? installation.driverImage : installation.image,
    args: [...row.args(installation)],
    ...(env === undefined ? {} : { env }),
    ports: [...ports],
    ...(volumeMounts.length === 0 ? {} : { volumeMounts }),
    livenessProbe: { httpGet: { path: "/healthz", port: statusPort }, periodSeconds: 20 },
    readinessProbe: { httpGet: { path: "/readyz", port: statusPort }, periodSeconds: 2 },
    resources: { requests: { cpu: "50m", memory }, limits: { memory: memoryMax } },
    securityContext: isPrivileged === true ? privilegedContainer : restrictedContainer,
  };
}

/** Three pods on one node are one: replicas are spread over nodes and zones as far as the cluster allows. */
function placement({ runs, app }: WorkloadRow): Partial<PodSpec> {
  if (runs.kind === "single") return {};
  if (runs.kind === "node") return { priorityClassName: "system-node-critical", tolerations: [{ operator: "Exists" }] };
  const over = (topologyKey: string) => ({
    maxSkew: 1,
    topologyKey,
    whenUnsatisfiable: "ScheduleAnyway",
    labelSelector: { matchLabels: { app } },
  });
  return { topologySpreadConstraints: [over("kubernetes.io/hostname"), over("topology.kubernetes.io/zone")] };
}
