/**
 * What of each kind goes into a bundle, field by field: the one table. A field that is not in it keeps its name, and its value becomes
 * "<redacted, 12 characters>". The table has what the components decide by, so that a decision can be repeated from a bundle.
 */
import { any, classParameters, condition, type KeptFields, kept, secretRef } from "./fields-common.ts";
import { share, snapshotFields, storageKinds } from "./fields-storage.ts";
import { workloadKinds } from "./fields-workloads.ts";

const webhooks: KeptFields = {
  admissionReviewVersions: "all",
  clientConfig: { caBundle: "pem", service: "all", url: "origin" },
  failurePolicy: "keep",
  matchConditions: "all",
  matchPolicy: "keep",
  name: "keep",
  namespaceSelector: "all",
  objectSelector: "all",
  reinvocationPolicy: "keep",
  rules: "all",
  sideEffects: "keep",
  timeoutSeconds: "keep",
};

const clusterKinds = {
  Namespace: kept({ spec: "all", status: { conditions: condition, phase: "keep" } }),
  Node: kept({
    spec: { taints: "all", unschedulable: "keep" },
    status: { conditions: condition, nodeInfo: "all", volumesAttached: "mask", volumesInUse: "mask" },
  }),
  Lease: kept({
    spec: {
      acquireTime: "keep",
      holderIdentity: "keep",
      leaseDurationSeconds: "keep",
      leaseTransitions: "keep",
      preferredHolder: "keep",
      renewTime: "keep",
      strategy: "keep",
    },
  }),
  ValidatingWebhookConfiguration: kept({ webhooks }),
  /** Which versions are served and stored; schemas are left out. */
  CustomResourceDefinition: kept({
    spec: {
      group: "keep",
      scope: "keep",
      conversion: { strategy: "keep" },
      versions: { name: "keep", served: "keep", storage: "keep", deprecated: "keep" },
    },
    status: { conditions: condition, storedVersions: "all" },
  }),
  MutatingWebhookConfiguration: kept({ webhooks }),
  /** Only those that hold settings of the components are read. */
  ConfigMap: kept({ data: any("text") }),
} as const satisfies Record<string, KeptFields>;

export const fieldsOf: Readonly<Record<string, KeptFields>> = {
  ...snapshotFields,
  SharedSecret: share,
  SharedConfigMap: share,
  ...storageKinds,
  ...workloadKinds,
  ...clusterKinds,
};

/** Applies to a kind that nobody has described yet. */
export const fieldsOfUnknownKind: KeptFields = kept({});

const callTopology: KeptFields = { preferred: "all", requisite: "all" };
/** Applies to the annotation of stored CreateVolume calls. */
export const callFields: KeptFields = {
  shapes: {
    attributesClass: "keep",
    call: {
      bytes: "keep",
      capabilities: { mode: "keep", mount: { fsType: "keep" } },
      consent: "all",
      method: "keep",
      mutableParameters: classParameters,
      name: "keep",
      parameters: classParameters,
      secret: secretRef,
      source: { handle: "text", kind: "keep" },
      topology: callTopology,
    },
    claimKey: "keep",
    reclaimPolicy: "keep",
    secrets: any(secretRef),
    snapshotKey: "keep",
    undoes: "text",
  },
  /** The keys are the names of volumes. A value has the number of the shape, and namespace, name and uid of the claim. */
  calls: any("all"),
};
