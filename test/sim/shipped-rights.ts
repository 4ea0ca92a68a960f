/**
 * What the manifests allow a component, and what the guides tell an administrator to add. Thousands of schedules reach branches that no run on
 * a real API server does: a request without a right would fail there for ever.
 */
import type { PolicyRule } from "kubernetes-types/rbac/v1.js";
import { allSidecarRows, componentRows } from "../../src/api/manifests/rows.ts";
import { parseRequest, verbOf } from "../../src/apiserver/index.ts";
import { coversResource } from "../../src/rules/rbac.ts";
import { guideRights } from "../guide-rights.ts";
import { driver } from "./backend.ts";

/** Every user may ask what he may do. */
const ofEverybody: PolicyRule = {
  apiGroups: ["authorization.k8s.io"],
  resources: ["selfsubjectaccessreviews"],
  verbs: ["create"],
};
/** Which the owner of a share grants, one by one: docs/guides/shared-resources.md. */
const sourcesOfShares: PolicyRule = {
  apiGroups: [""],
  resources: ["secrets", "configmaps"],
  verbs: ["get", "list", "watch"],
};

const additions: Readonly<Record<string, readonly PolicyRule[]>> = {
  "csi-snapshotter": guideRights.secrets,
  "csi-provisioner": [...guideRights.secrets, ...guideRights["other namespaces"]],
  "shared-resource": [sourcesOfShares, ...guideRights["roles and bindings"]],
  "shared-resource-controller": [{ ...sourcesOfShares, verbs: ["get"] }],
};
const needs = { topology: true, attachments: true, capacity: true };
/** Where components run in a simulation. */
const home = "default";
interface Allowed {
  readonly rule: PolicyRule;
  /** Undefined: in the whole cluster. */
  readonly namespace: string | undefined;
}
const everywhere = (rule: PolicyRule): Allowed => ({ rule, namespace: undefined });
const shipped = new Map<string, readonly Allowed[]>(
  [...componentRows, ...allSidecarRows.map(({ name, rights }) => ({ name, ...rights(driver, needs) }))].map(
    ({ name, clusterRules, namespaceRules }) => [
      name,
      [
        ...[ofEverybody, ...clusterRules, ...(additions[name] ?? [])].map(everywhere),
        ...namespaceRules.map((rule) => ({ rule, namespace: rule.namespace ?? home })),
      ],
    ],
  ),
);

/** The right that a request lacks; undefined: it is allowed. Pages of the server are open to everybody who is known. */
export function lackedRight(component: string, method: string, path: string): string | undefined {
  const { target, query } = parseRequest({ method, path, headers: {} });
  if (target.kind === "page") return undefined;
  const { group, plural: resource, subresource, namespace, name } = target;
  const verb = verbOf(method, target, query);
  const isThere = (allowed: Allowed): boolean => allowed.namespace === undefined || allowed.namespace === namespace;
  const request = { verb, group, resource, subresource, name };
  if (shipped.get(component)?.some((one) => isThere(one) && coversResource(one.rule, request))) return undefined;
  const what = `${resource}${subresource === "" ? "" : `/${subresource}`}${group === "" ? "" : `.${group}`}`;
  return [verb, what, name, ...(namespace === "" ? [] : [`in namespace ${namespace}`])].filter(Boolean).join(" ");
}
