/**
 * One plain HTTPS request to the API server. The harness does not use the project's own client: what sets the stage for
 * a test of the client must not depend on it.
 */
import type { IncomingMessage } from "node:http";
import { type Agent, request as httpsRequest } from "node:https";

export interface Server {
  readonly url: string;
  /** PEM of the authority that signed the server's certificate. */
  readonly authority: string;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  /** What kubectl prints as "Warning: …". */
  readonly warnings: readonly string[];
}

const requestMsMax = 30_000;

interface RequestOptions {
  readonly token: string;
  readonly body?: unknown;
  readonly contentType?: string;
  /** Keeps connections, for a great many requests; absent: each has its own. */
  readonly agent?: Agent;
}

/** Each header reads: 299 - "text". */
const warningsIn = ({ headersDistinct }: IncomingMessage): readonly string[] =>
  (headersDistinct.warning ?? []).map((line) => JSON.parse(line.slice(line.indexOf('"'))) as string);

export function request(
  server: Server,
  method: string,
  path: string,
  { token, body, contentType = "application/json", agent }: RequestOptions,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = httpsRequest(
      new URL(path, server.url),
      {
        method,
        ca: server.authority,
        agent: agent ?? false,
        timeout: requestMsMax,
        headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { "content-type": contentType }) },
      },
      (incoming) => {
        let text = "";
        incoming.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk;
        });
        incoming
          .on("end", () => resolve({ status: incoming.statusCode ?? 0, text, warnings: warningsIn(incoming) }))
          .on("error", reject);
      },
    );
    outgoing.on("timeout", () => outgoing.destroy(new Error(`no answer to ${method} ${path} in ${requestMsMax} ms`)));
    outgoing.on("error", reject);
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
