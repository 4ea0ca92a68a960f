/** Lists: selected, paged, as of a version, in the form asked for. */
import { keyIn } from "../base/brand.ts";
import type { HttpResponse } from "../base/http.ts";
import { isObject, type JsonObject, type JsonValue, print } from "../base/json.ts";
import { goQuote } from "../schema/go-text.ts";
import { json, partialMetadata, printed, type TableOptions, tableOf, wrongForm } from "./answer.ts";
import type { ApiObject, Resource, Store, Stored, StoreEvent } from "./contracts.ts";
import { fromStored } from "./convert.ts";
import { parseJson } from "./decode.ts";
import type { Answer } from "./negotiate.ts";
import type { ListQuery } from "./query.ts";
import { apiVersionOf } from "./rows.ts";
import { badRequest, expired, Refusal } from "./status.ts";
import { ownEntry } from "./target.ts";

export interface Listing {
  readonly store: Store;
  readonly resource: Resource;
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined;
  readonly query: ListQuery;
}

export interface ListPage {
  readonly items: readonly Stored[];
  readonly version: number;
  readonly continue: string;
  readonly remaining: number | undefined;
}

interface Position {
  /** 0: whatever is newest. */
  readonly version: number;
  readonly after: string;
}

/** Field selectors of this resource: what each term reads from a stored object. */
export function selects({ resource, query }: Pick<Listing, "resource" | "query">): (stored: Stored) => boolean {
  const { labels, fields } = query;
  const readers = new Map(fields.terms.map(({ field }) => [field, readerOf(resource, field)]));
  if (labels.empty && fields.terms.length === 0) return () => true;
  return ({ object }) =>
    labels.matches(object.metadata.labels) && fields.matches((name) => readers.get(name)?.(object) ?? "");
}

function readerOf(resource: Resource, field: string): (object: ApiObject) => string {
  if (field === "metadata.name") return ({ metadata }) => metadata.name ?? "";
  if (field === "metadata.namespace" && resource.kind !== "Namespace")
    return ({ metadata }) => metadata.namespace ?? "";
  const path = ownEntry(resource.strategy.fields, field);
  if (path !== undefined) return (object) => textAt(object, path.split("."));
  const onlyUsual = resource.strategy.fields === undefined;
  throw badRequest(
    onlyUsual
      ? `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`
      : `field label not supported: ${field}`,
  );
}

function textAt(object: JsonObject, path: readonly string[]): string {
  let value: JsonValue | undefined = object;
  for (const part of path) value = isObject(value) ? value[part] : undefined;
  if (value === undefined || value === null) return path.at(-1) === "hostNetwork" ? "false" : "";
  return typeof value === "object" ? print(value) : String(value);
}

/** Exactly that version where asked, else the newest, which is never older than anything asked for. */
export function pageOf({ store, resource, namespace, query }: Listing): ListPage {
  const position = query.continue === "" ? startOf(store, query) : readContinue(store, query);
  const version = position.version === 0 ? store.version() : position.version;
  const since = position.version === 0 ? [] : eventsSince(store, resource, position);
  const limit = query.limit > 0 ? query.limit : Number.POSITIVE_INFINITY;
  if (since.length === 0 && !isSelective(query)) {
    const { items, left } = store.page(resource.collection, namespace, position.after, limit);
    return pageFrom(items, left, version, left);
  }
  const all = listAt(store.list(resource.collection, namespace), since, namespace);
  const matching = all.filter((stored) => keyText(stored) > position.after).filter(selects({ resource, query }));
  const items = matching.slice(0, query.limit > 0 ? query.limit : matching.length);
  const left = matching.length - items.length;
  return pageFrom(items, left, version, isSelective(query) ? undefined : left);
}

const isSelective = ({ labels, fields }: ListQuery): boolean => !labels.empty || fields.terms.length > 0;

function pageFrom(items: readonly Stored[], left: number, version: number, remaining: number | undefined): ListPage {
  const last = items.at(-1);
  if (left === 0 || last === undefined) return { items, version, continue: "", remaining: undefined };
  return { items, version, continue: printContinue(version, keyText(last)), remaining };
}

/** As the store orders them: "namespace/name", or the name alone. */
const keyText = ({ object: { metadata } }: Stored): string => keyIn(metadata.namespace, metadata.name ?? "");

function startOf(store: Store, { resourceVersion, match, limit }: ListQuery): Position {
  if (resourceVersion === "" || resourceVersion === "0") return { version: 0, after: "" };
  const version = versionOf(resourceVersion, (why) => badRequest(`invalid resource version: ${why}`));
  if (version > store.version()) throw tooNew(version, store.version());
  // Before there was resourceVersionMatch, a limited list at a version meant exactly that version.
  const exact = match === "Exact" || (match === "" && limit > 0);
  return { version: exact ? version : 0, after: "" };
}

export function versionOf(text: string, refuse: (why: string) => Error): number {
  if (!/^\d{1,19}$/.test(text))
    throw refuse(
      `resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`,
    );
  return Number(text);
}

export const tooNew = (wanted: number, current: number): Refusal =>
  new Refusal(504, "Timeout", `Timeout: Too large resource version: ${wanted}, current: ${current}`, {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    retryAfterSeconds: 1,
  });

function eventsSince(store: Store, resource: Resource, { version, after }: Position): readonly StoreEvent[] {
  const since = store.eventsAfter(resource.collection, version);
  if (since !== "expired") return since;
  if (after === "") throw expired("The resourceVersion for the provided list is too old.");
  throw expired(
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.",
    { continue: printContinue(whateverIsNewest, after) },
  );
}

/** A collection as it stood before some events: today's, with all of them undone. */
function listAt(
  items: readonly Stored[],
  since: readonly StoreEvent[],
  namespace: string | undefined,
): readonly Stored[] {
  if (since.length === 0) return items;
  const byKey = new Map(items.map((stored) => [keyText(stored), stored]));
  for (const { now, before } of since.toReversed()) {
    const key = keyText(now);
    if (namespace !== undefined && now.object.metadata.namespace !== namespace) continue;
    if (before === undefined) byKey.delete(key);
    else byKey.set(key, before);
  }
  return [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, stored]) => stored);
}

const tokenVersion = "meta.k8s.io/v1";
/** In a token: go on with the list as it is now, though it began as it was long ago. */
const whateverIsNewest = -1;

const printContinue = (version: number, after: string): string =>
  Buffer.from(print({ v: tokenVersion, rv: version, start: `/${after}\u0000` })).toString("base64url");

const badToken = (why: string): Refusal => badRequest(`invalid continue token: continue key is not valid${why}`);

function readContinue(store: Store, { continue: token, resourceVersion }: ListQuery): Position {
  const value = parseJson(Buffer.from(token, "base64url").toString("utf8"), (why) =>
    badToken(`: ${why.replace("json parse error: ", "")}`),
  );
  if (resourceVersion !== "" && resourceVersion !== "0")
    throw badRequest("specifying resource version is not allowed when using continue");
  if (!isObject(value) || value.v !== tokenVersion)
    throw badToken(
      `: server does not recognize this encoded version ${goQuote(isObject(value) ? String(value.v ?? "") : "")}`,
    );
  const { rv, start } = value;
  if (!Number.isSafeInteger(rv) || rv === 0)
    throw badToken(`: incorrect encoded start resourceVersion (version ${tokenVersion})`);
  if (typeof start !== "string" || start === "") throw badToken(`: encoded start key empty (version ${tokenVersion})`);
  if (Number(rv) > store.version()) throw tooNew(Number(rv), store.version());
  return { version: Math.max(Number(rv), 0), after: start.replace(/^\/|\0$/g, "") };
}

export function listAnswer(listing: Listing, answer: Answer, table: Omit<TableOptions, "headers">): HttpResponse {
  return pageAnswer(listing.resource, pageOf(listing), answer, table);
}

export function pageAnswer(
  resource: Resource,
  page: ListPage,
  answer: Answer,
  table: Omit<TableOptions, "headers">,
): HttpResponse {
  const metadata = {
    resourceVersion: String(page.version),
    ...(page.continue === "" ? {} : { continue: page.continue }),
    ...(page.remaining === undefined ? {} : { remainingItemCount: page.remaining }),
  };
  const { form, pretty } = answer;
  const objects = (): readonly ApiObject[] => page.items.map(({ object }) => fromStored(resource, object));
  switch (form.kind) {
    case "object": {
      // Lists of custom objects always say whether they go on.
      const full = resource.definition === undefined ? metadata : { continue: "", ...metadata };
      return json(
        200,
        pretty ? printed(listObject(resource, full, objects()), true) : listText(resource, full, page.items),
      );
    }
    case "Table":
      return json(
        200,
        printed(tableOf(resource, objects(), metadata, form.version, { ...table, headers: true }), pretty),
      );
    case "PartialObjectMetadataList":
      return json(
        200,
        printed(
          {
            kind: "PartialObjectMetadataList",
            apiVersion: `meta.k8s.io/${form.version}`,
            metadata,
            items: objects().map((object) => partialMetadata(object, form.version)),
          },
          pretty,
        ),
      );
    case "PartialObjectMetadata":
      throw wrongForm("PartialObjectMetadata, but the requested object is a list", resource, resource.listKind);
    default:
      return form satisfies never;
  }
}

const listHead = (resource: Resource): JsonObject => ({
  kind: resource.listKind,
  apiVersion: apiVersionOf(resource.group, resource.version),
});

/** Items of built-in kinds do not repeat what the list already says. */
const listObject = (resource: Resource, metadata: JsonObject, objects: readonly ApiObject[]): JsonObject => ({
  ...listHead(resource),
  metadata,
  items: objects.map(({ kind, apiVersion, ...rest }) =>
    resource.definition === undefined ? rest : { kind, apiVersion, ...rest },
  ),
});

/** The texts of stored objects are kept; a list is their concatenation. */
function listText(resource: Resource, metadata: JsonObject, items: readonly Stored[]): string {
  const head = print({ ...listHead(resource), metadata }).slice(0, -1);
  const texts = items.map((stored) => itemText(resource, stored));
  return `${head},"items":[${texts.join(",")}]}\n`;
}

function itemText(resource: Resource, stored: Stored): string {
  const object = fromStored(resource, stored.object);
  const text = object === stored.object ? stored.text() : print(object);
  if (resource.definition !== undefined) return text;
  const prefix = `{"kind":${print(object.kind)},"apiVersion":${print(object.apiVersion)},`;
  return text.startsWith(prefix) ? `{${text.slice(prefix.length)}` : text;
}
