/** How the API server is told of the webhook: a validating configuration for snapshots, one for shares, and a mutating one for claims. */
import type { JsonObject } from "../../base/json.ts";
import { annotations } from "../names.ts";

export interface WebhookPlace {
  /** Where the API server finds the webhook: a Service, or, outside of a cluster, a URL. */
  readonly client:
    | { readonly service: { readonly namespace: string; readonly name: string } }
    | { readonly url: string };
  /** The certificate authority in PEM; absent where something injects it. */
  readonly authority?: string | undefined;
}

const group = "admissionregistration.k8s.io/v1";
/** The names of the requirement document. */
export const snapshotConfigurationName = "webhook-validation.storage.sigs.k8s.io";
export const shareConfigurationName = "validation.webhook.csidriversharedresource";
export const claimConfigurationName = "claim-sources.storage.snapkeep.dev";

const clientConfig = ({ client, authority }: WebhookPlace, path: string): JsonObject => ({
  ...("service" in client ? { service: { ...client.service, path } } : { url: `${client.url}${path}` }),
  ...(authority === undefined ? {} : { caBundle: Buffer.from(authority).toString("base64") }),
});

const shared: JsonObject = {
  admissionReviewVersions: ["v1", "v1beta1"],
  sideEffects: "None",
  matchPolicy: "Equivalent",
};

const differ = (member: string): string => `object.${member} != oldObject.${member}`;
/**
 * An update that changes none of these members is not asked about. Removing a finalizer is an update: without this, Fail and a webhook that
 * is down would keep every object from being deleted. The members are all that the rules read.
 */
export const onlyIfChanged = (...members: readonly string[]): string =>
  ["oldObject == null", ...members.map(differ)].join(" || ");
/** The same for one of several kinds: all conditions of a webhook must hold, so each is true for the other kinds. */
const ofKind = (plural: string, ...members: readonly string[]): JsonObject => ({
  name: `${plural}-changed`,
  expression: `request.resource.resource != '${plural}' || ${onlyIfChanged(...members)}`,
});
/** All that the rules for snapshots read, by resource. */
export const snapshotMembers = {
  volumesnapshots: ["?spec"],
  volumesnapshotcontents: ["?spec"],
  volumesnapshotclasses: [
    "?driver",
    "?parameters",
    "?deletionPolicy",
    `metadata.?annotations[?'${annotations.defaultClass}']`,
  ],
} as const;

export const snapshotConfiguration = (place: WebhookPlace): JsonObject => ({
  apiVersion: group,
  kind: "ValidatingWebhookConfiguration",
  metadata: { name: snapshotConfigurationName },
  webhooks: [
    {
      name: "snapshot.webhook-validation.storage.sigs.k8s.io",
      clientConfig: clientConfig(place, "/volumesnapshots"),
      rules: [
        {
          apiGroups: ["snapshot.storage.k8s.io"],
          apiVersions: ["v1", "v1beta1"],
          operations: ["CREATE", "UPDATE"],
          resources: ["volumesnapshots", "volumesnapshotcontents", "volumesnapshotclasses"],
          scope: "*",
        },
      ],
      ...shared,
      // Until the webhook is known to answer; `snapkeep webhook promote` sets Fail.
      failurePolicy: "Ignore",
      timeoutSeconds: 2,
      matchConditions: Object.entries(snapshotMembers).map(([plural, members]) => ofKind(plural, ...members)),
    },
  ],
});

/**
 * Mutating, because the API server drops an unsupported source before it asks validating webhooks. Fail, because an empty volume
 * is worse than a claim that is refused while the webhook is down.
 */
export const claimConfiguration = (place: WebhookPlace): JsonObject => ({
  apiVersion: group,
  kind: "MutatingWebhookConfiguration",
  metadata: { name: claimConfigurationName },
  webhooks: [
    {
      name: "claim-sources.storage.snapkeep.dev",
      clientConfig: clientConfig(place, "/persistentvolumeclaims"),
      rules: [
        {
          apiGroups: [""],
          apiVersions: ["v1"],
          operations: ["CREATE", "UPDATE"],
          resources: ["persistentvolumeclaims"],
          scope: "Namespaced",
        },
      ],
      ...shared,
      failurePolicy: "Fail",
      timeoutSeconds: 5,
      reinvocationPolicy: "IfNeeded",
      matchConditions: [
        // An update that leaves the source alone needs no verdict: claims can be bound and deleted while the webhook is down.
        {
          name: "source-is-new",
          expression: onlyIfChanged("spec.?dataSource", "spec.?dataSourceRef"),
        },
        { name: "names-a-source", expression: "has(object.spec.dataSource) || has(object.spec.dataSourceRef)" },
      ],
    },
  ],
});

const [onCreate, onWrite] = [["CREATE"], ["CREATE", "UPDATE"]];
const shareRule = (operations: string[], apiGroup: string, apiVersions: string[], resources: string[]): JsonObject => ({
  operations,
  apiGroups: [apiGroup],
  apiVersions,
  resources,
  scope: "*",
});
const without = (key: string, ...values: string[]): JsonObject => ({ key, operator: "NotIn", values });

/** What is asked about: the volumes of whatever makes pods, and shares. */
export const shareRules: readonly JsonObject[] = [
  // The volumes of a pod cannot be changed.
  shareRule(onCreate, "", ["v1"], ["pods"]),
  shareRule(onWrite, "", ["v1"], ["replicationcontrollers", "podtemplates"]),
  shareRule(onWrite, "apps", ["v1", "v1beta1"], ["deployments", "daemonsets", "statefulsets", "replicasets"]),
  shareRule(onWrite, "batch", ["v1", "v1beta1"], ["jobs", "cronjobs"]),
  shareRule(onWrite, "apps.openshift.io", ["v1"], ["deploymentconfigs"]),
  shareRule(onWrite, "build.openshift.io", ["v1"], ["builds", "buildconfigs"]),
  shareRule(onWrite, "sharedresource.openshift.io", ["v1alpha1"], ["sharedsecrets", "sharedconfigmaps"]),
];
/** The namespaces of the control plane are exempt, and the driver's own. */
export const shareNamespaces: JsonObject = {
  matchExpressions: [
    without("runlevel", "0", "1"),
    without("openshift.io/run-level", "0", "1"),
    without("csi.sharedresource.openshift.io/skip-validation", "true"),
  ],
};
/** A PodTemplate has no spec. */
export const podMakerMembers = ["?spec", "?template"] as const;

/**
 * Shares, and whatever makes pods with volumes of shares. Ignore, because controller and driver refuse the same without it: a webhook
 * that is down must keep no pod of the cluster from starting.
 */
export const shareConfiguration = (place: WebhookPlace): JsonObject => ({
  apiVersion: group,
  kind: "ValidatingWebhookConfiguration",
  metadata: { name: shareConfigurationName, labels: { name: shareConfigurationName } },
  webhooks: [
    {
      name: "pod.csi.sharedresource.openshift.io",
      clientConfig: clientConfig(place, "/resource-validation"),
      rules: [...shareRules],
      namespaceSelector: shareNamespaces,
      ...shared,
      failurePolicy: "Ignore",
      // Every pod of the cluster waits for the answer.
      timeoutSeconds: 2,
      matchConditions: [{ name: "spec-changed", expression: onlyIfChanged(...podMakerMembers) }],
    },
  ],
});
