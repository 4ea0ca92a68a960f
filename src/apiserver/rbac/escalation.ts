/**
 * Nobody grants what they do not have. Whoever writes a role must hold all of its rules, or the verb `escalate` on it; whoever
 * writes a binding must hold all rules of its role, or the verb `bind` on that role. Members of system:masters may do both.
 */
import type { ClusterRole, RoleRef } from "kubernetes-types/rbac/v1.js";
import { equal } from "../../base/json.ts";
import { masters } from "../../rules/rbac.ts";
import { goQuote } from "../../schema/go-text.ts";
import { as } from "../builtin/check.ts";
import type { ApiObject, Context, Resource, WritePlace } from "../contracts.ts";
import { badRequest, forbidden, notFound, Refusal } from "../status.ts";
import { createAuthorizer, isNamed, joined } from "./authorize.ts";
import { allRules, bindings, type Rule, roleOf } from "./rules.ts";

const group = "rbac.authorization.k8s.io";
const roleKinds = { plural: "roles", group } as const;
const clusterRoleKinds = { plural: "clusterroles", group } as const;

type Kinds = Pick<Resource, "group" | "plural">;

/** Throws unless the writer may write this role. */
export function refuseRoleEscalation(
  object: ApiObject,
  old: ApiObject | undefined,
  place: WritePlace,
  context: Context,
): void {
  const kinds = object.kind === "ClusterRole" ? clusterRoleKinds : roleKinds;
  if (isExempt(object, old, context) || may("escalate", kinds, place, context)) return;
  const role = as<ClusterRole>(object);
  const refuse = refusalFor(kinds, object);
  refuseUnheld(role.rules ?? [], place, context, refuse);
  if (aggregates(object) || (old !== undefined && aggregates(old)))
    // An aggregating role gathers whatever others are given later.
    refuseUnheld(fullAuthority, place, context, () =>
      refuse("must have cluster-admin privileges to use the aggregationRule"),
    );
}

/** Throws unless the writer may write this binding. */
export function refuseBindingEscalation(
  object: ApiObject,
  old: ApiObject | undefined,
  place: WritePlace,
  context: Context,
): void {
  if (isExempt(object, old, context)) return;
  const { kind, name } = as<{ roleRef: RoleRef }>(object).roleRef;
  if (kind !== "Role" && kind !== "ClusterRole")
    throw new Refusal(500, "", `unsupported role reference kind: ${goQuote(kind)}`);
  const kinds = kind === "ClusterRole" ? clusterRoleKinds : roleKinds;
  if (may("bind", kinds, { namespace: place.namespace, name }, context)) return;
  if (kind === "Role" && place.namespace === "") throw badRequest("Namespace parameter required.");
  const role = roleOf(context.reader, kind, name, place.namespace);
  const ownKinds = { group, plural: object.kind === "ClusterRoleBinding" ? "clusterrolebindings" : "rolebindings" };
  // kube-apiserver says the name of the role and the kind of the binding.
  if (role === undefined) throw notFound(ownKinds, name);
  refuseUnheld(allRules(role), place, context, refusalFor(ownKinds, object));
}

const refusalFor =
  (kinds: Kinds, { metadata }: ApiObject) =>
  (why: string): Refusal =>
    forbidden(kinds, metadata.name ?? "", why);

/** The garbage collector must be able to release objects that it could not have written. */
const isExempt = (object: ApiObject, old: ApiObject | undefined, { user }: Context): boolean =>
  user.groups.includes(masters) ||
  (old !== undefined && equal(withoutGarbageFields(object), withoutGarbageFields(old)));

function withoutGarbageFields(object: ApiObject): ApiObject {
  const { ownerReferences: _owners, finalizers: _finalizers, managedFields: _managers, ...metadata } = object.metadata;
  return { ...object, metadata };
}

const may = (verb: string, kinds: Kinds, { namespace, name }: WritePlace, { reader, user }: Context): boolean =>
  createAuthorizer(reader).authorize(user, {
    kind: "resource",
    verb,
    group: kinds.group,
    version: "*",
    resource: kinds.plural,
    subresource: "",
    namespace,
    name,
  }).allowed;

const fullAuthority: readonly Rule[] = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
  { verbs: ["*"], nonResourceURLs: ["*"] },
];

const aggregates = (object: ApiObject): boolean =>
  (as<ClusterRole>(object).aggregationRule?.clusterRoleSelectors ?? []).length > 0;

function refuseUnheld(
  wanted: readonly Rule[],
  { namespace }: WritePlace,
  { reader, user }: Context,
  refuse: (why: string) => Refusal,
): void {
  const grants = [...bindings(reader, namespace)].filter(({ subjects, namespace: where }) =>
    subjects.some((subject) => isNamed(subject, user, where)),
  );
  const held = grants.flatMap(({ role }) => (role === undefined ? [] : allRules(role)));
  const missing = wanted.flatMap(brokenDown).filter((rule) => !held.some((own) => covers(own, rule)));
  if (missing.length === 0) return;
  const problems = grants
    .filter(({ role }) => role === undefined)
    .map(({ roleKind, roleName }) => `${roleKind.toLowerCase()}s.${group} ${goQuote(roleName)} not found`);
  const why = `user ${goQuote(user.name)} (groups=${goList(user.groups)}) is attempting to grant RBAC permissions not currently held:\n`;
  throw refuse(
    `${why}${described(missing)}${problems.length === 0 ? "" : `; resolution errors: [${joined(problems)}]`}`,
  );
}

/** A rule of one verb on one resource, one name at most, or one path. */
interface Single {
  readonly verb: string;
  readonly group?: string;
  readonly resource?: string;
  readonly name?: string;
  readonly path?: string;
}

function brokenDown(rule: Rule): readonly Single[] {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const names = resourceNames.length === 0 ? [{}] : resourceNames.map((name) => ({ name }));
  return [
    ...apiGroups.flatMap((apiGroup) =>
      resources.flatMap((resource) =>
        verbs.flatMap((verb) => names.map((name) => ({ verb, group: apiGroup, resource, ...name }))),
      ),
    ),
    ...nonResourceURLs.flatMap((path) => verbs.map((verb) => ({ verb, path }))),
  ];
}

const includes = (list: readonly string[] | undefined, item: string): boolean =>
  list !== undefined && (list.includes("*") || list.includes(item));

function covers(own: Rule, { verb, group, resource = "", name, path }: Single): boolean {
  if (!includes(own.verbs, verb)) return false;
  if (path !== undefined) return (own.nonResourceURLs ?? []).some((url) => coversPath(url, path));
  const names = own.resourceNames ?? [];
  return (
    includes(own.apiGroups, group ?? "") &&
    coversResource(own.resources ?? [], resource) &&
    (names.length === 0 || (name !== undefined && names.includes(name)))
  );
}

function coversResource(resources: readonly string[], resource: string): boolean {
  if (includes(resources, resource)) return true;
  const slash = resource.indexOf("/");
  return slash !== -1 && resources.includes(`*${resource.slice(slash)}`);
}

const coversPath = (own: string, path: string): boolean =>
  own === path || (own.endsWith("*") && path.startsWith(own.replace(/\*+$/, "")));

/** Verbs of one resource stand in one line; the lines are sorted. */
function described(missing: readonly Single[]): string {
  const together = Map.groupBy(missing, ({ verb, ...rest }) =>
    rest.path === undefined ? JSON.stringify(rest) : `${rest.path} ${verb}`,
  );
  const lines = [...together.values()].map(([first, ...others]) => {
    const { group: apiGroup, resource, name, path, verb = "" } = first ?? { verb: "" };
    const parts: readonly (readonly [label: string, values: readonly (string | undefined)[]])[] = [
      ["APIGroups", [apiGroup]],
      ["Resources", [resource]],
      ["NonResourceURLs", [path]],
      ["ResourceNames", [name]],
      ["Verbs", [verb, ...others.map((other) => other.verb)]],
    ];
    return `{${parts.flatMap(([label, [value, ...more]]) => (value === undefined ? [] : [`${label}:${goList([value, ...more] as string[])}`])).join(", ")}}`;
  });
  return [...new Set(lines)].sort((a, b) => (a < b ? -1 : 1)).join("\n");
}

const goList = (texts: readonly string[]): string => `[${texts.map(goQuote).join(" ")}]`;
