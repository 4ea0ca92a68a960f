/**
 * Role-based access control: a request is allowed when some binding that names the caller leads to a rule that covers it.
 * Nothing is ever denied by a rule. Members of system:masters may do everything, without any role.
 */
import type { Subject } from "kubernetes-types/rbac/v1.js";
import { coversResource, includes, masters } from "../../rules/rbac.ts";
import { goQuote } from "../../schema/go-text.ts";
import type { Attributes, Authorizer, Decision, Reader, User } from "../contracts.ts";
import { allRules, bindings, type Grant, type Rule } from "./rules.ts";

export const createAuthorizer = (reader: Reader): Authorizer => ({
  authorize: (user, attributes) => {
    if (user.groups.includes(masters)) return { allowed: true, reason: "" };
    return decide(bindings(reader, attributes.kind === "resource" ? attributes.namespace : ""), user, attributes);
  },
});

function decide(grants: Iterable<Grant>, user: User, attributes: Attributes): Decision {
  const problems: string[] = [];
  for (const grant of grants) {
    const subject = grant.subjects.find((candidate) => isNamed(candidate, user, grant.namespace));
    if (subject === undefined) continue;
    if (grant.role === undefined) problems.push(missingRole(grant));
    else if (allRules(grant.role).some((rule) => covers(rule, attributes)))
      return { allowed: true, reason: `RBAC: allowed by ${described(grant, subject)}` };
  }
  return { allowed: false, reason: problems.length === 0 ? "" : `RBAC: ${joined(problems)}` };
}

export const joined = (problems: readonly string[]): string =>
  problems.length === 1 ? (problems[0] ?? "") : `[${[...new Set(problems)].join(", ")}]`;

const missingRole = ({ roleKind, roleName }: Grant): string =>
  `${roleKind.toLowerCase()}.rbac.authorization.k8s.io ${goQuote(roleName)} not found`;

export function isNamed(subject: Subject, user: User, namespace: string): boolean {
  switch (subject.kind) {
    case "User":
      return subject.name === user.name;
    case "Group":
      return user.groups.includes(subject.name);
    case "ServiceAccount":
      return user.name === `system:serviceaccount:${subject.namespace ?? namespace}:${subject.name}`;
    default:
      return false;
  }
}

function described({ bindingKind, bindingName, namespace, roleKind, roleName }: Grant, subject: Subject): string {
  const binding = namespace === "" ? bindingName : `${bindingName}/${namespace}`;
  const whom = subject.kind === "ServiceAccount" ? `${subject.name}/${subject.namespace ?? namespace}` : subject.name;
  return `${bindingKind} ${goQuote(binding)} of ${roleKind} ${goQuote(roleName)} to ${subject.kind} ${goQuote(whom)}`;
}

export function covers(rule: Rule, attributes: Attributes): boolean {
  if (attributes.kind === "resource") return coversResource(rule, attributes);
  return (
    includes(rule.verbs ?? [], attributes.verb) &&
    (rule.nonResourceURLs ?? []).some((url) => coversPath(url, attributes.path))
  );
}

const coversPath = (url: string, path: string): boolean =>
  url === "*" || url === path || (url.endsWith("*") && path.startsWith(url.slice(0, -1)));
