/** A client on a server whose answers a test has written down, in tests. */
import assert from "node:assert/strict";
import type { Handler, HttpRequest, HttpResponse } from "../src/base/http.ts";
import { parse, print } from "../src/base/json.ts";
import { type ClientOptions, createClient } from "../src/kube/client.ts";
import { createLimiter, type RateLimit } from "../src/kube/limiter.ts";
import { createVirtualWorld } from "./virtual-world.ts";

export const ok = (value: unknown, status = 200): HttpResponse => ({ status, headers: {}, body: print(value) });
export const refusal = (
  code: number,
  reason: string,
  more: object = {},
  headers: Record<string, string> = {},
): HttpResponse => ({
  status: code,
  headers,
  body: print({
    kind: "Status",
    apiVersion: "v1",
    status: "Failure",
    reason,
    code,
    message: `it is ${reason}`,
    ...more,
  }),
});
export const configMap = (name: string, more: object = {}): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "team", uid: `uid-${name}`, resourceVersion: "7", ...more },
});
export const ref = { kind: "ConfigMap", namespace: "team", name: "a" } as const;

/** A client whose requests are answered in turn; the last answer repeats. */
export function scripted(
  answers: readonly (HttpResponse | (() => Promise<HttpResponse>))[],
  { rateLimit, ...options }: Partial<ClientOptions> & { readonly rateLimit?: RateLimit | undefined } = {},
) {
  const asked: HttpRequest[] = [];
  const handler: Handler = async (request) => {
    const answer = answers[Math.min(asked.length, answers.length - 1)];
    asked.push(request);
    assert.ok(answer !== undefined);
    return typeof answer === "function" ? answer() : answer;
  };
  const world = createVirtualWorld();
  const limiter = rateLimit && createLimiter(rateLimit, world);
  return { client: createClient({ handler, world, limiter, ...options }), asked, world };
}

export const bodyOf = (request: HttpRequest | undefined): unknown => parse(String(request?.body));
