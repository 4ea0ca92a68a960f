/** One request on one connection. */
import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import { Fault } from "../base/fault.ts";
import type { HttpResponse } from "../base/http.ts";
import type { Outgoing } from "./call.ts";
import { cancelledBy } from "./guard.ts";
import type { Credential, Target } from "./target.ts";
import { streamedBody, wholeBody } from "./transport-body.ts";
import { faultOfFailure, hungUp, type Reach } from "./transport-fault.ts";
import type { Pool, Use } from "./transport-pool.ts";

/** Asked when the connection is there, just before the first byte: a reason not to send, if there is one. */
export type Refusal = (request: Outgoing) => Fault | undefined;

export interface Wire {
  readonly target: Target;
  readonly refusal?: Refusal | undefined;
  readonly pool: Pool;
  readonly responseBytesMax: number;
}

export type Outcome =
  | { readonly kind: "answer"; readonly response: HttpResponse }
  | { readonly kind: "failure"; readonly reason: unknown; readonly reached: Reach; readonly onReusedSocket: boolean };

export const attempt = (wire: Wire, request: Outgoing, identity: Credential["headers"]): Promise<Outcome> =>
  new Promise((resolve) => {
    const { signal } = request;
    if (signal?.aborted) return resolve(failure(cancelledBy(signal.reason), "unsent"));
    request.onProgress?.("waiting");
    const use = useOf(request);
    let call: ClientRequest | undefined;
    let message: IncomingMessage | undefined;
    let reached: Reach = "unsent";
    let isReused = false;

    const fail = (reason: unknown): void => resolve(failure(reason, reached, isReused));
    const cancel = (): void => {
      const fault = cancelledBy(signal?.reason);
      if (call === undefined) leave();
      // A request that has no socket yet says nothing when it is destroyed.
      else (message ?? call).destroy(fault);
      fail(fault);
    };
    signal?.addEventListener("abort", cancel, { once: true });
    const release = (): void => signal?.removeEventListener("abort", cancel);

    /** A connection may be long in coming, and this process stopped meanwhile: what is not sent yet may have become wrong. */
    const send = (opened: ClientRequest): void => {
      const refused = wire.refusal?.(request);
      if (refused !== undefined) return void opened.destroy(refused);
      reached = "sent";
      request.onProgress?.("sent");
      opened.end(request.body);
    };
    const answer = (body: HttpResponse["body"]): void => {
      if (message !== undefined) resolve({ kind: "answer", response: responseOf(message, body) });
    };
    /** A server that answers before it has read the request would take the rest of it for the next one, or never read it. */
    const whole = (body: string): void => {
      if (call?.writableFinished === false) call.destroy();
      answer(body);
    };
    const receive = (received: IncomingMessage): void => {
      message = received;
      isReused = false; // An answer has begun: what happens from now on is not for the age of the connection.
      // Only a success goes on and on; an error answer is short, and read whole.
      if (request.stream === true && (received.statusCode ?? 0) < 300)
        answer(streamedBody(received, (reason) => faultOfFailure(reason, wire.target, "sent")));
      else wholeBody(received, wire.responseBytesMax, whole, fail);
    };
    const begin = (leaveTurn: () => void): void => {
      const end = (): void => {
        release();
        leaveTurn();
      };
      try {
        call = wire.pool.open(optionsOf(wire.target.server, request, identity), use);
      } catch (reason) {
        fail(malformed(request, reason));
        end();
        return;
      }
      const opened = call;
      opened.once("socket", (socket) => {
        isReused = wire.pool.isUsed(socket);
        // Between a response and the next request there is no error listener, and an abort then would crash the process.
        if (!isReused) socket.on("error", () => undefined);
        wire.pool.whenOpen(socket, () => send(opened));
      });
      opened.on("error", fail);
      opened.once("response", receive);
      // Without this the error would be lost.
      opened.once("upgrade", (_received, socket) => {
        fail(new Fault("UnknownOutcome", "the answer changes to another protocol, which was not asked for"));
        socket.destroy();
        end();
      });
      opened.once("close", end);
    };
    const leave = wire.pool.take(use, {
      begin,
      fail: () => {
        release();
        fail(hungUp());
      },
    });
  });

const useOf = ({ stream, isUrgent }: Outgoing): Use =>
  stream === true ? "stream" : isUrgent === true ? "urgent" : "request";

/** Headers as a list: Node writes them as they stand, and looks at each of them once. */
function optionsOf(server: URL, request: Outgoing, identity: Credential["headers"]): RequestOptions {
  const { method, body } = request;
  const path = `${server.pathname.replace(/\/$/, "")}${request.path}`;
  if (!/^[\x21-\x7e]+$/.test(path)) throw new TypeError("the path must be percent-encoded");
  const headers = ["host", server.host];
  for (const name in request.headers) headers.push(name, request.headers[name] ?? "");
  for (const name in identity) for (const value of [identity[name] ?? ""].flat()) headers.push(name, value);
  if (body !== undefined) headers.push("content-length", String(Buffer.byteLength(body)));
  else if (method !== "GET" && method !== "HEAD") headers.push("content-length", "0");
  return { method, path, headers };
}

/** Node names the header that would end a line early, and never quotes its value, which may be a token. */
const malformed = ({ method, path }: Outgoing, reason: unknown): Fault =>
  new Fault("InvalidArgument", `${JSON.stringify(`${method} ${path}`)} cannot be sent: ${(reason as Error).message}`);

const responseOf = ({ statusCode = 0, headers }: IncomingMessage, body: HttpResponse["body"]): HttpResponse => ({
  status: statusCode,
  // Only Set-Cookie would be a list, and no API server sends it.
  headers: headers as Record<string, string>,
  body,
});

const failure = (reason: unknown, reached: Reach, onReusedSocket = false): Outcome => ({
  kind: "failure",
  reason,
  reached,
  onReusedSocket,
});

/**
 * A kept-alive connection may have been closed by the server just as it was taken: that is no failure of the request. It
 * may be sent again when nothing of it was read (the write itself failed) or when reading it twice does no harm.
 */
export const mayReplay = (request: Outgoing, failed: Extract<Outcome, { kind: "failure" }>): boolean => {
  if (!failed.onReusedSocket || request.signal?.aborted === true) return false;
  const code = (failed.reason as NodeJS.ErrnoException).code;
  if (code === "EPIPE") return true;
  return (
    code === "ECONNRESET" && (request.replayable === true || request.method === "GET" || request.method === "HEAD")
  );
};
