/** One connection to the server: one request at a time, and whatever becomes of it told to one reader. */
import type { Socket } from "node:net";
import { Fault } from "../base/fault.ts";
import type { Body } from "../base/http.ts";
import { type AnswerReader, createAnswerParser } from "./answer.ts";

export interface ExchangeReader extends AnswerReader {
  /** There will be no (more of the) answer. */
  fail(reason: unknown): void;
}

export interface Connection {
  send(method: string, head: string, body: Body | undefined, reader: ExchangeReader): void;
  /** Whether neither side is known to have closed it. */
  isOpen(): boolean;
  /** The reader wants no more for now. */
  pause(): void;
  resume(): void;
  /** Lets the process end while nothing is asked for. */
  rest(): void;
  destroy(reason?: Error): void;
}

/** Who is told that the request is answered, and that the connection is no more. */
export interface ConnectionOwner {
  free(connection: Connection): void;
  gone(connection: Connection): void;
}

/** Listeners are set once and stay: setting and removing them for every request costs more than the request. */
export function createConnection(socket: Socket, owner: ConnectionOwner): Connection {
  const parser = createAnswerParser();
  let under: ExchangeReader | undefined;
  let failure: unknown;

  const ended = (reader: ExchangeReader, isReusable: boolean): void => {
    under = undefined;
    // A server that answers before it has read the request would take the rest of it for the next one.
    const isClean = isReusable && socket.writableLength === 0;
    if (!isClean) socket.destroy();
    else if (socket.isPaused()) socket.resume(); // The reader was slow up to the very end; the next one is not.
    reader.end(isReusable);
    if (isClean && !socket.destroyed) owner.free(connection);
  };
  const connection: Connection = {
    send: (method, head, body, reader) => {
      under = reader;
      socket.ref();
      parser.expect(method, { ...reader, end: (isReusable) => ended(reader, isReusable) });
      // One packet for both where they are both text, as they nearly always are.
      if (typeof body === "string") return void socket.write(head + body);
      socket.cork();
      socket.write(head);
      if (body !== undefined) socket.write(body);
      socket.uncork();
    },
    isOpen: () => socket.writable,
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    rest: () => void socket.unref(),
    destroy: (reason) => void socket.destroy(reason),
  };

  socket.on("data", (bytes: Buffer) => {
    try {
      parser.feed(bytes);
    } catch (reason) {
      if (!(reason instanceof Fault)) throw reason;
      socket.destroy(reason);
    }
  });
  socket.on("error", (reason) => {
    failure ??= reason;
  });
  socket.once("close", () => {
    owner.gone(connection);
    const reader = under;
    if (reader === undefined) return;
    if (failure === undefined && parser.finish()) return;
    under = undefined;
    reader.fail(failure ?? hungUp());
  });
  return connection;
}

/** As the kernel would say it: the other side has closed the connection in the middle. */
export const hungUp = (): Error => Object.assign(new Error("the server hung up"), { code: "ECONNRESET" });
