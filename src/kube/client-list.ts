/** A whole list, page by page; at once, or one page at a time. */
import type { KindName } from "../api/kinds.ts";
import type { ObjectOf } from "../api/types.ts";
import { backoffMs } from "../base/backoff.ts";
import { Fault, isFault, isFinal } from "../base/fault.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { limits } from "../base/limits.ts";
import type { World } from "../base/world.ts";
import type { Listed, ListQuery } from "./api.ts";
import { type Adoption, adopt, parseResponse } from "./objects.ts";

export type PageParameters = Readonly<Record<string, string | number | undefined>>;
type AskPage = (parameters: PageParameters) => Promise<string>;

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
  let next: PageParameters = { resourceVersion: query.resourceVersion };
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

/** One page at a time. Objects that appear after the first page may be among the others or not. */
export async function* listPages<K extends KindName>(
  adoption: Adoption<K>,
  query: ListQuery,
  askPage: AskPage,
  world: Pick<World, "random" | "sleep">,
): AsyncGenerator<Listed<K>, void, void> {
  const { labelSelector, fieldSelector, signal } = query;
  const ask = persistently(askPage, world, signal);
  let next: PageParameters = { resourceVersion: query.resourceVersion };
  while (true) {
    const page = await ask({ labelSelector, fieldSelector, limit: limits.listPageObjects, ...next }).catch(restOfList);
    if (typeof page !== "string") next = page;
    else {
      const { items, metadata } = pageIn(adoption, page);
      const objects = items.map((item) => adopt(adoption, item));
      yield { objects, resourceVersion: String(metadata.resourceVersion ?? "") };
      if (typeof metadata.continue !== "string" || metadata.continue === "") return;
      next = { continue: metadata.continue };
    }
  }
}

/** The server offers a token for the rest of a list whose version it has forgotten. */
export function restOfList(reason: unknown): PageParameters {
  if (isFault(reason, "Expired") && reason.continueToken !== undefined) return { continue: reason.continueToken };
  throw reason;
}

const pagePause = { startMs: 200, maxMs: 5_000 } as const;

/** Reading a page again costs nothing but time. */
const persistently =
  (askPage: AskPage, world: Pick<World, "random" | "sleep">, signal: AbortSignal | undefined): AskPage =>
  async (parameters) => {
    for (let failures = 0; ; failures++) {
      try {
        return await askPage(parameters);
      } catch (reason) {
        if (isFinal(Fault.from(reason)) || failures >= limits.listPageRetriesMax || signal?.aborted) throw reason;
        await world.sleep(backoffMs(pagePause, failures, world.random()), signal);
      }
    }
  };

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
