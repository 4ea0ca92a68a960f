/** Roles and bindings as objects: defaults, what is valid, and that nobody grants more than they have. */
import type { ClusterRole, PolicyRule, RoleRef, Subject } from "kubernetes-types/rbac/v1.js";
import { equal, isObject } from "../../base/json.ts";
import { child, indexed, invalid, notSupported, required } from "../../schema/field-error.ts";
import { nameProblems } from "../../schema/names.ts";
import { as, labelSelectorErrors, subdomainErrors } from "../builtin/check.ts";
import type { ApiObject, FieldError, Strategy } from "../contracts.ts";
import { refuseBindingEscalation, refuseRoleEscalation } from "./escalation.ts";

const group = "rbac.authorization.k8s.io";

const roleStrategy = (namespaced: boolean): Strategy => ({
  permitWrite: refuseRoleEscalation,
  validateCreate: (object) => roleErrors(object, namespaced),
  validateUpdate: (object) => roleErrors(object, namespaced),
});

function roleErrors(object: ApiObject, namespaced: boolean): readonly FieldError[] {
  const { rules, aggregationRule } = as<ClusterRole>(object);
  const errors = (rules ?? []).flatMap((rule, index) => ruleErrors(rule, namespaced, indexed("rules", index)));
  if (aggregationRule === undefined) return errors;
  const selectors = aggregationRule.clusterRoleSelectors ?? [];
  const field = "aggregationRule.clusterRoleSelectors";
  if (selectors.length === 0)
    errors.push(required(field, "at least one clusterRoleSelector required if aggregationRule is non-nil"));
  return [...errors, ...selectors.flatMap((selector, index) => labelSelectorErrors(selector, indexed(field, index)))];
}

function ruleErrors(rule: PolicyRule, namespaced: boolean, field: string): readonly FieldError[] {
  const { verbs, nonResourceURLs: urls = [], apiGroups = [], resources = [], resourceNames = [] } = rule;
  const errors: FieldError[] = [];
  if ((verbs ?? []).length === 0) errors.push(required(child(field, "verbs"), "verbs must contain at least one value"));
  if (urls.length > 0) {
    const at = child(field, "nonResourceURLs");
    if (namespaced) errors.push(invalid(at, urls, "namespaced rules cannot apply to non-resource URLs"));
    if (apiGroups.length + resources.length + resourceNames.length > 0)
      errors.push(invalid(at, urls, "rules cannot apply to both regular resources and non-resource URLs"));
    return errors;
  }
  if (apiGroups.length === 0)
    errors.push(required(child(field, "apiGroups"), "resource rules must supply at least one api group"));
  if (resources.length === 0)
    errors.push(required(child(field, "resources"), "resource rules must supply at least one resource"));
  return errors;
}

interface Binding {
  readonly roleRef: RoleRef;
  readonly subjects?: readonly Subject[];
}

const bindingStrategy = (namespaced: boolean): Strategy => ({
  permitWrite: refuseBindingEscalation,
  defaults: (object) => {
    if (isObject(object.roleRef)) object.roleRef.apiGroup ||= group;
    for (const subject of Array.isArray(object.subjects) ? object.subjects : [])
      if (isObject(subject) && (subject.kind === "User" || subject.kind === "Group")) subject.apiGroup ||= group;
  },
  validateCreate: (object) => bindingErrors(as<Binding>(object), namespaced),
  validateUpdate: (object, old) => [
    ...bindingErrors(as<Binding>(object), namespaced),
    ...(equal(object.roleRef, old.roleRef) ? [] : [invalid("roleRef", goRoleRef(object), "cannot change roleRef")]),
  ],
});

/** The value is shown as the internal Go struct, whose fields begin with capitals. */
const goRoleRef = (object: ApiObject) => {
  const { apiGroup, kind, name } = as<Binding>(object).roleRef;
  return { APIGroup: apiGroup, Kind: kind, Name: name };
};

function bindingErrors({ roleRef, subjects = [] }: Binding, namespaced: boolean): readonly FieldError[] {
  const kinds = namespaced ? ["Role", "ClusterRole"] : ["ClusterRole"];
  return [
    ...(roleRef.apiGroup === group ? [] : [notSupported("roleRef.apiGroup", roleRef.apiGroup, [group])]),
    ...(kinds.includes(roleRef.kind) ? [] : [notSupported("roleRef.kind", roleRef.kind, kinds)]),
    ...(roleRef.name === ""
      ? [required("roleRef.name")]
      : nameProblems("pathSegment", roleRef.name).map((problem) => invalid("roleRef.name", roleRef.name, problem))),
    ...subjects.flatMap((subject, index) => subjectErrors(subject, namespaced, indexed("subjects", index))),
  ];
}

function subjectErrors(subject: Subject, namespaced: boolean, field: string): readonly FieldError[] {
  const { kind, name, apiGroup = "", namespace = "" } = subject;
  const errors: FieldError[] = name === "" ? [required(child(field, "name"))] : [];
  if (kind === "ServiceAccount") {
    if (name !== "") errors.push(...subdomainErrors(child(field, "name"), name));
    if (apiGroup !== "") errors.push(notSupported(child(field, "apiGroup"), apiGroup, [""]));
    if (!namespaced && namespace === "") errors.push(required(child(field, "namespace")));
  } else if (kind === "User" || kind === "Group") {
    if (apiGroup !== group) errors.push(notSupported(child(field, "apiGroup"), apiGroup, [group]));
  } else errors.push(notSupported(child(field, "kind"), kind, ["ServiceAccount", "User", "Group"]));
  return errors;
}

export const rbacStrategies: Readonly<Record<string, Strategy>> = {
  [`${group}/Role`]: roleStrategy(true),
  [`${group}/ClusterRole`]: roleStrategy(false),
  [`${group}/RoleBinding`]: bindingStrategy(true),
  [`${group}/ClusterRoleBinding`]: bindingStrategy(false),
};
