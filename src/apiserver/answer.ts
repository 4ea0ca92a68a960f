/** Answers: objects, lists, tables and refusals as HTTP responses. */

import { keyIn } from "../base/brand.ts";
import { Fault, faults } from "../base/fault.ts";
import type { HttpResponse } from "../base/http.ts";
import { type JsonObject, type JsonValue, print } from "../base/json.ts";
import { goQuote } from "../schema/go-text.ts";
import type { ApiObject, Column, Resource, Store } from "./contracts.ts";
import type { Answer, Form } from "./negotiate.ts";
import { badRequest, internal, Refusal, type Status } from "./status.ts";

export type IncludeObject = "None" | "Metadata" | "Object";

const metaVersion = (version: string): string => `meta.k8s.io/${version}`;

export const jsonHeaders = { "content-type": "application/json", "cache-control": "no-cache, private" } as const;

export const json = (status: number, body: string, headers: Readonly<Record<string, string>> = {}): HttpResponse => ({
  status,
  headers: { ...jsonHeaders, ...headers },
  body,
});

export const plain = (status: number, body: string): HttpResponse => ({
  status,
  headers: { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" },
  body,
});

export const notFoundPage = (): HttpResponse => plain(404, "404 page not found\n");

export function printed(value: unknown, pretty: boolean): string {
  return pretty ? print(value, 2) : `${print(value)}\n`;
}

export function statusAnswer(status: Status, pretty = false): HttpResponse {
  const retry = status.details?.retryAfterSeconds;
  return json(status.code, printed(status, pretty), retry === undefined ? {} : { "retry-after": String(retry) });
}

/** Whatever was thrown becomes a Status; what nobody foresaw is an internal error, said without its stack. */
export function refusalOf(reason: unknown): Refusal {
  if (reason instanceof Refusal) return reason;
  if (reason instanceof Fault) return new Refusal(faults[reason.code].http, faults[reason.code].reason, reason.message);
  return internal(reason instanceof Error ? reason.message : String(reason));
}

/** Warnings for people at a terminal: code 299, RFC 7234 quoting. */
export const warningHeader = (warnings: readonly string[]): Readonly<Record<string, string>> =>
  warnings.length === 0
    ? {}
    : { warning: [...new Set(warnings)].map((text) => `299 - ${quotedHeader(text)}`).join(", ") };

const quotedHeader = (text: string): string =>
  `"${text
    .replace(/[^\x20-\x7e]/g, "")
    .replaceAll("\\", "\\\\")
    .replaceAll('"', '\\"')}"`;

export function partialMetadata({ metadata }: ApiObject, version: string): JsonObject {
  return { kind: "PartialObjectMetadata", apiVersion: metaVersion(version), metadata };
}

export interface TableOptions {
  readonly include: IncludeObject;
  readonly now: number;
  /** A watch sends the columns once. */
  readonly headers: boolean;
}

export function includeOf(query: URLSearchParams): IncludeObject {
  const asked = query.get("includeObject") ?? "";
  if (asked === "") return "Metadata";
  if (asked === "None" || asked === "Metadata" || asked === "Object") return asked;
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${goQuote(asked)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}

export function tableOf(
  { columns }: Resource,
  objects: readonly ApiObject[],
  listMetadata: JsonObject,
  version: string,
  options: TableOptions,
): JsonObject {
  return {
    kind: "Table",
    apiVersion: metaVersion(version),
    metadata: listMetadata,
    columnDefinitions: options.headers ? columns.map(columnDefinition) : [],
    rows: objects.map((object) => ({
      cells: columns.map(({ cell }) => cell(object, options.now)),
      ...includedObject(object, version, options.include),
    })),
  };
}

function includedObject(object: ApiObject, version: string, include: IncludeObject): JsonObject {
  if (include === "None") return { object: null };
  return { object: include === "Object" ? object : partialMetadata(object, version) };
}

const columnDefinition = ({ name, type, format = "", description = "", priority = 0 }: Column): JsonObject => ({
  name,
  type,
  format,
  description,
  priority,
});

/** What was asked for, and how the answer shall look. */
interface Asked {
  readonly resource: Resource;
  readonly answer: Answer;
  readonly table: Omit<TableOptions, "headers">;
}

/** The text of an object that the store holds, which keeps it; undefined for any other object. */
function storedText(store: Store, { collection }: Resource, object: ApiObject): string | undefined {
  const { namespace, name = "" } = object.metadata;
  const stored = store.get(collection, keyIn(namespace, name));
  return stored?.object === object ? stored.text() : undefined;
}

/** One object in the form asked for. */
export function objectAnswer(
  status: number,
  { resource, answer: { form, pretty }, table }: Asked,
  store: Store,
  object: ApiObject,
  headers: Readonly<Record<string, string>> = {},
): HttpResponse {
  const text = form.kind === "object" && !pretty ? storedText(store, resource, object) : undefined;
  const body = text === undefined ? printed(inForm(resource, object, form, table), pretty) : `${text}\n`;
  return json(status, body, headers);
}

function inForm(resource: Resource, object: ApiObject, form: Form, table: Omit<TableOptions, "headers">): JsonValue {
  switch (form.kind) {
    case "object":
      return object;
    case "Table": {
      const { resourceVersion } = object.metadata;
      return tableOf(resource, [object], { resourceVersion }, form.version, { ...table, headers: true });
    }
    case "PartialObjectMetadata":
      return partialMetadata(object, form.version);
    case "PartialObjectMetadataList":
      throw wrongForm("PartialObjectMetadataList, but the requested object is not a list", resource, resource.kind);
    default:
      return form satisfies never;
  }
}

export const wrongForm = (what: string, resource: Resource, kind: string): Refusal =>
  new Refusal(406, "NotAcceptable", `you requested ${what} (${goTypeOf(resource, kind)})`);

/** What the real server calls the type in its own language. */
function goTypeOf({ group, definition, kind: own }: Resource, kind: string): string {
  if (definition !== undefined) return `*unstructured.Unstructured${kind === own ? "" : "List"}`;
  return `*${group === "" ? "core" : (group.split(".")[0] ?? "")}.${kind}`;
}
