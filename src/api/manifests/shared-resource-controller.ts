/** The controller of shares: their Available condition, their names, and whether the webhook can be reached. */
import type { ClusterRole, Role, RoleBinding, Subject } from "kubernetes-types/rbac/v1.js";
import { sharedResourceCrds } from "../crds/shared-resource.ts";
import { allowListObjects, allowListRight } from "./allow-lists.ts";
import { type ComponentRow, type Installation, type ManifestObject, object } from "./component.ts";
import { electionRights, eventRight } from "./rights.ts";
import { nodeServiceAccount, sharesRight } from "./shared-resource.ts";
import { shareConfigurationName } from "./webhook-configurations.ts";

const serviceAccount = "shared-resource-controller";
const port = 8_080;
const rbac = "rbac.authorization.k8s.io";
const shares = "sharedresource.openshift.io";

const checks = ["pod_readonly", "sharedsecret_reserved_name", "sharedconfigmap_reserved_name"];
/** Over five minutes: with Prometheus' default of one scrape a minute, a shorter range holds one sample, and no rate. */
const rateOf = (metric: string): string => `(sum(rate(${metric}[5m])) or vector(0))`;
/** What was refused, wherever it was noticed. Metrics that nothing exports yet count as 0. */
const failuresBy = (...places: readonly string[]): string =>
  `(${places.flatMap((place) => checks.map((check) => rateOf(`openshift_csi_share_${check}_failures_${place}_total`))).join(" + ")})`;
const failures = failuresBy("webhook", "controller");
const mounts = `(${rateOf("openshift_csi_share_mount_requests_total")} - ${rateOf("openshift_csi_share_mount_failures_total")})`;

export const sharedResourceControllerRow: ComponentRow = {
  name: "shared-resource-controller",
  summary: "Shows on SharedSecrets and SharedConfigMaps whether what they refer to exists, and finds reserved names.",
  isDefault: false,
  serviceAccount,
  clusterRules: [
    sharesRight,
    {
      apiGroups: [shares],
      resources: ["sharedsecrets/status", "sharedconfigmaps/status"],
      verbs: ["patch"],
      why: "The condition Available is in the status. The owner of a share lets the controller get its Secret or ConfigMap, one by one.",
    },
    {
      apiGroups: ["admissionregistration.k8s.io"],
      resources: ["validatingwebhookconfigurations"],
      resourceNames: [shareConfigurationName],
      verbs: ["get"],
      why: "It names the Service of the webhook.",
    },
    {
      apiGroups: ["discovery.k8s.io"],
      resources: ["endpointslices"],
      verbs: ["list"],
      why: "A webhook without an endpoint gets an event: its failurePolicy is Ignore, so that nobody else notices.",
    },
    eventRight,
  ],
  namespaceRules: [...electionRights("shared-resource-controller-leader"), allowListRight],
  crds: () => sharedResourceCrds() as unknown as readonly ManifestObject[],
  workload: {
    name: "shared-resource-controller",
    app: "shared-resource-controller",
    runs: { kind: "replicas", count: 2 },
    terminationGracePeriodSeconds: 30,
    containers: [
      {
        name: "controller",
        args: () => ["shared-resource", "--mode=controller", "--leader-election=true", `--http-endpoint=:${port}`],
        ports: [{ name: "http", containerPort: port }],
        statusPort: "http",
        volumeMounts: () => [],
        memory: ["96Mi", "256Mi"],
      },
    ],
    volumes: () => [],
  },
  others: (installation) => [
    { path: "allow-lists.yaml", objects: [...allowListObjects(installation), ...driverMayRead(installation)] },
  ],
  additions: (installation) => [
    {
      folder: "entitlement",
      why: "An example for OpenShift: the entitlement as a share, what its owner grants to driver and controller, and the role that lets pods use it.",
      files: [{ path: "entitlement.yaml", objects: entitlement(installation) }],
    },
  ],
  alerts: [
    {
      name: "SharedResourceMisuse",
      expression: `${failures} / (${mounts} + ${failures}) > 0.1`,
      for: "1m",
      severity: "info",
      summary: "More than one in ten uses of shared resources is refused: writable volumes, or reserved names.",
      remedy:
        "The message of each refusal names the object, the field and the remedy: look at the events of pods (FailedMount) and at what users were told by kubectl. snapkeep lint finds the same in manifests.",
    },
    ...(["info", "warning", "critical"] as const).map((severity) => ({
      name: "SharedResourceInvalid",
      expression: `max(openshift_csi_share_not_true_${severity}) > 0`,
      for: "5m",
      severity,
      summary: "What a SharedSecret or SharedConfigMap refers to does not exist, or is not ready.",
      remedy:
        "kubectl get sharedsecrets,sharedconfigmaps -o yaml: the message of the condition Available or Ready says what is wrong. Ready is maintained by the operator that brings the share.",
    })),
    {
      name: "SharedResourceWebhookUnreachable",
      expression: "max(openshift_csi_share_webhook_endpoints) == 0 or max(openshift_csi_share_webhook_trusted) == 0",
      for: "5m",
      severity: "warning",
      summary:
        "The webhook for shared resources has no endpoint, or the API server does not trust its certificate: misuse is refused only when a pod starts.",
      remedy:
        "Look at the pods of the webhook and its Service; snapkeep certs --apply renews its certificate and caBundle. Nothing else depends on it: deleting its ValidatingWebhookConfiguration is harmless.",
    },
  ],
  panels: [
    {
      title: "Refused uses of shared resources",
      unit: "reqps",
      queries: [
        { expression: failuresBy("webhook"), legend: "by the webhook" },
        { expression: failuresBy("controller"), legend: "by driver and controller" },
      ],
    },
  ],
};

/** The driver runs in another namespace than the lists. */
function driverMayRead({ namespace, driverNamespace }: Installation): readonly ManifestObject[] {
  const name = "shared-resource-allow-lists";
  const { why: _, ...rule } = allowListRight;
  return [
    object<Role>(`${rbac}/v1`, "Role", { metadata: { name, namespace }, rules: [rule] }),
    object<RoleBinding>(`${rbac}/v1`, "RoleBinding", {
      metadata: { name, namespace },
      subjects: [{ kind: "ServiceAccount", name: nodeServiceAccount, namespace: driverNamespace }],
      roleRef: { kind: "Role", name, apiGroup: rbac },
    }),
  ];
}

function entitlement({ namespace, driverNamespace }: Installation): readonly ManifestObject[] {
  const [place, secret, share] = ["openshift-config-managed", "etc-pki-entitlement", "openshift-etc-pki-entitlement"];
  const subjects: Subject[] = [
    { kind: "ServiceAccount", name: nodeServiceAccount, namespace: driverNamespace },
    { kind: "ServiceAccount", name: serviceAccount, namespace },
  ];
  const name = "shared-resource-etc-pki-entitlement";
  return [
    {
      apiVersion: `${shares}/v1alpha1`,
      kind: "SharedSecret",
      metadata: { name: share },
      spec: { secretRef: { namespace: place, name: secret } },
    } as ManifestObject,
    object<Role>(`${rbac}/v1`, "Role", {
      metadata: { name, namespace: place },
      rules: [{ apiGroups: [""], resources: ["secrets"], resourceNames: [secret], verbs: ["get", "list", "watch"] }],
    }),
    object<RoleBinding>(`${rbac}/v1`, "RoleBinding", {
      metadata: { name, namespace: place },
      subjects,
      roleRef: { kind: "Role", name, apiGroup: rbac },
    }),
    object<ClusterRole>(`${rbac}/v1`, "ClusterRole", {
      metadata: { name: `use-${share}` },
      rules: [{ apiGroups: [shares], resources: ["sharedsecrets"], resourceNames: [share], verbs: ["use"] }],
    }),
  ];
}
