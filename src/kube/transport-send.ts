/** One request on one connection. */
import type { Fault } from "../base/fault.ts";
import type { HttpResponse } from "../base/http.ts";
import type { Outgoing } from "./call.ts";
import type { Connection, ExchangeReader } from "./connection.ts";
import { cancelledBy } from "./guard.ts";
import { requestHead } from "./request-head.ts";
import type { Credential, Target } from "./target.ts";
import { type Receiver, streamedAnswer, wholeAnswer } from "./transport-body.ts";
import { faultOfFailure, type Reach } from "./transport-fault.ts";
import type { Pool, Use } from "./transport-pool.ts";
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

export const attempt = (wire: Wire, request: Outgoing, identity: Credential["headers"]): Promise<Outcome> =>
  new Promise((resolve) => {
    const { method, signal, body } = request;
    if (signal?.aborted) return resolve(failure(cancelledBy(signal.reason), "unsent"));
    const head = requestHead(wire.target.server, request, identity);
    let reached: Reach = "unsent";
    let isReused = false;
    let giveUp: (fault: Fault) => void;
    const cancel = (): void => giveUp(cancelledBy(signal?.reason));
    const release = (): void => signal?.removeEventListener("abort", cancel);
    const receiver: Receiver = {
      answer: (response) => resolve({ kind: "answer", response }),
      fail: (reason) => {
        release();
        resolve(failure(reason, reached, isReused));
      },
    };
    const send = (connection: Connection): void => {
      // A connection may be long in coming, and this process stopped meanwhile: what is not sent yet may have become wrong.
      const refused = wire.refusal?.(request);
      if (refused !== undefined) {
        connection.destroy();
        receiver.fail(refused);
        return;
      }
      giveUp = (fault) => connection.destroy(fault);
      reached = "sent";
      const reader = readerOf(wire, request, connection, receiver);
      connection.send(method, head, body, {
        ...reader,
        head: (answer) => {
          isReused = false; // An answer has begun: what happens from now on is not for the age of the connection.
          reader.head(answer);
        },
        end: (isReusable) => {
          release();
          reader.end(isReusable);
        },
      });
    };

    signal?.addEventListener("abort", cancel, { once: true });
    giveUp = (fault) => {
      leave();
      receiver.fail(fault);
    };
    const leave = wire.pool.take(useOf(request), {
      ready: (connection, reused) => {
        isReused = reused;
        send(connection);
      },
      fail: receiver.fail,
    });
  });

const useOf = ({ stream, path }: Outgoing): Use => (stream === true ? "stream" : isUrgent(path) ? "urgent" : "request");

/** Only a success goes on and on; an error answer is short, and read whole. */
function readerOf(wire: Wire, { stream }: Outgoing, connection: Connection, receiver: Receiver): ExchangeReader {
  let reader = wholeAnswer(wire.responseBytesMax, receiver);
  if (stream !== true) return reader;
  return {
    head: (head) => {
      if (head.status < 300)
        reader = streamedAnswer(connection, receiver, (reason) => faultOfFailure(reason, wire.target, "sent"));
      reader.head(head);
    },
    data: (bytes) => reader.data(bytes),
    end: (isReusable) => reader.end(isReusable),
    fail: (reason) => reader.fail(reason),
  };
}

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
