/** What a path means: a resource and the verb on it, or one of the server's own pages. */
import type { HttpRequest } from "../base/http.ts";
import type { Attributes } from "./contracts.ts";
import { badRequest } from "./status.ts";
import { ownEntry } from "./target.ts";

export interface ResourcePath {
  readonly kind: "resource";
  readonly group: string;
  readonly version: string;
  readonly namespace: string;
  readonly plural: string;
  readonly name: string;
  readonly subresource: string;
  /** More than one part after the subresource: nothing we serve. */
  readonly surplus: boolean;
}

export type Path = ResourcePath | { readonly kind: "page" };

export interface Parsed {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly target: Path;
}

const page: Path = { kind: "page" };
/** Nobody changes a query, and half of all requests have none. */
const noQuery = new URLSearchParams();

export function parseRequest({ path }: HttpRequest): Parsed {
  const at = path.indexOf("?");
  const bare = at === -1 ? path : path.slice(0, at);
  const query = at === -1 ? noQuery : new URLSearchParams(path.slice(at + 1));
  return { path: bare, query, target: targetOf(bare) };
}

function targetOf(path: string): Path {
  const parts: string[] = [];
  for (let from = 0; from < path.length; ) {
    const slash = path.indexOf("/", from);
    const to = slash === -1 ? path.length : slash;
    if (to > from) parts.push(decoded(path.slice(from, to)));
    from = to + 1;
  }
  const root = parts.shift();
  if (root === "api" && parts.length >= 2) return resourceIn("", parts[0] ?? "", parts.slice(1));
  if (root === "apis" && parts.length >= 3) return resourceIn(parts[0] ?? "", parts[1] ?? "", parts.slice(2));
  return page;
}

function decoded(part: string): string {
  if (!part.includes("%")) return part;
  try {
    return decodeURIComponent(part);
  } catch {
    throw badRequest(`invalid URL escape in ${JSON.stringify(part)}`);
  }
}

function resourceIn(group: string, version: string, parts: readonly string[]): Path {
  const [first = "", second = "", third = ""] = parts;
  const place = { kind: "resource", group, version } as const;
  const itself = third === "" || third === "status" || third === "finalize";
  if (first !== "namespaces" || itself) {
    const namespace = first === "namespaces" ? second : "";
    const surplus = parts.length > 3;
    return { ...place, namespace, plural: first, name: second, subresource: third, surplus };
  }
  const [, , , name = "", subresource = ""] = parts;
  return { ...place, namespace: second, plural: third, name, subresource, surplus: parts.length > 5 };
}

const verbsByMethod: Readonly<Record<string, string>> = {
  POST: "create",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
  GET: "get",
  HEAD: "get",
};

export function verbOf(method: string, { name }: ResourcePath, query: URLSearchParams): string {
  const verb = ownEntry(verbsByMethod, method) ?? method.toLowerCase();
  const watching = query.has("watch") && query.get("watch") !== "false" && query.get("watch") !== "0";
  if (verb === "get" && name === "") return watching ? "watch" : "list";
  return verb === "delete" && name === "" ? "deletecollection" : verb;
}

export function attributesOf(method: string, { path, query, target }: Parsed): Attributes {
  if (target.kind === "page") return { kind: "path", verb: method.toLowerCase(), path };
  const { group, version, plural, subresource, namespace, name } = target;
  return {
    kind: "resource",
    verb: verbOf(method, target, query),
    group,
    version,
    resource: plural,
    subresource,
    namespace,
    name,
  };
}
