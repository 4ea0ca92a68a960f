/** A whole list by its path, page by page: for resources that have no kind in the table. */
import { isObject, type JsonObject, type JsonValue } from "../base/json.ts";
import { limits } from "../base/limits.ts";
import type { PathOptions, PathReader } from "./api.ts";
import { type PageParameters, restOfList } from "./client-list.ts";
import { withQuery } from "./query.ts";

/** The first page, with the items of all. After a token has expired, the rest is as it is by then. */
export async function listPath(api: PathReader, path: string, options: PathOptions = {}): Promise<JsonValue> {
  const pages: JsonObject[] = [];
  let next: PageParameters | undefined = {};
  while (next !== undefined) {
    const parameters: PageParameters = { limit: limits.listPageObjects, ...next };
    try {
      const page = await api.getPath(withQuery(path, parameters), options);
      if (!isObject(page)) return page;
      pages.push(page);
      next = afterPage(page);
    } catch (reason) {
      next = restOfList(reason);
    }
  }
  const { continue: _token, remainingItemCount: _count, ...metadata } = metadataOf(pages[0]);
  return { ...pages[0], metadata, items: pages.flatMap(({ items }) => (Array.isArray(items) ? items : [])) };
}

const metadataOf = (page: JsonObject | undefined): JsonObject => (isObject(page?.metadata) ? page.metadata : {});

function afterPage(page: JsonObject): PageParameters | undefined {
  const { continue: token } = metadataOf(page);
  return typeof token === "string" && token !== "" ? { continue: token } : undefined;
}
