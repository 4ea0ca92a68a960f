/** How webhooks are reached: over HTTPS, or, in the simulation, by calling a handler in this process. */
import type { Millis } from "../../base/brand.ts";
import { Fault } from "../../base/fault.ts";
import { type Handler, readAll } from "../../base/http.ts";
import { type JsonValue, parse, print } from "../../base/json.ts";
import { limits } from "../../base/limits.ts";
import type { World } from "../../base/world.ts";
import { createTransport, type Transport } from "../../kube/transport.ts";
import type { Webhook } from "./webhook.ts";

export interface Endpoint {
  readonly url: URL;
  /** PEM; undefined: the authorities Node trusts. */
  readonly authority: string | undefined;
}

/** The handler that speaks to an endpoint. */
export type ReachWebhook = (endpoint: Endpoint) => Handler;

const transportsMax = 64;

/** Connections are kept, one pool per host and authority. */
export function createHttpsReach(): ReachWebhook {
  const transports = new Map<string, Transport>();
  return ({ url, authority }) => {
    const key = `${url.origin}\n${authority ?? ""}`;
    const known = transports.get(key);
    if (known !== undefined) return known.handler;
    const [oldest] = transports;
    if (transports.size >= transportsMax && oldest !== undefined) {
      oldest[1].close();
      transports.delete(oldest[0]);
    }
    const made = createTransport(
      {
        server: new URL(url.origin),
        namespace: "",
        insecure: false,
        authority: async () => authority,
        credentials: { current: async () => ({ headers: {} }), refused: () => undefined, origin: "" },
        origin: { server: "clientConfig.url", authority: "clientConfig.caBundle" },
      },
      { responseBytesMax: limits.requestBytesMax },
    );
    transports.set(key, made);
    return made.handler;
  };
}

export function endpointOf({ clientConfig }: Webhook, timeoutSeconds: number): Endpoint {
  const { url, service, caBundle = "" } = clientConfig;
  if (url === undefined)
    throw new Error(
      `service ${service?.namespace}/${service?.name} cannot be reached: this server has no service network, give clientConfig.url instead`,
    );
  const address = new URL(url);
  address.searchParams.set("timeout", `${timeoutSeconds}s`);
  return {
    url: address,
    authority: caBundle === "" ? undefined : Buffer.from(caBundle, "base64").toString("utf8"),
  };
}

/** Throws an Error that says why there is no answer. */
export async function ask(
  reach: ReachWebhook,
  { url, authority }: Endpoint,
  question: JsonValue,
  world: World,
  timeoutMs: Millis,
  parent: AbortSignal | undefined,
): Promise<JsonValue> {
  const own = new AbortController();
  const signal = parent === undefined ? own.signal : AbortSignal.any([parent, own.signal]);
  world.sleep(timeoutMs, signal).then(
    () => own.abort(new Fault("DeadlineExceeded", "context deadline exceeded")),
    () => undefined,
  );
  try {
    const { status, text } = await Promise.race([
      post(reach({ url, authority }), url, question, signal),
      new Promise<never>((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      }),
    ]).catch((reason: unknown) => {
      throw new Error(`Post ${print(String(url))}: ${Fault.from(reason).message}`, { cause: reason });
    });
    return answerIn(status, text);
  } finally {
    own.abort();
  }
}

const shownTextMax = 200;

function answerIn(status: number, text: string): JsonValue {
  if (status < 200 || status > 299)
    throw new Error(
      `an error on the server (${print(text.slice(0, shownTextMax))}) has prevented the request from succeeding`,
    );
  try {
    return parse(text);
  } catch (reason) {
    throw new Error("the webhook's answer is not JSON", { cause: reason });
  }
}

async function post(
  handler: Handler,
  url: URL,
  question: JsonValue,
  signal: AbortSignal,
): Promise<{ readonly status: number; readonly text: string }> {
  const response = await handler({
    method: "POST",
    path: `${url.pathname}${url.search}`,
    headers: { "content-type": "application/json", accept: "application/json, */*" },
    body: print(question),
    signal,
  });
  return { status: response.status, text: await readAll(response.body) };
}
