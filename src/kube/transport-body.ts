/** What an answer carries: whole and bounded, or as it comes. */
import { pipeline, Readable } from "node:stream";
import { promisify } from "node:util";
import { createGunzip, gunzip } from "node:zlib";
import { Fault } from "../base/fault.ts";
import type { Body, HttpResponse } from "../base/http.ts";
import type { AnswerHead } from "./answer.ts";
import type { Connection, ExchangeReader } from "./connection.ts";

const unzip = promisify(gunzip);

const isZipped = ({ headers }: AnswerHead): boolean => headers["content-encoding"] === "gzip";

const tooLarge = (bytesMax: number): Fault =>
  new Fault("Lost", `the API server's answer is larger than ${bytesMax} bytes; ask for less with a selector`);

export interface Receiver {
  answer(response: HttpResponse): void;
  fail(reason: unknown): void;
}

/** The answer when all of it is there. Nearly always it comes in a single piece. */
export function wholeAnswer(bytesMax: number, receiver: Receiver): ExchangeReader {
  const pieces: Buffer[] = [];
  let length = 0;
  let head: AnswerHead | undefined;
  return {
    head: (read) => {
      head = read;
    },
    data: (bytes) => {
      length += bytes.length;
      if (length > bytesMax) throw tooLarge(bytesMax);
      pieces.push(bytes);
    },
    end: () => {
      if (head === undefined) return;
      const bytes = pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
      const { status, headers } = head;
      if (!isZipped(head) || bytes.length === 0)
        return receiver.answer({ status, headers, body: bytes.toString("utf8") });
      unzipped(bytes, bytesMax).then((body) => receiver.answer({ status, headers, body }), receiver.fail);
    },
    fail: receiver.fail,
  };
}

async function unzipped(bytes: Buffer, bytesMax: number): Promise<string> {
  try {
    return (await unzip(bytes, { maxOutputLength: bytesMax })).toString("utf8");
  } catch (reason) {
    if ((reason as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(bytesMax);
    throw new Fault("Lost", "the API server's answer says it is gzip and is not");
  }
}

/** Beyond this the server has to wait for the reader. */
const unreadBytesMax = 256 * 1024;

/** The answer at its head, with a body that goes on. When its reader stops, the connection is closed. */
export function streamedAnswer(
  connection: Connection,
  receiver: Receiver,
  explain: (reason: unknown) => Fault,
): ExchangeReader {
  const unread: Buffer[] = [];
  let unreadBytes = 0;
  let outcome: "open" | "complete" | { readonly reason: unknown } = "open";
  let wake: () => void = () => undefined;

  async function* pieces(): AsyncGenerator<Buffer> {
    try {
      while (true) {
        const piece = unread.shift();
        if (piece !== undefined) {
          unreadBytes -= piece.length;
          if (unreadBytes === 0 && outcome === "open") connection.resume();
          yield piece;
        } else if (outcome === "complete") return;
        else if (outcome !== "open") throw explain(outcome.reason);
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    } finally {
      if (outcome === "open") connection.destroy();
    }
  }

  return {
    head: (head) => {
      const { status, headers } = head;
      receiver.answer({ status, headers, body: isZipped(head) ? unzipping(pieces(), explain) : pieces() });
    },
    data: (bytes) => {
      unread.push(bytes);
      unreadBytes += bytes.length;
      if (unreadBytes > unreadBytesMax) connection.pause();
      wake();
    },
    end: () => {
      outcome = "complete";
      wake();
    },
    fail: (reason) => {
      outcome = { reason };
      wake();
      receiver.fail(reason);
    },
  };
}

async function* unzipping(pieces: AsyncIterable<Buffer>, explain: (reason: unknown) => Fault): AsyncGenerator<Body> {
  try {
    // Nobody waits for the pipeline itself: its last stream tells its reader of every error.
    yield* pipeline(Readable.from(pieces, { objectMode: false }), createGunzip(), () => undefined);
  } catch (reason) {
    throw explain(reason);
  }
}
