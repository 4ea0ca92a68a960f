/** The webhook in a cluster, under the names of the requirement document. */

import type { JsonObject } from "../../base/json.ts";
import { allowListRight } from "./allow-lists.ts";
import { certManagerObjects, injected } from "./cert-manager.ts";
import type { Addition, ComponentRow, Installation, ManifestFile, ManifestObject } from "./component.ts";
import { leaseRights } from "./rights.ts";
import {
  claimConfiguration,
  claimConfigurationName,
  shareConfiguration,
  shareConfigurationName,
  snapshotConfiguration,
  snapshotConfigurationName,
  type WebhookPlace,
} from "./webhook-configurations.ts";

const names = {
  deployment: "snapshot-validation-deployment",
  service: "snapshot-validation-service",
  secret: "snapshot-validation-secret",
  serviceAccount: "snapshot-webhook",
} as const;
/** Its holder renews the certificates. */
export const certificateLease = "snapshot-webhook-certificates";
const certificates = "/etc/webhook/certs";
/** Above 1024, because the pods do not run as root. */
const [port, statusPort] = [8_443, 8_080];

const placeIn = ({ namespace }: Installation): WebhookPlace => ({
  client: { service: { namespace, name: names.service } },
});

/** Where cert-manager renews, it also writes the caBundle. */
const configured = ({ certificates, namespace }: Installation, draft: JsonObject): readonly [ManifestObject] => [
  (certificates === "self" ? draft : injected(draft, namespace)) as unknown as ManifestObject,
];

const certificateFiles = ({ certificates, namespace }: Installation): readonly ManifestFile[] =>
  certificates === "self" ? [] : [{ path: "certificates.yaml", objects: certManagerObjects({ namespace, ...names }) }];

export const webhookRow: ComponentRow = {
  name: "webhook",
  summary:
    "Checks snapshot objects, the data sources of claims, and shared resources when they are created or updated.",
  isDefault: true,
  serviceAccount: names.serviceAccount,
  clusterRules: [
    {
      apiGroups: ["snapshot.storage.k8s.io"],
      resources: ["volumesnapshotclasses"],
      verbs: ["list", "watch"],
      why: "A driver has one default class at most.",
    },
    ...(["validating", "mutating"] as const).map((kind) => ({
      apiGroups: ["admissionregistration.k8s.io"],
      resources: [`${kind}webhookconfigurations`],
      resourceNames:
        kind === "mutating" ? [claimConfigurationName] : [snapshotConfigurationName, shareConfigurationName],
      verbs: ["get", "patch"],
      why: "One of the replicas keeps the authority of its certificate in caBundle.",
      forRenewal: true as const,
    })),
  ],
  namespaceRules: [
    {
      apiGroups: [""],
      resources: ["persistentvolumeclaims"],
      verbs: ["create"],
      why: "A dry run shows whether the API server keeps the namespace of a data source.",
    },
    allowListRight,
    {
      apiGroups: [""],
      resources: ["secrets"],
      resourceNames: [names.secret],
      verbs: ["get", "patch"],
      why: "One of the replicas renews the certificate in it.",
      forRenewal: true,
    },
    ...leaseRights([certificateLease], "Of several replicas, the holder of the lease renews the certificate.").map(
      (right) => ({ ...right, forRenewal: true as const }),
    ),
  ],
  workload: {
    name: names.deployment,
    app: "snapshot-validation",
    runs: { kind: "replicas", count: 3 },
    terminationGracePeriodSeconds: 30,
    containers: [
      {
        name: "snapshot-validation",
        args: (installation) => [
          "webhook",
          `--tls-cert-file=${certificates}/tls.crt`,
          `--tls-private-key-file=${certificates}/tls.key`,
          `--port=${port}`,
          `--http-endpoint=:${statusPort}`,
          ...(installation.certificates === "self" ? [`--certificate-secret=${names.secret}`] : []),
        ],
        ports: [
          { name: "https", containerPort: port },
          { name: "http", containerPort: statusPort },
        ],
        statusPort: "http",
        volumeMounts: () => [{ name: "webhook-certs", mountPath: certificates, readOnly: true }],
        memory: ["128Mi", "512Mi"],
      },
    ],
    volumes: () => [
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
  certificateSecret: names.secret,
  others: (installation) => [
    ...certificateFiles(installation),
    { path: "snapshots.yaml", objects: configured(installation, snapshotConfiguration(placeIn(installation))) },
  ],
  additions: (installation): readonly Addition[] => [
    {
      folder: "claims",
      why: "Checks the data sources of claims. Apply it when the webhook is ready: claims with a data source are refused while it is not.",
      files: [{ path: "claims.yaml", objects: configured(installation, claimConfiguration(placeIn(installation))) }],
    },
    {
      folder: "shares",
      why: "Checks the names of SharedSecrets and SharedConfigMaps, and that pods mount them read-only. While the webhook is down, the shared-resource driver refuses the same.",
      neededBy: ["shared-resource", "shared-resource-controller"],
      files: [{ path: "shares.yaml", objects: configured(installation, shareConfiguration(placeIn(installation))) }],
    },
    {
      folder: "on-control-plane",
      why: "The same webhook, next to the API server where the cluster has room there: it saves a hop in the network.",
      patch: onControlPlane(installation),
    },
  ],
  alerts: [
    {
      name: "WebhookFailures",
      expression:
        'sum(rate(apiserver_admission_webhook_rejection_count{name=~".*(webhook-validation.storage.sigs.k8s.io|claim-sources.storage.snapkeep.dev)",error_type!="no_error"}[5m])) > 0',
      for: "5m",
      severity: "critical",
      summary: "The API server cannot ask the webhook.",
      remedy:
        "Look at the pods of the webhook, its Service and its certificate; snapkeep certs --apply renews the certificate and caBundle. While the webhook fails, claims with a data source are refused, and snapshots too after snapkeep webhook promote; snapkeep webhook promote --demote allows snapshots again.",
    },
    {
      name: "WebhookUnavailable",
      expression: "absent(snapshot_webhook_certificate_expiry_timestamp_seconds)",
      for: "5m",
      severity: "critical",
      summary: "No replica of the webhook is scraped.",
      remedy: "kubectl get pods -l app=snapshot-validation -A: look at their events and logs.",
    },
    {
      name: "WebhookCertificateExpires",
      expression: "min(snapshot_webhook_certificate_expiry_timestamp_seconds) - time() < 14 * 86400",
      for: "10m",
      severity: "warning",
      summary: "The certificate of the webhook expires in less than 14 days.",
      remedy:
        "The holder of the lease snapshot-webhook-certificates renews it 30 days before it expires: its log says why it could not. snapkeep certs --apply --namespace=NAMESPACE renews it with your rights; the pods load it without a restart. With cert-manager, look at its Certificate.",
    },
  ],
  panels: [
    {
      title: "Admission decisions",
      unit: "reqps",
      queries: [
        {
          expression: "sum by (verdict, rule) (rate(snapshot_webhook_decisions_total[5m]))",
          legend: "{{verdict}} {{rule}}",
        },
      ],
    },
    {
      title: "Time until a decision, 99th percentile",
      unit: "s",
      queries: [
        {
          expression:
            "histogram_quantile(0.99, sum by (le, resource) (rate(snapshot_webhook_decision_duration_seconds_bucket[5m])))",
          legend: "{{resource}}",
        },
      ],
    },
    {
      title: "Time until the certificate expires",
      unit: "s",
      queries: [
        {
          expression: "min(snapshot_webhook_certificate_expiry_timestamp_seconds) - time()",
          legend: "certificate",
        },
      ],
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
