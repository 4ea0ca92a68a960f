/** Role-based access control as Kubernetes evaluates it: rules only allow, and a binding hands them to its subjects. */
import type { PolicyRule, RoleRef, Subject } from "kubernetes-types/rbac/v1.js";

/** A request for objects of a kind, as far as rules look at it. */
export interface ResourceRequest {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  /** Empty for what has no name yet. */
  readonly name: string;
}

export const coversResource = (rule: PolicyRule, request: ResourceRequest): boolean => {
  const { resource, subresource, name } = request;
  const whole = subresource === "" ? resource : `${resource}/${subresource}`;
  const resources = rule.resources ?? [];
  return (
    includes(rule.verbs ?? [], request.verb) &&
    includes(rule.apiGroups ?? [], request.group) &&
    (includes(resources, whole) || (subresource !== "" && resources.includes(`*/${subresource}`))) &&
    ((rule.resourceNames ?? []).length === 0 || (rule.resourceNames ?? []).includes(name))
  );
};

export const includes = (list: readonly string[], item: string): boolean => list.includes("*") || list.includes(item);

interface Named {
  readonly metadata: { readonly name: string; readonly namespace?: string };
}
export interface RoleObject extends Named {
  readonly kind: "Role" | "ClusterRole";
  readonly rules?: readonly PolicyRule[];
}
export interface BindingObject extends Named {
  readonly kind: "RoleBinding" | "ClusterRoleBinding";
  readonly roleRef: RoleRef;
  readonly subjects?: readonly Subject[];
}

/** All roles and bindings of a cluster. Aggregated roles have their rules: the controller manager copies them. */
export interface RbacObjects {
  readonly roles: readonly RoleObject[];
  readonly bindings: readonly BindingObject[];
}

/** Somebody who may, and the binding by which. */
export interface PermittedSubject {
  /** "User ann", "Group devs", "ServiceAccount team/backup" */
  readonly subject: string;
  readonly binding: string;
}

/** Members of this group may do everything, without any role. */
export const masters = "system:masters";

/** Everybody who may do this, in a namespace or, with "", everywhere. Each subject once, by its first binding. */
export function whoCan(
  { roles, bindings }: RbacObjects,
  request: ResourceRequest,
  namespace: string,
): readonly PermittedSubject[] {
  const byName = new Map(roles.map((role) => [keyOf(role.kind, role.metadata.namespace, role.metadata.name), role]));
  const found = new Map<string, PermittedSubject>([
    [`Group ${masters}`, { subject: `Group ${masters}`, binding: "the API server itself" }],
  ]);
  for (const binding of bindings) {
    const own = binding.kind === "RoleBinding" ? (binding.metadata.namespace ?? "") : undefined;
    if (own !== undefined && own !== namespace) continue;
    const { kind, name } = binding.roleRef;
    const role = byName.get(keyOf(kind, kind === "Role" ? own : undefined, name));
    if (role?.rules?.some((rule) => coversResource(rule, request)) !== true) continue;
    for (const subject of binding.subjects ?? []) {
      const text = subjectText(subject, own ?? "");
      if (!found.has(text)) found.set(text, { subject: text, binding: bindingText(binding) });
    }
  }
  return [...found.values()].sort((one, other) => (one.subject < other.subject ? -1 : 1));
}

const keyOf = (kind: string, namespace: string | undefined, name: string): string =>
  `${kind} ${kind === "Role" ? (namespace ?? "") : ""}/${name}`;

const subjectText = ({ kind, name, namespace }: Subject, bindingNamespace: string): string =>
  kind === "ServiceAccount" ? `${kind} ${namespace ?? bindingNamespace}/${name}` : `${kind} ${name}`;

const bindingText = ({ kind, metadata: { name, namespace } }: BindingObject): string =>
  `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`;

const accounts = "system:serviceaccounts";

/** Whether everybody who is the one subject is the other too, as far as names tell: the groups that Kubernetes itself fills. */
export function subjectCovers(wide: string, narrow: string): boolean {
  const [one, other] = [wide, narrow].map(asServiceAccount);
  if (one === undefined || other === undefined || one === other) return one === other;
  if (one === "Group system:authenticated")
    return !["Group system:unauthenticated", "User system:anonymous"].includes(other);
  if (one === `Group ${accounts}`) return other.startsWith("ServiceAccount ") || other.startsWith(`Group ${accounts}:`);
  return (
    one.startsWith(`Group ${accounts}:`) &&
    other.startsWith(`ServiceAccount ${one.slice(`Group ${accounts}:`.length)}/`)
  );
}

/** A service account may be bound as the user that it is. */
const asServiceAccount = (subject: string): string =>
  subject.replace(/^User system:serviceaccount:([^:]+):([^:]+)$/, "ServiceAccount $1/$2");
