/**
 * `OpenApi` for the API server: /openapi/v3 and its documents, made when first asked for and kept while the resources they
 * describe stay the same. Of v2, kubectl only wants to know that it exists: it then goes by its own types.
 */
import { createHash } from "node:crypto";
import type { HttpRequest, HttpResponse } from "../../../base/http.ts";
import type { OpenApi, Resource } from "../../contracts.ts";
import type { Dialect } from "./definitions.ts";
import { schemasOf } from "./kinds.ts";
import { pathsOf } from "./paths.ts";

const v3: Dialect = { refer: (name) => `#/components/schemas/${name}`, wraps: true };
const v2: Dialect = { refer: (name) => `#/definitions/${name}`, wraps: false };
const info = { title: "Kubernetes", version: "v1.36.4" };

interface Document {
  readonly resources: readonly Resource[];
  readonly text: string;
  readonly hash: string;
}

const keyOf = ({ group, version }: Resource): string => (group === "" ? `api/${version}` : `apis/${group}/${version}`);

const isSame = (a: readonly Resource[], b: readonly Resource[]): boolean =>
  a.length === b.length && a.every((resource, index) => resource === b[index]);

const hashOf = (text: string): string => createHash("sha512").update(text).digest("hex").toUpperCase();

const answer = (
  type: string,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): HttpResponse => ({
  status: 200,
  headers: { "content-type": type, "cache-control": "no-cache, private", vary: "Accept", ...headers },
  body,
});

export function createOpenApi(): OpenApi {
  const documents = new Map<string, Document>();

  const documentOf = (key: string, resources: readonly Resource[]): Document => {
    const known = documents.get(key);
    if (known !== undefined && isSame(known.resources, resources)) return known;
    const paths = Object.assign({}, ...resources.map(pathsOf));
    const text = JSON.stringify({ openapi: "3.0.0", info, paths, components: { schemas: schemasOf(resources, v3) } });
    const made = { resources, text, hash: hashOf(text) };
    documents.set(key, made);
    return made;
  };

  const respondV3 = (
    path: string,
    groups: ReadonlyMap<string, readonly Resource[]>,
    request: HttpRequest,
  ): HttpResponse | undefined => {
    if (path === "/openapi/v3") {
      const paths = [...groups].map(([key, resources]) => {
        const { hash } = documentOf(key, resources);
        return [key, { serverRelativeURL: `/openapi/v3/${key}?hash=${hash}` }] as const;
      });
      return answer("application/json", JSON.stringify({ paths: Object.fromEntries(paths) }));
    }
    const key = path.slice("/openapi/v3/".length);
    const resources = groups.get(key);
    if (resources === undefined) return undefined;
    const { text, hash } = documentOf(key, resources);
    const etag = `"${hash}"`;
    if (request.headers["if-none-match"] === etag) return { status: 304, headers: { etag }, body: "" };
    // A client that asks by hash may keep the answer for ever: another document would have another address.
    const isPinned = request.path.includes(`hash=${hash}`);
    return answer("application/json", text, {
      etag,
      ...(isPinned ? { "cache-control": "public, immutable", expires: "Fri, 01 Jan 2100 00:00:00 GMT" } : {}),
    });
  };

  return {
    respond: (request, path, resources) => {
      if (path === "/openapi/v2") return respondV2(request, resources);
      if (path !== "/openapi/v3" && !path.startsWith("/openapi/v3/")) return undefined;
      return respondV3(path, byGroupVersion(resources), request);
    },
  };
}

function byGroupVersion(resources: readonly Resource[]): ReadonlyMap<string, readonly Resource[]> {
  const groups = new Map<string, Resource[]>();
  for (const resource of resources) {
    const key = keyOf(resource);
    const group = groups.get(key) ?? [];
    group.push(resource);
    groups.set(key, group);
  }
  return new Map([...groups].sort(([a], [b]) => (a < b ? -1 : 1)));
}

const protobufV2 = "application/com.github.proto-openapi.spec.v2";

/** A Document that says its version and title, and nothing of definitions: swagger = 1, info = 2 {title = 1, version = 2}. */
function emptyDocument(): Uint8Array {
  const field = (number: number, bytes: Uint8Array): Uint8Array =>
    Buffer.concat([Uint8Array.of((number << 3) | 2, bytes.length), bytes]);
  const description = Buffer.concat([field(1, Buffer.from(info.title)), field(2, Buffer.from(info.version))]);
  return Buffer.concat([field(1, Buffer.from("2.0")), field(2, description)]);
}

function respondV2(request: HttpRequest, resources: readonly Resource[]): HttpResponse {
  const accepted = request.headers.accept ?? "";
  if (accepted.includes(protobufV2)) return answer(`${protobufV2}.v1.0+protobuf`, emptyDocument());
  const document = { swagger: "2.0", info, paths: {}, definitions: schemasOf(resources, v2) };
  return answer("application/json", JSON.stringify(document));
}
