/** A whole list, page by page. */
import type { KindName } from "../api/kinds.ts";
import type { ObjectOf } from "../api/types.ts";
import { Fault, isFault } from "../base/fault.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { limits } from "../base/limits.ts";
import type { Listed, ListQuery } from "./api.ts";
import { type Adoption, adopt, parseResponse } from "./objects.ts";

type Parameters = Readonly<Record<string, string | number | undefined>>;
type AskPage = (parameters: Parameters) => Promise<string>;

/**
 * A continue token is good for the minutes that etcd keeps its version. When a slow list outlives it, the pages read so
 * far belong to no version that can be finished: the list starts again, and the last time it asks for everything at once.
 */
export async function listAll<K extends KindName>(
  adoption: Adoption<K>,
  query: ListQuery,
  askPage: AskPage,
): Promise<Listed<K>> {
  for (let restarts = 0; ; restarts++) {
    const limit = restarts < limits.listRestartsMax ? limits.listPageObjects : undefined;
    const listed = await listPaged(adoption, query, limit, askPage);
    if (listed !== undefined) return listed;
  }
}

async function listPaged<K extends KindName>(
  adoption: Adoption<K>,
  query: ListQuery,
  limit: number | undefined,
  askPage: AskPage,
): Promise<Listed<K> | undefined> {
  const { labelSelector, fieldSelector } = query;
  const objects: ObjectOf<K>[] = [];
  let next: Parameters = { resourceVersion: query.resourceVersion };
  let resourceVersion: string | undefined;
  while (true) {
    const page = await unlessExpired(askPage({ labelSelector, fieldSelector, limit, ...next }), limit);
    if (page === undefined) return undefined;
    const { items, metadata } = pageIn(adoption, page);
    for (const item of items) objects.push(adopt(adoption, item));
    resourceVersion ??= String(metadata.resourceVersion ?? "");
    if (typeof metadata.continue !== "string" || metadata.continue === "") return { objects, resourceVersion };
    next = { continue: metadata.continue };
  }
}

/** Without pages there is no token to expire: then it is an answer like any other. */
const unlessExpired = (page: Promise<string>, limit: number | undefined): Promise<string | undefined> =>
  page.catch((reason: unknown) => {
    if (limit !== undefined && isFault(reason, "Expired")) return undefined;
    throw reason;
  });

function pageIn(adoption: Adoption<KindName>, text: string): { items: readonly JsonObject[]; metadata: JsonObject } {
  const page = parseResponse(text, `the list of ${adoption.kind} objects`, adoption.read);
  const items = isObject(page) ? (page.items ?? []) : undefined;
  if (!isObject(page) || !isObject(page.metadata) || !Array.isArray(items))
    throw new Fault(
      "UnknownOutcome",
      `the API server answered with something that is no list of ${adoption.kind} objects`,
    );
  return { items: items as JsonObject[], metadata: page.metadata };
}
