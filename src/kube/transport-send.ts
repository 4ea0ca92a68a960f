/** One request on one connection. */
import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import type { Fault } from "../base/fault.ts";
import type { HttpResponse } from "../base/http.ts";
import type { Outgoing } from "./call.ts";
import { cancelledBy } from "./guard.ts";
import type { Target } from "./target.ts";
import { streamedBody, wholeBody } from "./transport-body.ts";
import { faultOfFailure, type Reach } from "./transport-fault.ts";
import type { Pool } from "./transport-pool.ts";
import { isUrgent } from "./urgent.ts";

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

export const attempt = (wire: Wire, request: Outgoing, identity: OutgoingHttpHeaders): Promise<Outcome> =>
  new Promise((resolve) => {
    const { signal, body } = request;
    if (signal?.aborted) return resolve(failure(cancelledBy(signal.reason), "unsent"));
    const call = wire.pool.open(
      {
        method: request.method,
        path: `${prefixOf(wire.target.server)}${request.path}`,
        headers: { ...request.headers, ...identity, ...lengthOf(body) },
      },
      request.stream === true ? "stream" : isUrgent(request.path) ? "urgent" : "request",
    );
    let reached: Reach = "unsent";
    let isReused = false;
    const cancel = (): void => void call.destroy(cancelledBy(signal?.reason));
    const fail = (reason: unknown): void => resolve(failure(reason, reached, isReused));

    signal?.addEventListener("abort", cancel, { once: true });
    call.once("close", () => signal?.removeEventListener("abort", cancel));
    // A connection may be long in coming, and this process stopped meanwhile: what is not sent yet may have become wrong.
    const send = (): void => {
      const refused = wire.refusal?.(request);
      if (refused !== undefined) return void call.destroy(refused);
      reached = "sent";
      call.end(body);
    };
    call.once("socket", (socket) => {
      isReused = wire.pool.isUsed(socket);
      // Between the end of an answer and the next request nobody listens, and a call given up just then would end the process.
      if (!isReused) socket.on("error", () => undefined);
      if (isReused) send();
      else socket.once("encrypted" in socket ? "secureConnect" : "connect", send);
    });
    call.on("error", fail);
    call.once("response", (message) => {
      // Remembered by the stream for its reader; without a listener it would be lost, or end the process.
      message.on("error", () => undefined);
      const answer = (content: HttpResponse["body"]): void =>
        resolve({ kind: "answer", response: responseOf(message, content) });
      if (request.stream === true && isSuccess(message))
        answer(streamedBody(message, (reason) => faultOfFailure(reason, wire.target, "sent")));
      else wholeBody(message, wire.responseBytesMax).then(answer, (reason) => resolve(failure(reason, "sent")));
    });
  });

const failure = (reason: unknown, reached: Reach, onReusedSocket = false): Outcome => ({
  kind: "failure",
  reason,
  reached,
  onReusedSocket,
});

const prefixOf = ({ pathname }: URL): string => pathname.replace(/\/$/, "");

const lengthOf = (body: Outgoing["body"]): OutgoingHttpHeaders =>
  body === undefined ? {} : { "content-length": Buffer.byteLength(body) };

const isSuccess = ({ statusCode = 0 }: IncomingMessage): boolean => statusCode < 300;

const responseOf = (message: IncomingMessage, body: HttpResponse["body"]): HttpResponse => ({
  status: message.statusCode ?? 0,
  // Only Set-Cookie would be a list, and no API server sends it.
  headers: message.headers as Record<string, string>,
  body,
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
