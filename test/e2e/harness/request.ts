/**
 * One plain HTTPS request to the API server. The harness does not use the project's own client: what sets the stage for
 * a test of the client must not depend on it.
 */
import { request as httpsRequest } from "node:https";

export interface Server {
  readonly url: string;
  /** PEM of the authority that signed the server's certificate. */
  readonly authority: string;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
}

const requestMsMax = 30_000;

export function request(
  server: Server,
  method: string,
  path: string,
  { token, body, contentType = "application/json" }: { token: string; body?: unknown; contentType?: string },
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = httpsRequest(
      new URL(path, server.url),
      {
        method,
        ca: server.authority,
        agent: false,
        timeout: requestMsMax,
        headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { "content-type": contentType }) },
      },
      (incoming) => {
        let text = "";
        incoming.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk;
        });
        incoming.on("end", () => resolve({ status: incoming.statusCode ?? 0, text })).on("error", reject);
      },
    );
    outgoing.on("timeout", () => outgoing.destroy(new Error(`no answer to ${method} ${path} in ${requestMsMax} ms`)));
    outgoing.on("error", reject);
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
