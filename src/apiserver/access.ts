/** Whether a caller may do something, in whose name they ask (`kubectl --as`), and the words of a refusal. */
import type { HttpRequest } from "../base/http.ts";
import { goQuote } from "../schema/go-text.ts";
import type { Attributes, Authorizer, User } from "./contracts.ts";
import { badRequest, forbidden, Refusal } from "./status.ts";

const authenticated = "system:authenticated";
const unauthenticated = "system:unauthenticated";
const anonymousName = "system:anonymous";

export function authorize(authorizer: Authorizer, user: User, attributes: Attributes): void {
  const { allowed, reason } = authorizer.authorize(user, attributes);
  if (allowed) return;
  const why = forbiddenText(user, attributes, reason);
  if (attributes.kind === "path") throw new Refusal(403, "Forbidden", `forbidden: ${why}`, {});
  throw forbidden({ group: attributes.group, plural: attributes.resource }, attributes.name, why);
}

/** 'User "x" cannot list resource "pods" in API group "" in the namespace "n"' */
function forbiddenText({ name: user }: User, attributes: Attributes, reason: string): string {
  const because = reason === "" ? "" : `: ${reason}`;
  const who = `User ${goQuote(user)} cannot ${attributes.verb}`;
  if (attributes.kind === "path") return `${who} path ${goQuote(attributes.path)}${because}`;
  const { group, resource, subresource, namespace } = attributes;
  const what = goQuote(subresource === "" ? resource : `${resource}/${subresource}`);
  const where = namespace === "" ? "at the cluster scope" : `in the namespace ${goQuote(namespace)}`;
  return `${who} resource ${what} in API group ${goQuote(group)} ${where}${because}`;
}

interface Wanted {
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly subresource?: string;
  readonly group?: string;
}

const serviceAccount = /^system:serviceaccount:([^:]+):([^:]+)$/;
const prefix = "impersonate-";
const extraPrefix = `${prefix}extra-`;

/** The user a request acts for: the caller, or somebody the caller may impersonate. */
export function actingUser(request: HttpRequest, caller: User, authorizer: Authorizer): User {
  const { headers } = request;
  if (!Object.keys(headers).some((header) => header.startsWith(prefix))) return caller;
  const name = headers["impersonate-user"] ?? "";
  const groups = listed(headers["impersonate-group"]);
  const extra = extrasOf(headers);
  const uid = headers["impersonate-uid"] ?? "";
  if (name === "") {
    if (groups.length > 0 || uid !== "" || extra.length > 0)
      throw badRequest(`requested [${groups.join(" ")}] without impersonating a user`);
    return caller;
  }
  const [, namespace = "", account = ""] = serviceAccount.exec(name) ?? [];
  const wanted: readonly Wanted[] = [
    account === ""
      ? { resource: "users", namespace: "", name }
      : { resource: "serviceaccounts", namespace, name: account },
    ...groups.map((group) => ({ resource: "groups", namespace: "", name: group })),
    ...extra.map(([key, value]) => ({
      resource: "userextras",
      subresource: key,
      namespace: "",
      name: value,
      group: "authentication.k8s.io",
    })),
    ...(uid === "" ? [] : [{ resource: "uids", namespace: "", name: uid, group: "authentication.k8s.io" }]),
  ];
  for (const one of wanted)
    authorize(authorizer, caller, {
      kind: "resource",
      verb: "impersonate",
      group: one.group ?? "",
      version: "v1",
      resource: one.resource,
      subresource: one.subresource ?? "",
      namespace: one.namespace,
      name: one.name,
    });
  const own =
    groups.length > 0 || account === "" ? groups : ["system:serviceaccounts", `system:serviceaccounts:${namespace}`];
  return {
    name,
    groups: withEverybody(name, own),
    ...(uid === "" ? {} : { uid }),
    ...(extra.length === 0 ? {} : { extra: grouped(extra) }),
  };
}

const listed = (header: string | undefined): readonly string[] =>
  (header ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");

const extrasOf = (headers: HttpRequest["headers"]): readonly (readonly [string, string])[] =>
  Object.entries(headers)
    .filter(([header]) => header.startsWith(extraPrefix))
    .flatMap(([header, values]) => listed(values).map((value) => [header.slice(extraPrefix.length), value] as const));

function grouped(pairs: readonly (readonly [string, string])[]): Readonly<Record<string, readonly string[]>> {
  const all: Record<string, string[]> = {};
  for (const [key, value] of pairs) all[key] = [...(all[key] ?? []), value];
  return all;
}

function withEverybody(name: string, groups: readonly string[]): readonly string[] {
  const everybody = name === anonymousName ? unauthenticated : authenticated;
  return groups.includes(authenticated) || groups.includes(unauthenticated) ? groups : [...groups, everybody];
}
