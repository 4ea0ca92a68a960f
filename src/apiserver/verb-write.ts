/** create, update and patch. */

import { bodyText } from "../base/http.ts";
import { applyMergePatch, clone, isObject, type JsonObject, type JsonValue, print } from "../base/json.ts";
import { rfc3339 } from "../base/time.ts";
import { invalid as invalidField } from "../schema/field-error.ts";
import { goQuote, jsonWord } from "../schema/go-text.ts";
import type { Call, Serving } from "./call.ts";
import { managerOf } from "./call.ts";
import type { ApiObject, Resource, WriteOptions } from "./contracts.ts";
import { bodyBytes, decodeObject, judgeComplaints, type Parsed, parsedJson, parseJson, parseYaml } from "./decode.ts";
import { applyJsonPatch } from "./json-patch.ts";
import { refuseOutOfRange } from "./number-range.ts";
import { fit } from "./prepare.ts";
import { patchQuery, type WriteQuery, writeQuery } from "./query.ts";
import { apiVersionOf } from "./rows.ts";
import { badRequest, invalid, Refusal, unsupportedMediaType } from "./status.ts";
import { ownEntry } from "./target.ts";
import { notServed } from "./unserved.ts";
import type { Written } from "./update.ts";

function writeOptions(call: Call, { dryRun, fieldManager }: WriteQuery): WriteOptions {
  const stated: JsonObject = {};
  const fieldValidation = call.query.get("fieldValidation") ?? "";
  if (fieldManager !== "") stated.fieldManager = fieldManager;
  if (fieldValidation !== "") stated.fieldValidation = fieldValidation;
  return {
    stated,
    user: call.user,
    subresource: call.subresource,
    dryRun,
    fieldManager: managerOf(fieldManager, call.request),
    warn: call.warn,
    ...(call.request.signal === undefined ? {} : { signal: call.request.signal }),
  };
}

const decodingFor = (call: Call, { gates, decodeProtobuf }: Serving) => ({ gates, decodeProtobuf, warn: call.warn });

export async function create(call: Call, serving: Serving): Promise<ApiObject> {
  const query = writeQuery(call.query, "CreateOptions");
  const { resource } = call;
  const object = await decodeObject(call.request, resource, query.fieldValidation, decodingFor(call, serving));
  const options = writeOptions(call, query);
  if (resource.strategy.answer !== undefined)
    return resource.strategy.answer(object, serving.registry.contextFor(options));
  return serving.registry.createIn(call, object, options);
}

/** POST to a subresource: the kind's own action. */
export async function connect(call: Call, serving: Serving): Promise<ApiObject> {
  const query = writeQuery(call.query, "CreateOptions");
  const { resource, subresource, name, namespace } = call;
  const action = resource.strategy.connect;
  const kind = ownEntry(resource.subresources, subresource)?.kind;
  if (action === undefined || kind === undefined) throw notServed(resource, subresource);
  const asResource: Resource = { ...resource, ...kind, shape: () => undefined, strategy: {} };
  const body = await decodeObject(call.request, asResource, "Ignore", decodingFor(call, serving));
  const context = serving.registry.contextFor(writeOptions(call, query));
  return action(subresource, name, namespace, body, context);
}

export async function update(call: Call, serving: Serving): Promise<Written> {
  const query = writeQuery(call.query, "UpdateOptions");
  const { resource, name, namespace } = call;
  const options = writeOptions(call, query);
  const object = await decodeObject(call.request, resource, query.fieldValidation, decodingFor(call, serving));
  checkName(object, name);
  checkNamespace(object, resource, namespace);
  const { uid = "" } = object.metadata;
  return serving.registry.update({
    ...placeOf(call),
    options,
    createIfAbsent: resource.strategy.createOnUpdate === true && call.subresource === "",
    ...(uid === "" ? {} : { uid }),
    build: () => clone(object),
    mayCreate: call.mayCreate,
  });
}

const placeOf = ({ resource, namespace, name }: Call) => ({ resource, namespace, name });

function presentState(old: ApiObject | undefined): ApiObject {
  if (old === undefined) throw new Error("an object that exists has a present state");
  return old;
}

function checkName(object: ApiObject, name: string): void {
  const own = object.metadata.name ?? "";
  if (own === "")
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  if (own !== name) throw badRequest(`the name of the object (${own}) does not match the name on the URL (${name})`);
}

function checkNamespace({ metadata }: ApiObject, { scope }: Resource, namespace: string): void {
  if (scope === "cluster" || (metadata.namespace ?? "") === "" || metadata.namespace === namespace) return;
  throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
}

type PatchKind = "json" | "merge" | "strategic" | "apply";
const patchTypes: Readonly<Record<string, PatchKind>> = {
  "application/json-patch+json": "json",
  "application/merge-patch+json": "merge",
  "application/strategic-merge-patch+json": "strategic",
  "application/apply-patch+yaml": "apply",
};

function patchKind({ request, resource }: Call): PatchKind {
  const type = (request.headers["content-type"] ?? "").split(";")[0]?.trim() ?? "";
  const kind = ownEntry(patchTypes, type);
  if (kind === undefined) throw unsupportedMediaType("415: Unsupported Media Type", {});
  if (kind === "strategic" && resource.definition !== undefined) {
    const accepted = Object.keys(patchTypes).filter((name) => patchTypes[name] !== "strategic");
    throw unsupportedMediaType(
      `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`,
    );
  }
  return kind;
}

export async function patch(call: Call, serving: Serving): Promise<Written> {
  const kind = patchKind(call);
  bodyBytes(call.request);
  const query = patchQuery(call.query, kind === "apply");
  const text = bodyText(call.request.body ?? "");
  const body = kind === "apply" ? await appliedBody(text) : patchBody(text, kind);
  const options = writeOptions(call, query);
  return serving.registry.update({
    ...placeOf(call),
    options,
    createIfAbsent: kind === "apply" && call.subresource === "",
    tracked: kind === "apply",
    mayCreate: call.mayCreate,
    build: (old) => {
      if (kind === "apply") return applied(call, serving, query, old, body);
      return patched(call, serving, query, { ...body, kind }, presentState(old));
    },
  });
}

const appliedBody = (text: string): Promise<Parsed> =>
  parseYaml(text, (why) => badRequest(`error decoding YAML: ${why}`));
function patchBody(text: string, kind: Exclude<PatchKind, "apply">): Parsed {
  const value = parseJson(text, (why) => badRequest(why.replace(/^json parse error: /, "")));
  const into = kind === "json" ? "Go struct field jsonPatchOp.value of type float64" : undefined;
  refuseOutOfRange(text, kind === "strategic" ? "" : "error decoding patch: ", into);
  return parsedJson(text, value);
}

interface PatchGiven extends Parsed {
  readonly kind: Exclude<PatchKind, "apply">;
}

function patched(
  call: Call,
  { patcher, gates }: Serving,
  query: WriteQuery,
  given: PatchGiven,
  old: ApiObject,
): ApiObject {
  const { resource } = call;
  const result = patchResult(given, resource, old, patcher);
  if (!isObject(result) || !isObject(result.metadata ?? {})) throw unfit(result, "expected an object");
  const object = {
    ...result,
    apiVersion: textOr(result.apiVersion, old.apiVersion),
    kind: textOr(result.kind, old.kind),
    metadata: result.metadata ?? {},
  } as ApiObject;
  const complaints = [
    ...(query.fieldValidation === "Ignore" ? [] : given.duplicates()),
    ...fitPatched(object, resource, gates).map((field) => `unknown field ${goQuote(field)}`),
  ];
  judgeComplaints(complaints, query.fieldValidation, call.warn, (all) =>
    unfit(object, `strict decoding error: ${all}`),
  );
  checkVersionKept(object, old);
  checkName(object, call.name);
  checkNamespace(object, call.resource, call.namespace);
  return object;
}

function fitPatched(object: ApiObject, resource: Resource, gates: Serving["gates"]): readonly string[] {
  try {
    return fit(object, resource, gates);
  } catch (reason) {
    throw reason instanceof Refusal && reason.status.code === 400 ? unfit(object, bare(reason.message)) : reason;
  }
}

const textOr = (value: JsonValue | undefined, otherwise: string): string =>
  typeof value === "string" && value !== "" ? value : otherwise;

function patchResult(
  { kind, value }: PatchGiven,
  resource: Resource,
  old: ApiObject,
  patcher: Serving["patcher"],
): JsonValue {
  if (kind === "json") return applyJsonPatch(old, value);
  if (!isObject(value))
    throw badRequest(
      `${kind === "merge" ? "error decoding patch: " : ""}json: cannot unmarshal ${jsonWord(value)} into Go value of type map[string]interface {}`,
    );
  if (kind === "strategic") return clone(patcher.strategic(resource, old, value));
  const result = applyMergePatch(old, value);
  // Built-in kinds are defaulted in place; custom ones keep the parts they share with the stored object as they are.
  return resource.definition === undefined ? clone(result) : result;
}

/** A patch cannot turn an object into another kind. */
function checkVersionKept(object: ApiObject, old: ApiObject): void {
  if (object.apiVersion !== old.apiVersion || object.kind !== old.kind)
    throw unfit(
      object,
      `unable to decode ${object.apiVersion}, Kind=${object.kind} into ${old.apiVersion}, Kind=${old.kind}`,
    );
}

/** What Go's decoder said, without the sentence that requests put before it. */
const bare = (message: string): string => message.replace(/^.* cannot be handled as a [^:]*: /, "");

const unfit = (result: JsonValue, why: string): Refusal =>
  invalid({ group: "", kind: "" }, "", [invalidField("patch", print(result), why)]);

function applied(
  call: Call,
  { patcher, gates }: Serving,
  query: WriteQuery,
  old: ApiObject | undefined,
  { value, duplicates }: Parsed,
): ApiObject {
  const { resource, name, namespace } = call;
  if (!isObject(value)) throw badRequest("error decoding YAML: expected a mapping");
  const configuration = asApplied(value, resource);
  const result = patcher.apply({
    resource,
    current: old,
    applied: configuration,
    manager: query.fieldManager,
    force: query.force,
    subresource: call.subresource,
    time: rfc3339(call.table.now),
  });
  judgeComplaints(query.fieldValidation === "Ignore" ? [] : duplicates(), query.fieldValidation, call.warn, (all) =>
    badRequest(`error strict decoding YAML: error converting YAML to JSON: ${all}`),
  );
  result.metadata.name ??= name;
  if (resource.scope === "namespace") result.metadata.namespace ??= namespace;
  fit(result, resource, gates);
  checkName(result, name);
  return result;
}

/** The core group has no name, and its slash all the same. */
const slashed = (apiVersion: string): string => (apiVersion.includes("/") ? apiVersion : `/${apiVersion}`);

function asApplied(value: JsonObject, resource: Resource): ApiObject {
  const expected = apiVersionOf(resource.group, resource.version);
  const { apiVersion, kind } = value;
  const metadata = isObject(value.metadata) ? clone(value.metadata) : {};
  if (apiVersion !== expected || kind !== resource.kind)
    throw badRequest(`invalid object type: ${slashed(String(apiVersion ?? ""))}, Kind=${String(kind ?? "")}`);
  if (
    (metadata.managedFields ?? null) !== null &&
    Array.isArray(metadata.managedFields) &&
    metadata.managedFields.length > 0
  )
    throw badRequest("metadata.managedFields must be nil");
  return { ...clone(value), apiVersion: expected, kind: resource.kind, metadata };
}
