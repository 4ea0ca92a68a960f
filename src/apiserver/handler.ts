/** Request → response: who asks, whether they may, which verb, and the answer; whatever goes wrong is a Status. */
import type { Handler, HttpRequest, HttpResponse } from "../base/http.ts";
import type { World } from "../base/world.ts";
import { actingUser, authorize } from "./access.ts";
import { includeOf, notFoundPage, objectAnswer, refusalOf, statusAnswer, warningHeader } from "./answer.ts";
import type { Call, Serving } from "./call.ts";
import type { ApiObject, Attributes, Authorizer, User } from "./contracts.ts";
import { fromStored } from "./convert.ts";
import { type Listing, listAnswer } from "./list.ts";
import { negotiate } from "./negotiate.ts";
import { listQuery } from "./query.ts";
import { attributesOf, type Parsed, parseRequest, type ResourcePath } from "./request.ts";
import { notFound, Refusal, unauthorized } from "./status.ts";
import { keyFor, ownEntry } from "./target.ts";
import { isUnserved, notServed } from "./unserved.ts";
import { deleteCollection, deleteOne } from "./verb-delete.ts";
import { connect, create, patch, update } from "./verb-write.ts";
import type { WatchHub } from "./watch.ts";

export interface HandlerParts extends Serving {
  readonly world: World;
  readonly watches: WatchHub;
  readonly authorizer: Authorizer;
  /** Undefined: nobody we know. */
  authenticate(request: HttpRequest): User | undefined;
  /** Discovery, OpenAPI, health, version; undefined for a page we do not have. */
  page(request: HttpRequest, parsed: Parsed): HttpResponse | undefined;
}

export function createHandler(parts: HandlerParts): Handler {
  return async (request) => {
    try {
      const parsed = parseRequest(request);
      const caller = parts.authenticate(request);
      if (caller === undefined) throw unauthorized();
      const user = actingUser(request, caller, parts.authorizer);
      const attributes = attributesOf(request.method, parsed);
      authorize(parts.authorizer, user, attributes);
      if (parsed.target.kind === "page") return pageOf(parts, request, parsed);
      const answer = onResource(parts, request, parsed, parsed.target, user);
      return answer instanceof Promise ? await answer : answer;
    } catch (reason) {
      return statusAnswer(refusalOf(reason).status);
    }
  };
}

const noSuchResource = (): Refusal =>
  new Refusal(404, "NotFound", "the server could not find the requested resource", {});
const methodNotAllowed = (): Refusal =>
  new Refusal(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {});

/** What only reads is answered at once. */
type Answered = HttpResponse | Promise<HttpResponse>;

function onResource(
  parts: HandlerParts,
  request: HttpRequest,
  parsed: Parsed,
  target: ResourcePath,
  user: User,
): Answered {
  const { registry } = parts;
  const resource = registry.resource(target.group, target.version, target.plural);
  if (resource === undefined) return nobodyServes(parts, target.group);
  const { name, namespace, subresource } = target;
  if (target.surplus || (resource.scope === "cluster" && namespace !== "" && resource.kind !== "Namespace"))
    throw noSuchResource();
  const warnings: string[] = [];
  if (resource.deprecation !== undefined) warnings.push(resource.deprecation);
  const answer = negotiate(request, parsed.query);
  const call: Call = {
    request,
    query: parsed.query,
    resource,
    namespace: resource.scope === "namespace" ? namespace : "",
    name,
    subresource,
    user,
    answer,
    table: {
      include: answer.form.kind === "Table" ? includeOf(parsed.query) : "Metadata",
      now: parts.world.now(),
    },
    warn: (text) => void warnings.push(text),
    mayCreate: () =>
      authorize(parts.authorizer, user, { ...attributesOf(request.method, parsed), verb: "create" } as Attributes),
  };
  const refused = (reason: unknown): HttpResponse => {
    const answer = statusAnswer(refusalOf(reason).status, call.answer.pretty);
    return { ...answer, headers: { ...answer.headers, ...warningHeader(warnings) } };
  };
  try {
    const answer = perform(parts, call, () => warningHeader(warnings));
    return answer instanceof Promise ? answer.catch(refused) : answer;
  } catch (reason) {
    return refused(reason);
  }
}

/** Groups of Kubernetes itself answer with a Status, whatever the rest of the path; nobody answers for others. */
function nobodyServes({ registry }: HandlerParts, group: string): HttpResponse {
  const builtIn = registry.resources().some((row) => row.group === group && row.definition === undefined);
  if (builtIn) throw noSuchResource();
  return notFoundPage();
}

function pageOf(parts: HandlerParts, request: HttpRequest, parsed: Parsed): HttpResponse {
  const page = parts.page(request, parsed);
  if (page !== undefined) return page;
  const [, root, group = ""] = parsed.path.split("/");
  return (root === "api" || root === "apis") && group !== ""
    ? nobodyServes(parts, root === "api" ? "" : group)
    : notFoundPage();
}

type Headers = () => Readonly<Record<string, string>>;

function perform(parts: HandlerParts, call: Call, headers: Headers): Answered {
  if (call.subresource !== "") return onSubresource(parts, call, headers);
  return call.name === "" ? onCollection(parts, call, headers) : onObject(parts, call, headers);
}

function onCollection(parts: HandlerParts, call: Call, headers: Headers): Answered {
  const { resource, request } = call;
  const allows = (verb: string): boolean => resource.verbs.some((known) => known === verb);
  switch (request.method) {
    case "GET":
    case "HEAD":
      if (!allows("list")) throw methodNotAllowed();
      return listOrWatch(parts, call, headers);
    case "POST":
      if (resource.scope === "namespace" && call.namespace === "" && allows("create")) throw methodNotAllowed();
      return createdAnswer(parts, call, create(call, parts), headers);
    case "DELETE":
      if (!allows("deletecollection") || (resource.scope === "namespace" && call.namespace === ""))
        throw methodNotAllowed();
      return deleteCollection(call, parts);
    default:
      throw methodNotAllowed();
  }
}

async function createdAnswer(
  { registry }: HandlerParts,
  call: Call,
  created: Promise<ApiObject>,
  headers: Headers,
): Promise<HttpResponse> {
  return objectAnswer(201, call, registry.store, await created, headers());
}

function listOrWatch(parts: HandlerParts, call: Call, headers: Headers): HttpResponse {
  const { resource, namespace, answer, table } = call;
  const query = listQuery(call.query);
  const listing: Listing = {
    store: parts.registry.store,
    resource,
    namespace: namespace === "" ? undefined : namespace,
    query,
  };
  if (query.watch) {
    const form = { form: answer.form, include: table.include, now: () => parts.world.now() };
    return parts.watches.watch(listing, form, call.request.signal);
  }
  const response = listAnswer(listing, answer, table);
  return { ...response, headers: { ...response.headers, ...headers() } };
}

function onObject(parts: HandlerParts, call: Call, headers: Headers): Answered {
  const { resource, request } = call;
  if (!resource.verbs.includes("get")) throw methodNotAllowed();
  switch (request.method) {
    case "GET":
    case "HEAD":
      return objectAnswer(200, call, parts.registry.store, read(parts, call), headers());
    case "PUT":
    case "PATCH":
      return writtenAnswer(parts, call, headers);
    case "DELETE":
      return deleteOne(call, parts, headers);
    default:
      throw methodNotAllowed();
  }
}

async function writtenAnswer(parts: HandlerParts, call: Call, headers: Headers): Promise<HttpResponse> {
  const { object, created } = await (call.request.method === "PUT" ? update(call, parts) : patch(call, parts));
  return objectAnswer(created ? 201 : 200, call, parts.registry.store, object, headers());
}

function read({ registry }: HandlerParts, call: Call) {
  const { resource, name } = call;
  const stored = registry.store.get(resource.collection, keyFor(call, name));
  if (stored === undefined) throw notFound(resource, name);
  return fromStored(resource, stored.object);
}

const subresourceVerbs: Readonly<Record<string, string>> = {
  GET: "get",
  HEAD: "get",
  PUT: "update",
  PATCH: "patch",
  POST: "create",
};

function onSubresource(parts: HandlerParts, call: Call, headers: Headers): Answered {
  const { resource, subresource, request } = call;
  const known = ownEntry(resource.subresources, subresource);
  if (known === undefined)
    throw isUnserved(resource, subresource) ? notServed(resource, subresource) : noSuchResource();
  const verb = ownEntry(subresourceVerbs, request.method);
  if (verb === undefined || !known.verbs.some((allowed) => allowed === verb)) throw methodNotAllowed();
  if (verb === "create") return createdAnswer(parts, call, connect(call, parts), headers);
  if (verb !== "get") return writtenAnswer(parts, call, headers);
  return objectAnswer(200, call, parts.registry.store, read(parts, call), headers());
}
