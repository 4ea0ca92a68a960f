/** Whole objects that the real API server accepts, of every kind that the webhook for shares judges, with given volumes. */
import type { JsonObject } from "../../../src/base/json.ts";

export type Volumes = readonly JsonObject[];

export interface JudgedKind {
  readonly kind: string;
  readonly apiVersion: string;
  readonly plural: string;
  /** Whether the API server itself lets the volumes change. */
  readonly isMutable: boolean;
  body(volumes: Volumes): JsonObject;
}

const labels = { app: "x" };
const podSpec = (volumes: Volumes): JsonObject => ({
  containers: [{ name: "main", image: "busybox" }],
  volumes: [...volumes],
});
const template = (volumes: Volumes, more: JsonObject = {}): JsonObject => ({
  metadata: { labels },
  spec: { ...podSpec(volumes), ...more },
});
const selected = (volumes: Volumes): JsonObject => ({ selector: { matchLabels: labels }, template: template(volumes) });
const job = (volumes: Volumes): JsonObject => ({
  suspend: true,
  template: template(volumes, { restartPolicy: "Never" }),
});
const strategy = (name: string, volumes: Volumes): JsonObject => ({
  strategy: {
    [name]: {
      volumes: volumes.map(({ name: volume = "", ...source }) => ({
        name: volume,
        mounts: [{ destinationPath: "/x" }],
        source: { type: "CSI", ...source },
      })),
    },
  },
});

const kind = (
  apiVersion: string,
  name: string,
  spec: (volumes: Volumes) => JsonObject,
  isMutable = true,
): JudgedKind => ({
  kind: name,
  apiVersion,
  plural: `${name.toLowerCase()}s`,
  isMutable,
  body: (volumes) => ({ apiVersion, kind: name, spec: spec(volumes) }),
});

/** The one kind without a spec. */
const podTemplate: JudgedKind = {
  ...kind("v1", "PodTemplate", template),
  body: (volumes) => ({ apiVersion: "v1", kind: "PodTemplate", template: template(volumes) }),
};

export const judgedKinds: readonly JudgedKind[] = [
  kind("v1", "Pod", podSpec, false),
  podTemplate,
  kind("v1", "ReplicationController", (volumes) => ({ replicas: 0, selector: labels, template: template(volumes) })),
  kind("apps/v1", "Deployment", (volumes) => ({ replicas: 0, ...selected(volumes) })),
  kind("apps/v1", "DaemonSet", selected),
  kind("apps/v1", "StatefulSet", (volumes) => ({ replicas: 0, serviceName: "x", ...selected(volumes) })),
  kind("apps/v1", "ReplicaSet", (volumes) => ({ replicas: 0, ...selected(volumes) })),
  kind("batch/v1", "Job", job, false),
  kind("batch/v1", "CronJob", (volumes) => ({
    schedule: "0 0 1 1 *",
    suspend: true,
    jobTemplate: { spec: job(volumes) },
  })),
  kind("apps.openshift.io/v1", "DeploymentConfig", (volumes) => ({ template: template(volumes) })),
  kind("build.openshift.io/v1", "Build", (volumes) => strategy("dockerStrategy", volumes)),
  kind("build.openshift.io/v1", "BuildConfig", (volumes) => strategy("sourceStrategy", volumes)),
];

export const pathTo = ({ apiVersion, plural }: JudgedKind, namespace: string): string =>
  `${apiVersion === "v1" ? "/api" : "/apis"}/${apiVersion}/namespaces/${namespace}/${plural}`;

/** OpenShift's kinds, as far as the webhook sees them. */
export const stubCrds: readonly JsonObject[] = judgedKinds
  .filter(({ apiVersion }) => apiVersion.includes("openshift"))
  .map(({ kind: name, apiVersion, plural }) => {
    const [group = "", version = ""] = apiVersion.split("/");
    const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
    return {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `${plural}.${group}` },
      spec: {
        group,
        scope: "Namespaced",
        names: { kind: name, listKind: `${name}List`, plural, singular: name.toLowerCase() },
        versions: [{ name: version, served: true, storage: true, schema }],
      },
    };
  });
