/** The webhook in a cluster, under the names of the requirement document. */
import type { Addition, ComponentRow, Installation, ManifestObject } from "./component.ts";
import { claimConfiguration, snapshotConfiguration, type WebhookPlace } from "./webhook-configurations.ts";

const names = {
  deployment: "snapshot-validation-deployment",
  service: "snapshot-validation-service",
  secret: "snapshot-validation-secret",
  serviceAccount: "snapshot-webhook",
} as const;
const certificates = "/etc/webhook/certs";
/** Above 1024, because the pods do not run as root. */
const [port, statusPort] = [8_443, 8_080];

const placeIn = ({ namespace }: Installation): WebhookPlace => ({
  client: { service: { namespace, name: names.service } },
  serviceAccount: { namespace, name: names.serviceAccount },
});

export const webhookRow: ComponentRow = {
  name: "webhook",
  serviceAccount: names.serviceAccount,
  clusterRules: [
    // The default classes of a driver.
    { apiGroups: ["snapshot.storage.k8s.io"], resources: ["volumesnapshotclasses"], verbs: ["get", "list", "watch"] },
  ],
  namespaceRules: [
    // A dry run shows whether the API server keeps the namespace of a data source.
    { apiGroups: [""], resources: ["persistentvolumeclaims"], verbs: ["create"] },
  ],
  workload: {
    name: names.deployment,
    app: "snapshot-validation",
    replicas: 3,
    terminationGracePeriodSeconds: 30,
    container: {
      args: [
        "webhook",
        `--tls-cert-file=${certificates}/tls.crt`,
        `--tls-private-key-file=${certificates}/tls.key`,
        `--port=${port}`,
        `--http-endpoint=:${statusPort}`,
      ],
      ports: [
        { name: "https", containerPort: port },
        { name: "http", containerPort: statusPort },
      ],
      volumeMounts: [{ name: "webhook-certs", mountPath: certificates, readOnly: true }],
      memory: ["128Mi", "512Mi"],
    },
    volumes: [
      {
        name: "webhook-certs",
        secret: {
          secretName: names.secret,
          // Not the key of the authority, which lies in the same Secret.
          items: ["tls.crt", "tls.key"].map((key) => ({ key, path: key })),
        },
      },
    ],
  },
  service: { name: names.service, port: 443, targetPort: "https" },
  others: (installation) => [
    { path: "snapshots.yaml", objects: [snapshotConfiguration(placeIn(installation)) as unknown as ManifestObject] },
  ],
  additions: (installation): readonly Addition[] => [
    {
      folder: "claims",
      why: "Checks the data sources of claims. Apply it when the webhook is ready: claims with a data source are refused while it is not.",
      files: [
        { path: "claims.yaml", objects: [claimConfiguration(placeIn(installation)) as unknown as ManifestObject] },
      ],
    },
    {
      folder: "on-control-plane",
      why: "The same webhook, next to the API server where the cluster has room there: it saves a hop in the network.",
      patch: onControlPlane(installation),
    },
  ],
};

const controlPlane = "node-role.kubernetes.io/control-plane";

const onControlPlane = ({ namespace }: Installation): ManifestObject => {
  const preference = { matchExpressions: [{ key: controlPlane, operator: "Exists" }] };
  const patch = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: names.deployment, namespace },
    spec: {
      template: {
        spec: {
          affinity: {
            nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, preference }] },
          },
          tolerations: [{ key: controlPlane, operator: "Exists", effect: "NoSchedule" }],
        },
      },
    },
  };
  return patch;
};
