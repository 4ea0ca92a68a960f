/**
 * HTTP/1.1 answers out of the bytes of one connection. Strict: what could be read in two ways is refused, because everything
 * after it on the same connection would be read wrong.
 */
import { Fault } from "../base/fault.ts";

export interface AnswerHead {
  readonly status: number;
  /** Names in lower case; what came twice is joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Told of one answer, piece by piece. */
export interface AnswerReader {
  head(head: AnswerHead): void;
  /** May throw a Fault to refuse the rest. */
  data(bytes: Buffer): void;
  /** The answer is complete. */
  end(isReusable: boolean): void;
}

export interface AnswerParser {
  /** An answer to a request of this method comes next. */
  expect(method: string, reader: AnswerReader): void;
  /** Throws a Fault at what is no answer, or one that nobody has asked for. */
  feed(bytes: Buffer): void;
  /** The connection has ended. True, and its reader told so, when that is how the answer says that it is complete. */
  finish(): boolean;
}

type Phase = "nothing" | "head" | "sized" | "chunkSize" | "chunk" | "chunkEnd" | "trailer" | "untilClose";

/** A head or a line between chunks that is longer is no answer of an API server. */
const lineBytesMax = 64 * 1024;
const none: Buffer = Buffer.alloc(0);

export function createAnswerParser(): AnswerParser {
  let phase: Phase = "nothing";
  let held = none;
  let left = 0;
  let isHead = false;
  let isReusable = false;
  let reader: AnswerReader | undefined;

  const complete = (rest: Buffer): Buffer => {
    if (rest.length > 0) throw wrong("more follows than was asked for");
    const told = reader;
    phase = "nothing";
    reader = undefined;
    // Last of all: whoever hears it may send the next request at once.
    told?.end(isReusable);
    return none;
  };

  const readHead = (bytes: Buffer): Buffer | undefined => {
    const at = bytes.indexOf("\r\n\r\n");
    if (at < 0) return undefined;
    const head = headOf(bytes.toString("latin1", 0, at));
    const rest = bytes.subarray(at + 4);
    if (head.status < 200) return rest; // "Continue" and its like come before the answer.
    const { length, isChunked } = framingOf(head);
    isReusable = head.isPersistent;
    reader?.head(head);
    if (isHead || head.status === 204 || head.status === 304 || length === 0) return complete(rest);
    left = length ?? 0;
    phase = isChunked ? "chunkSize" : length === undefined ? "untilClose" : "sized";
    return rest;
  };

  /** As much as belongs to the piece, and what comes after it. */
  const readPiece = (bytes: Buffer, after: (rest: Buffer) => Buffer): Buffer => {
    const piece = bytes.length > left ? bytes.subarray(0, left) : bytes;
    left -= piece.length;
    reader?.data(piece);
    const rest = bytes.subarray(piece.length);
    return left === 0 ? after(rest) : rest;
  };

  const readLine = (bytes: Buffer, use: (line: string, rest: Buffer) => Buffer): Buffer | undefined => {
    const at = bytes.indexOf("\r\n");
    return at < 0 ? undefined : use(bytes.toString("latin1", 0, at), bytes.subarray(at + 2));
  };

  const enter = (next: Phase, rest: Buffer): Buffer => {
    phase = next;
    return rest;
  };

  const steps: Readonly<Record<Phase, (bytes: Buffer) => Buffer | undefined>> = {
    nothing: () => {
      throw wrong("nothing was asked for");
    },
    head: readHead,
    sized: (bytes) => readPiece(bytes, complete),
    chunkSize: (bytes) =>
      readLine(bytes, (line, rest) => {
        left = chunkSizeOf(line);
        return enter(left === 0 ? "trailer" : "chunk", rest);
      }),
    chunk: (bytes) => readPiece(bytes, (rest) => enter("chunkEnd", rest)),
    chunkEnd: (bytes) =>
      readLine(bytes, (line, rest) => {
        if (line !== "") throw wrong("a chunk is longer than it says");
        return enter("chunkSize", rest);
      }),
    trailer: (bytes) => readLine(bytes, (line, rest) => (line === "" ? complete(rest) : rest)),
    untilClose: (bytes) => {
      reader?.data(bytes);
      return none;
    },
  };

  return {
    expect: (method, next) => {
      phase = "head";
      reader = next;
      isHead = method === "HEAD";
    },
    feed: (bytes) => {
      let rest: Buffer = held.length === 0 ? bytes : Buffer.concat([held, bytes]);
      held = none;
      while (rest.length > 0) {
        const next = steps[phase](rest);
        if (next === undefined) {
          if (rest.length > lineBytesMax) throw wrong(`a line of it is longer than ${lineBytesMax} bytes`);
          held = rest;
          return;
        }
        rest = next;
      }
    },
    finish: () => {
      if (phase !== "untilClose") return false;
      isReusable = false;
      complete(none);
      return true;
    },
  };
}

interface ParsedHead extends AnswerHead {
  readonly isPersistent: boolean;
}

function headOf(text: string): ParsedHead {
  const lines = text.split("\r\n");
  const [, minor, code] = /^HTTP\/1\.([01]) (\d{3})(?: |$)/.exec(lines[0] ?? "") ?? [];
  if (code === undefined) throw wrong("it does not begin with HTTP/1.1 and a status");
  const headers: Record<string, string> = {};
  for (let index = 1; index < lines.length; index++) {
    const line = lines[index] ?? "";
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(colon, 0)).toLowerCase();
    // Blanks around a name are the old trick to hide a header from one of two readers.
    if (!headerName.test(name)) throw wrong("one of its header lines has no name");
    const value = line.slice(colon + 1).trim();
    const before = headers[name];
    headers[name] = before === undefined ? value : `${before}, ${value}`;
  }
  const status = Number(code);
  if (status === 101) throw wrong("it changes to another protocol, which was not asked for");
  const connection = (headers.connection ?? "").toLowerCase();
  return { status, headers, isPersistent: minor === "1" ? connection !== "close" : connection === "keep-alive" };
}
const headerName = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;

function framingOf({ headers }: AnswerHead): { readonly length: number | undefined; readonly isChunked: boolean } {
  const { "content-length": length, "transfer-encoding": encoding } = headers;
  if (encoding !== undefined) {
    if (encoding.toLowerCase() !== "chunked") throw wrong(`its transfer-encoding is "${encoding}" and not chunked`);
    if (length !== undefined) throw wrong("it has both a content-length and a transfer-encoding");
    return { length: undefined, isChunked: true };
  }
  if (length === undefined) return { length, isChunked: false };
  if (!/^\d{1,15}$/.test(length)) throw wrong(`its content-length is "${length}"`);
  return { length: Number(length), isChunked: false };
}

function chunkSizeOf(line: string): number {
  const [, size] = /^([0-9a-f]{1,12})[ \t]*(?:;.*)?$/i.exec(line) ?? [];
  if (size === undefined) throw wrong("a chunk of it has no size");
  return Number.parseInt(size, 16);
}

/** Nothing of the answer is quoted but what is a number or a word of the protocol: it may hold a secret. */
const wrong = (why: string): Fault =>
  new Fault("Lost", `the answer is no HTTP/1.1 as an API server speaks it: ${why}; is something else in between?`);
