/** How the API server is told of the webhook: one validating configuration for snapshots, one mutating for claims. */
import type { JsonObject } from "../../base/json.ts";

export interface WebhookPlace {
  /** Where the API server finds the webhook: a Service, or, outside of a cluster, a URL. */
  readonly client:
    | { readonly service: { readonly namespace: string; readonly name: string } }
    | { readonly url: string };
  /** The certificate authority in PEM; absent where something injects it. */
  readonly authority?: string | undefined;
  /** Whose dry runs are not judged: the webhook asks by one whether the server keeps a source's namespace. */
  readonly serviceAccount: { readonly namespace: string; readonly name: string };
}

const group = "admissionregistration.k8s.io/v1";
/** The names of the requirement document. */
export const snapshotConfigurationName = "webhook-validation.storage.sigs.k8s.io";
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
          expression:
            "oldObject == null || object.spec.?dataSource != oldObject.spec.?dataSource || object.spec.?dataSourceRef != oldObject.spec.?dataSourceRef",
        },
        { name: "names-a-source", expression: "has(object.spec.dataSource) || has(object.spec.dataSourceRef)" },
        {
          name: "is-not-our-own-dry-run",
          expression: `!(has(request.dryRun) && request.dryRun && request.userInfo.username == 'system:serviceaccount:${place.serviceAccount.namespace}:${place.serviceAccount.name}')`,
        },
      ],
    },
  ],
});
