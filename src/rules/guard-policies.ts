/**
 * Admission policies that guard what the components trust: what they read back, and what their accounts may create. Who an account belongs
 * to is read from the ClusterRoleBinding of the component, so that no expression names a namespace.
 */
import { onlyIfChanged } from "../api/manifests/webhook-configurations.ts";
import { annotations, createVolumeCallsSuffix } from "../api/names.ts";
import type { JsonObject } from "../base/json.ts";
import { type ErrorCode, fix } from "../errors/codes.ts";
import { celText } from "./condition.ts";
import {
  bindingObject,
  type PolicyDraft,
  policyDomain,
  policyObject,
  type ValidationAction,
  validationObject,
} from "./policy-objects.ts";
import { isPlain } from "./policy-variables.ts";

/** Whose PersistentVolumes have which driver. */
export interface ProvisionerAccount {
  /** The ClusterRoleBinding of the account that csi-provisioner runs as. */
  readonly binding: string;
  readonly driver: string;
}

export const storedCallsPolicy = `stored-calls.${policyDomain}`;
export const lostContentsPolicy = `lost-contents.${policyDomain}`;
export const volumesPolicyName = (driver: string): string => `volumes-of-${driver}.${policyDomain}`;

export const guardPolicies = (
  actions: readonly ValidationAction[],
  provisioners: readonly ProvisionerAccount[],
): readonly JsonObject[] => [
  policyObject(storedCalls),
  bindingObject(storedCalls.name, actions),
  policyObject(lostContents),
  bindingObject(lostContents.name, actions, { name: "snapkeep-snapshot-controller" }, "Allow"),
  ...provisioners.flatMap(({ binding, driver }) => {
    const draft = volumesOf(driver);
    return [policyObject(draft), bindingObject(draft.name, actions, { name: binding }, "Allow")];
  }),
];

const rule = (apiGroup: string, resource: string, ...operations: string[]): JsonObject => ({
  apiGroups: [apiGroup],
  apiVersions: ["*"],
  operations,
  resources: [resource],
  scope: "*",
});

const isBound = {
  name: "isOurs",
  expression:
    "params.?subjects.orValue([]).exists(one, request.userInfo.username == 'system:serviceaccount:' + one.?namespace.orValue('') + ':' + one.name)",
};
const user = `(${isPlain("request.userInfo.username")} ? request.userInfo.username : 'another user')`;

const guard = (code: ErrorCode, field: string, expression: string, text: string): JsonObject =>
  validationObject(expression, { code, field, messageExpression: `${text} + ${celText(` [${code}]`)}` }, "Forbidden");

/** The Lease lies in the namespace of the driver, and so does the account that writes it. The control plane empties namespaces. */
const storedCalls: PolicyDraft = {
  name: storedCallsPolicy,
  failurePolicy: "Fail",
  rules: [rule("coordination.k8s.io", "leases", "CREATE", "UPDATE", "DELETE")],
  isConcerned: `(object == null ? oldObject : object).metadata.?name.orValue('').endsWith(${celText(createVolumeCallsSuffix)})`,
  variables: [],
  validations: [
    guard(
      "SNAP-161",
      "metadata",
      "request.userInfo.username.startsWith('system:serviceaccount:' + request.namespace + ':') || request.userInfo.username.startsWith('system:serviceaccount:kube-system:') || request.userInfo.groups.exists(group, group == 'system:masters')",
      `${celText("metadata: the Lease of stored CreateVolume calls is written by the service account of its driver only, but ")} + ${user} + ${celText(` tries; ${fix("SNAP-161")}`)}`,
    ),
  ],
};

const lost = `metadata.?annotations[?${celText(annotations.contentLost)}].orValue('')`;
const lostContents: PolicyDraft = {
  name: lostContentsPolicy,
  failurePolicy: "Fail",
  rules: [rule("snapshot.storage.k8s.io", "volumesnapshots", "UPDATE")],
  isConcerned: onlyIfChanged("metadata.?annotations"),
  variables: [isBound],
  params: { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRoleBinding" },
  validations: [
    guard(
      "SNAP-162",
      `metadata.annotations[${annotations.contentLost}]`,
      `object.${lost} == '' || object.${lost} == oldObject.${lost} || variables.isOurs`,
      `${celText(`metadata.annotations[${annotations.contentLost}]: is written by the snapshot-controller only, but `)} + ${user} + ${celText(` tries; ${fix("SNAP-162")}`)}`,
    ),
  ],
};

/** A stolen token of the account cannot make a volume of a node's files: the API server allows one source in each PersistentVolume. */
const volumesOf = (driver: string): PolicyDraft => ({
  name: volumesPolicyName(driver),
  failurePolicy: "Fail",
  rules: [rule("", "persistentvolumes", "CREATE")],
  isConcerned: "true",
  variables: [isBound],
  params: { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRoleBinding" },
  validations: [
    guard(
      "SNAP-163",
      "spec.csi.driver",
      `!variables.isOurs || object.spec.?csi.?driver.orValue('') == ${celText(driver)}`,
      `${celText("spec.csi.driver: ")} + ${user} + ${celText(` may create PersistentVolumes of ${driver} only; ${fix("SNAP-163")}`)}`,
    ),
  ],
});
