/** How the table of fields is written, and what many kinds have. */
import { annotations, parameters, provisioning } from "../../api/names.ts";

/**
 * keep:  as it is.
 * all:   so is everything below.
 * text:  written by people, drivers and storage systems: without what looks like a credential.
 * pem:   certificates, if it holds nothing else.
 * words: a command line, of which only known flags keep their values.
 * variable: of an environment; those of the components keep their values.
 * origin: of a URL, the host: its path may be a password.
 * calls: JSON of stored CreateVolume calls, to which the table of calls applies.
 */
type Leaf = "keep" | "all" | "text" | "pem" | "words" | "variable" | "origin" | "calls" | "mask";
/** For a list this describes its entries. "*" is any other name; it keeps nothing beside a secret's name. */
export type KeptFields = Leaf | { readonly [name: string]: KeptFields };

/** Whatever the names: values that are one of these. */
export const any = (kept: KeptFields): KeptFields => ({ "*": kept });

const keptAnnotations: KeptFields = Object.fromEntries(
  [
    ...Object.values(annotations),
    ...Object.values(provisioning).filter((name) => name.includes("/")),
    "pv.kubernetes.io/bind-completed",
    "pv.kubernetes.io/bound-by-controller",
    "pv.kubernetes.io/migrated-to",
    "deprecated.daemonset.template.generation",
    "deployment.kubernetes.io/revision",
  ].map((name) => [name, "keep"] as const),
);

export const metadata: KeptFields = {
  name: "keep",
  generateName: "keep",
  namespace: "keep",
  uid: "keep",
  resourceVersion: "keep",
  generation: "keep",
  creationTimestamp: "keep",
  deletionTimestamp: "keep",
  deletionGracePeriodSeconds: "keep",
  finalizers: "all",
  ownerReferences: "all",
  labels: any("keep"),
  annotations: { ...keptAnnotations, "snapkeep.dev/create-volume-calls": "calls" },
};

export const kept = (more: { readonly [name: string]: KeptFields }): KeptFields => ({
  apiVersion: "keep",
  kind: "keep",
  metadata,
  ...more,
});

export const condition: KeptFields = {
  type: "keep",
  status: "keep",
  reason: "keep",
  message: "text",
  observedGeneration: "keep",
  lastTransitionTime: "keep",
  lastUpdateTime: "keep",
  lastHeartbeatTime: "keep",
  lastProbeTime: "keep",
};
export const failure: KeptFields = { message: "text", time: "keep", errorCode: "keep" };

/** A class keeps the parameters that name secrets and the file system. The others are the driver's, and any of them may be a password. */
export const classParameters: KeptFields = {
  ...Object.fromEntries(
    ["Provisioner", "ControllerPublish", "NodeStage", "NodePublish"].flatMap((role) => [
      [`csi${role}SecretName`, "keep"],
      [`csi${role}SecretNamespace`, "keep"],
    ]),
  ),
  fstype: "keep",
  fsType: "keep",
  [`${parameters.prefix}*`]: "keep",
};

export const secretRef: KeptFields = { name: "keep", namespace: "keep" };
