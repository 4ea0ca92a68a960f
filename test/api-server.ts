/** A server for tests: no sockets, its own clock, and requests in one line. */

import { type ApiServer, type ApiServerOptions, createApiServer, volumeBinder } from "../src/apiserver/index.ts";
import type { Body, HttpResponse } from "../src/base/http.ts";
import { readAll } from "../src/base/http.ts";
import { type JsonObject, parse, print } from "../src/base/json.ts";
import { createVirtualWorld, type VirtualWorld } from "./virtual-world.ts";

export interface TestAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly body: JsonObject;
}

export interface TestServer extends ApiServer {
  readonly world: VirtualWorld;
  /** `body` as JSON; `type` names the content type ("merge" and its like stand for the patch types). */
  ask(method: string, path: string, body?: unknown, more?: AskOptions): Promise<TestAnswer>;
  open(path: string, signal?: AbortSignal): Promise<HttpResponse>;
}

interface AskOptions {
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const patchTypes: Readonly<Record<string, string>> = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
};

const bodyOf = (body: unknown): Body | undefined =>
  body === undefined || typeof body === "string" || body instanceof Uint8Array ? body : print(body);

export function startApiServer(options: Partial<ApiServerOptions> = {}): TestServer {
  const world = createVirtualWorld();
  const server = createApiServer({ world, plugins: [volumeBinder], ...options });
  return {
    ...server,
    world,
    open: (path, signal) => server.handler({ method: "GET", path, headers: {}, signal }),
    async ask(method, path, body, { type = "application/json", headers = {} } = {}) {
      const response = await server.handler({
        method,
        path,
        headers: { "content-type": patchTypes[type] ?? type, ...headers },
        body: bodyOf(body),
      });
      const text = await readAll(response.body);
      const isJson = response.headers["content-type"]?.startsWith("application/json") === true && text !== "";
      return {
        status: response.status,
        headers: response.headers,
        text,
        body: isJson ? (parse(text) as JsonObject) : {},
      };
    },
  };
}

/** The next `count` events of a watch, as [type, name]. */
export async function eventsOf(response: HttpResponse, count: number): Promise<readonly JsonObject[]> {
  const events: JsonObject[] = [];
  for await (const chunk of response.body as AsyncIterable<string>) {
    for (const line of chunk.split("\n")) if (line !== "") events.push(parse(line) as JsonObject);
    if (events.length >= count) break;
  }
  return events;
}
