/** Every rule of admission, whoever enforces it; and the policies that can be had. */
import { allowListSources, shareKinds } from "../api/share-lists.ts";
import type { JsonObject } from "../base/json.ts";
import type { ErrorCode } from "../errors/codes.ts";
import { admissionPolicies, policyName, policySets } from "./admission-policies.ts";
import { claimPolicies, claimPolicyName } from "./claim-policies.ts";
import {
  guardPolicies,
  lostContentsPolicy,
  type ProvisionerAccount,
  storedCallsPolicy,
  volumesPolicyName,
} from "./guard-policies.ts";
import { podMakers } from "./pod-specs.ts";
import type { ValidationAction } from "./policy-objects.ts";
import { sharePolicies, sharePolicyName, volumePolicyName } from "./share-policies.ts";

/** What policies are about. */
export const policySubjects = ["snapshots", "shares", "claims", "guards"] as const;
export type PolicySubject = (typeof policySubjects)[number];

export interface PolicyChoice {
  readonly subjects: readonly PolicySubject[];
  readonly actions: readonly ValidationAction[];
  /** Where the ConfigMaps are that list the shares with reserved names. */
  readonly namespace: string;
  readonly provisioners: readonly ProvisionerAccount[];
}

export const policiesFor = ({ subjects, actions, namespace, provisioners }: PolicyChoice): readonly JsonObject[] => [
  ...(subjects.includes("snapshots") ? admissionPolicies(actions) : []),
  ...(subjects.includes("shares") ? sharePolicies(actions, namespace) : []),
  ...(subjects.includes("claims") ? claimPolicies(actions) : []),
  ...(subjects.includes("guards") ? guardPolicies(actions, provisioners) : []),
];

/** A rule, and the policy that has it; or why none has. */
export interface PolicyRow {
  readonly code: ErrorCode;
  readonly kind: string;
  readonly field: string;
  readonly policy?: string;
  readonly why?: string;
}

export const policyRows: readonly PolicyRow[] = [
  ...policySets.flatMap(({ kind, rules: { objects, changes } }) =>
    [...changes, ...objects].map(({ code, field, withoutPolicy }) => ({
      code,
      kind,
      field,
      ...(withoutPolicy === undefined ? { policy: policyName(kind) } : { why: withoutPolicy }),
    })),
  ),
  {
    code: "SNAP-121",
    kind: "VolumeSnapshotClass",
    field: "metadata.annotations",
    why: "It compares classes with each other, and a policy sees no other objects: the webhook has it.",
  },
  ...(["SNAP-131", "SNAP-133", "SNAP-134", "SNAP-135"] as const).map((code) => ({
    code,
    kind: "PersistentVolumeClaim",
    field: "spec.dataSource, spec.dataSourceRef",
    policy: claimPolicyName,
  })),
  {
    code: "SNAP-132",
    kind: "PersistentVolumeClaim",
    field: "spec.dataSource, spec.dataSourceRef",
    why: "Where there are mutating policies, the feature gate AnyVolumeDataSource is always on.",
  },
  ...podMakers.map(({ kind, volumes: [path = []], source }) => ({
    code: "SNAP-151" as const,
    kind,
    field: [...path, ...source, "csi.readOnly"].join("."),
    policy: volumePolicyName(kind) ?? "",
  })),
  ...shareKinds.map((kind) => ({
    code: "SNAP-152" as const,
    kind,
    field: `metadata.name, with ConfigMap ${allowListSources[kind].configMap}`,
    policy: sharePolicyName(kind),
  })),
  { code: "SNAP-161", kind: "Lease", field: "metadata", policy: storedCallsPolicy },
  { code: "SNAP-162", kind: "VolumeSnapshot", field: "metadata.annotations", policy: lostContentsPolicy },
  { code: "SNAP-163", kind: "PersistentVolume", field: "spec.csi.driver", policy: volumesPolicyName("DRIVER") },
];
