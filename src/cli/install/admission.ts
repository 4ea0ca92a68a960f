/** Who enforces the rules for snapshots: the webhook, the API server with admission policies, or both. Pure. */
import type { ManifestObject } from "../../api/manifests/component.ts";
import type { CodedMessage } from "../../api/plan.ts";
import { withCode } from "../../errors/codes.ts";
import type { ProvisionerAccount } from "../../rules/guard-policies.ts";
import { type PolicySubject, policiesFor } from "../../rules/policy-rows.ts";

export const admissionModes = ["webhook", "policies", "both"] as const;
export type AdmissionMode = (typeof admissionModes)[number];

/** Components of an installation that needs no webhook. */
export const componentsFor = (mode: AdmissionMode, names: readonly string[]): readonly string[] =>
  mode === "policies" ? names.filter((name) => name !== "webhook") : names;

/** What brings the rules for shares with it, as it brings the webhook's configuration for them. */
export const shareComponents: readonly string[] = ["shared-resource", "shared-resource-controller"];

/** What the policies are about. Beside a webhook, that one judges the sources of claims. */
export function subjectsFor(
  mode: AdmissionMode,
  components: readonly string[],
  { claims = false } = {},
): readonly PolicySubject[] {
  if (mode === "webhook") return [];
  const subjects: PolicySubject[] = ["snapshots", "guards"];
  if (components.some((name) => shareComponents.includes(name))) subjects.push("shares");
  if (claims && mode === "policies") subjects.push("claims");
  return subjects;
}

/** The components with a csi-provisioner; those of other drivers are named with `snapkeep admission-policies --provisioners`. */
export const ownProvisioners: readonly ProvisionerAccount[] = [
  { binding: "snapkeep-directory-driver", driver: "directory.snapkeep.dev" },
];

export const policyObjects = (namespace: string, subjects: readonly PolicySubject[]): readonly ManifestObject[] =>
  policiesFor({ subjects, namespace, actions: ["Deny"], provisioners: ownProvisioners }).map(
    (policy) => policy as unknown as ManifestObject,
  );

export const isPolicyObject = ({ kind }: ManifestObject): boolean => kind.includes("AdmissionPolicy");

/** Without it the rules would be left out in silence. */
export const unservedPolicies = (kind: string): CodedMessage =>
  withCode(
    `--admission: this cluster does not serve ${kind} (admissionregistration.k8s.io/v1), which Kubernetes has from ${kind.startsWith("Mutating") ? "1.36" : "1.30"} on; nothing was changed; keep the webhook with --admission=webhook`,
    "SNAP-808",
  );
