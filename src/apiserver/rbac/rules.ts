/** From stored bindings to the rules they grant. */
import type { LabelSelector } from "kubernetes-types/meta/v1.js";
import type { ClusterRole, ClusterRoleBinding, PolicyRule, RoleBinding, Subject } from "kubernetes-types/rbac/v1.js";
import type { Reader } from "../contracts.ts";
import { matchesSelector } from "../label-match.ts";

export type Rule = PolicyRule;

const group = "rbac.authorization.k8s.io";
export const collections = {
  roles: `${group}/roles`,
  clusterRoles: `${group}/clusterroles`,
  roleBindings: `${group}/rolebindings`,
  clusterRoleBindings: `${group}/clusterrolebindings`,
} as const;

/** One binding, with the role it leads to. */
export interface Grant {
  readonly bindingKind: "ClusterRoleBinding" | "RoleBinding";
  readonly bindingName: string;
  /** "" for a ClusterRoleBinding: it holds everywhere. */
  readonly namespace: string;
  readonly subjects: readonly Subject[];
  readonly roleKind: string;
  readonly roleName: string;
  /** Undefined: the binding leads to a role that does not exist. */
  readonly role: { readonly own: readonly Rule[]; readonly aggregated: () => readonly Rule[] } | undefined;
}

export const allRules = (role: NonNullable<Grant["role"]>): readonly Rule[] => [...role.own, ...role.aggregated()];

/** Cluster-wide bindings first, as Kubernetes looks at them; then those of the namespace, if there is one. */
export function* bindings(reader: Reader, namespace: string): Generator<Grant> {
  for (const object of reader.list(collections.clusterRoleBindings))
    yield grantOf(reader, object as unknown as ClusterRoleBinding, "ClusterRoleBinding", "");
  if (namespace === "") return;
  for (const object of reader.list(collections.roleBindings, namespace))
    yield grantOf(reader, object as unknown as RoleBinding, "RoleBinding", namespace);
}

function grantOf(
  reader: Reader,
  binding: ClusterRoleBinding | RoleBinding,
  bindingKind: Grant["bindingKind"],
  namespace: string,
): Grant {
  const { kind, name } = binding.roleRef;
  return {
    bindingKind,
    bindingName: binding.metadata?.name ?? "",
    namespace,
    subjects: binding.subjects ?? [],
    roleKind: kind,
    roleName: name,
    role: roleOf(reader, kind, name, namespace),
  };
}

export function roleOf(reader: Reader, kind: string, name: string, namespace: string): Grant["role"] {
  const object =
    kind === "ClusterRole"
      ? reader.get(collections.clusterRoles, "", name)
      : reader.get(collections.roles, namespace, name);
  if (object === undefined) return undefined;
  const role = object as unknown as ClusterRole;
  return { own: role.rules ?? [], aggregated: () => aggregatedRules(reader, role) };
}

/** The rules of the roles an aggregating role selects; evaluated here, because no controller copies them into it. */
export function aggregatedRules(
  reader: Reader,
  role: ClusterRole,
  seen: ReadonlySet<string> = new Set(),
): readonly Rule[] {
  const selectors: readonly LabelSelector[] = role.aggregationRule?.clusterRoleSelectors ?? [];
  if (selectors.length === 0) return [];
  const visited = new Set([...seen, role.metadata?.name ?? ""]);
  return reader.list(collections.clusterRoles).flatMap((object) => {
    const candidate = object as unknown as ClusterRole;
    if (visited.has(candidate.metadata?.name ?? "")) return [];
    if (!selectors.some((selector) => matchesSelector(selector, object.metadata.labels))) return [];
    return [...(candidate.rules ?? []), ...aggregatedRules(reader, candidate, visited)];
  });
}
