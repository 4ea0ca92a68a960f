/** delete and deletecollection. */
import type { HttpResponse } from "../base/http.ts";
import { isObject, type JsonObject, type JsonValue, print } from "../base/json.ts";
import { invalid as invalidField, notSupported } from "../schema/field-error.ts";
import { goQuote, jsonWord } from "../schema/go-text.ts";
import { json, objectAnswer, printed } from "./answer.ts";
import type { Call, Serving } from "./call.ts";
import type { DeleteRequest, FieldError } from "./contracts.ts";
import { bodyBytes, readBody } from "./decode.ts";
import type { Deleted } from "./deletion.ts";
import { pageAnswer, pageOf } from "./list.ts";
import { dryRunErrors, listQuery } from "./query.ts";
import { badRequest, invalid, Refusal } from "./status.ts";

const propagations = ["Foreground", "Background", "Orphan"] as const;

/** From the body, or from the query when there is none. */
async function deleteRequest(
  call: Call,
  { decodeProtobuf }: Serving,
): Promise<DeleteRequest & { orphaning?: boolean }> {
  const given = bodyBytes(call.request) > 0 ? await bodyOptions(call, decodeProtobuf) : queryOptions(call.query);
  const errors = optionErrors(given);
  if (errors.length > 0) throw invalid({ group: "meta.k8s.io", kind: "DeleteOptions" }, "", errors);
  const { gracePeriodSeconds, propagationPolicy, orphanDependents, preconditions, dryRun } = given;
  const uid = isObject(preconditions) ? preconditions.uid : undefined;
  const resourceVersion = isObject(preconditions) ? preconditions.resourceVersion : undefined;
  const propagation =
    typeof orphanDependents === "boolean" ? (orphanDependents ? "Orphan" : "Background") : propagationPolicy;
  return {
    user: call.user,
    warn: call.warn,
    ...(call.request.signal === undefined ? {} : { signal: call.request.signal }),
    dryRun: Array.isArray(dryRun) && dryRun.length > 0,
    ...(gracePeriodSeconds === undefined || gracePeriodSeconds === null
      ? {}
      : { graceSeconds: Number(gracePeriodSeconds) }),
    ...(isPropagation(propagation) ? { propagation } : {}),
    ...(typeof uid === "string" ? { uid } : {}),
    ...(typeof resourceVersion === "string" ? { resourceVersion } : {}),
    orphaning: typeof orphanDependents === "boolean",
  };
}

const isPropagation = (value: unknown): value is (typeof propagations)[number] =>
  propagations.some((known) => known === value);

async function bodyOptions(call: Call, decodeProtobuf: Serving["decodeProtobuf"]): Promise<JsonObject> {
  const { value } = await readBody(call.request, decodeProtobuf, (why) =>
    badRequest(`couldn't get version/kind; ${why}`),
  );
  if (!isObject(value)) throw badRequest("couldn't get version/kind; json parse error: the body is not an object");
  if (value.kind !== undefined && value.kind !== "" && value.kind !== "DeleteOptions")
    throw badRequest(
      `no kind ${goQuote(String(value.kind))} is registered for version ${goQuote(String(value.apiVersion ?? ""))} in scheme "pkg/runtime/scheme.go:111"`,
    );
  checkTypes(value);
  return value;
}

type Wanted = readonly [type: string, fits: (value: JsonValue) => boolean];
const isText = (value: JsonValue): boolean => typeof value === "string";
/** What cannot be understood must not be passed over: it may be all that keeps an object from being deleted. */
const types: Readonly<Record<string, Wanted>> = {
  gracePeriodSeconds: ["int64", (value) => typeof value === "bigint" || Number.isSafeInteger(value)],
  propagationPolicy: ["v1.DeletionPropagation", isText],
  orphanDependents: ["bool", (value) => typeof value === "boolean"],
  preconditions: ["v1.Preconditions", isObject],
  dryRun: ["[]string", (value) => Array.isArray(value) && value.every(isText)],
};
const preconditionTypes: Readonly<Record<string, Wanted>> = {
  uid: ["types.UID", isText],
  resourceVersion: ["string", isText],
};

function checkTypes(options: JsonObject): void {
  checkFields(options, types, "DeleteOptions.");
  if (isObject(options.preconditions))
    checkFields(options.preconditions, preconditionTypes, "Preconditions.preconditions.");
}

function checkFields(given: JsonObject, wanted: Readonly<Record<string, Wanted>>, path: string): void {
  for (const [field, [type, fits]] of Object.entries(wanted)) {
    const value = given[field] ?? null;
    if (value !== null && !fits(value))
      throw badRequest(
        `json: cannot unmarshal ${jsonWord(value)} into Go struct field ${path}${field} of type ${type}`,
      );
  }
}

function queryOptions(query: URLSearchParams): JsonObject {
  const grace = query.get("gracePeriodSeconds");
  if (grace !== null && !/^-?\d+$/.test(grace))
    throw badRequest(`strconv.ParseInt: parsing ${print(grace)}: invalid syntax`);
  const orphan = query.get("orphanDependents");
  return {
    ...(grace === null ? {} : { gracePeriodSeconds: Number(grace) }),
    ...(orphan === null ? {} : { orphanDependents: orphan !== "false" && orphan !== "0" }),
    ...(query.has("propagationPolicy") ? { propagationPolicy: query.get("propagationPolicy") } : {}),
    dryRun: query.getAll("dryRun").filter((value) => value !== ""),
  };
}

function optionErrors({ orphanDependents, propagationPolicy, dryRun }: JsonObject): readonly FieldError[] {
  const errors: FieldError[] = [];
  const field = "propagationPolicy";
  const policy = propagationPolicy ?? undefined;
  if (typeof orphanDependents === "boolean" && policy !== undefined)
    errors.push(invalidField(field, policy, "orphanDependents and deletionPropagation cannot be both set"));
  if (policy !== undefined && !isPropagation(policy))
    errors.push(notSupported(field, policy, [...propagations, "nil"]));
  return [...errors, ...dryRunErrors(Array.isArray(dryRun) ? dryRun.map(String) : [])];
}

export async function deleteOne(
  call: Call,
  serving: Serving,
  headers: () => Readonly<Record<string, string>>,
): Promise<HttpResponse> {
  const request = await deleteRequest(call, serving);
  const { object, gone } = await serving.registry.deleteIn(call, request);
  // Only the oldest way of asking for a cascade is told that it has just begun.
  const status = !gone && request.orphaning === true && request.propagation === "Background" ? 202 : 200;
  if (gone && call.resource.strategy.returnsDeleted !== true)
    return json(status, printed(successStatus(call, { object, gone }), call.answer.pretty), headers());
  return objectAnswer(status, call, serving.registry.store, object, headers());
}

function successStatus({ resource }: Call, { object }: Deleted): JsonObject {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    details: {
      name: object.metadata.name,
      ...(resource.group === "" ? {} : { group: resource.group }),
      kind: resource.plural,
      uid: object.metadata.uid,
    },
  };
}

/** Answers with the list of what was there, as it was. */
export async function deleteCollection(call: Call, serving: Serving): Promise<HttpResponse> {
  const request = await deleteRequest(call, serving);
  const query = listQuery(call.query);
  const { resource, namespace } = call;
  const listing = {
    store: serving.registry.store,
    resource,
    namespace: namespace === "" ? undefined : namespace,
    query,
  };
  const page = pageOf(listing);
  for (const { object } of page.items) await deleteListed(call, serving, request, object.metadata);
  return pageAnswer(resource, page, call.answer, call.table);
}

async function deleteListed(call: Call, serving: Serving, request: DeleteRequest, metadata: JsonObject): Promise<void> {
  const name = textIn(metadata.name);
  try {
    await serving.registry.deleteIn({ resource: call.resource, namespace: textIn(metadata.namespace), name }, request);
  } catch (reason) {
    if (!(reason instanceof Refusal && reason.status.code === 404)) throw reason;
  }
}

const textIn = (value: JsonValue | undefined): string => (typeof value === "string" ? value : "");
