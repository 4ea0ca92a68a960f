/**
 * A watch is a stream of JSON documents, one per line. Chunks end anywhere, also inside a character: lines are cut as
 * bytes and decoded whole. No document holds a raw line feed, so the byte 10 ends one and nothing else does.
 */
import { Fault } from "../base/fault.ts";
import type { Body } from "../base/http.ts";
import { limits } from "../base/limits.ts";

const lineFeed = 10;

export interface FrameDecoder {
  /** The frames that this chunk completes. */
  push(chunk: Body): readonly string[];
  /** The stream is over; throws when it ended inside a frame. */
  end(): void;
}

/** Decodes one frame, which stands from `start` to `end`. */
export type DecodeFrame = (bytes: Buffer, start: number, end: number) => string;
const plainText: DecodeFrame = (bytes, start, end) => bytes.toString("utf8", start, end);

export interface FrameReaderOptions {
  readonly decode?: DecodeFrame | undefined;
  /** Whether `decode` would leave everything in this text as it is. */
  readonly isFinalText?: ((text: string) => boolean) | undefined;
  readonly bytesMax?: number | undefined;
}

export function createFrameDecoder(options: FrameReaderOptions = {}): FrameDecoder {
  const { decode = plainText, bytesMax = limits.responseBytesMax } = options;
  const { isFinalText = () => decode === plainText } = options;
  // Pieces of one unfinished frame: joined once, when its end arrives, so that a large frame costs its length and no more.
  let pending: Buffer[] = [];
  let pendingBytes = 0;

  const keep = (rest: Buffer): void => {
    if (rest.length === 0) return;
    pendingBytes += rest.length;
    if (pendingBytes > bytesMax)
      throw new Fault("UnknownOutcome", `a watch event is larger than ${bytesMax} bytes: the stream is not a watch`);
    pending.push(rest);
  };

  /** The first frame of a chunk may have begun in earlier ones. */
  const firstOf = (head: Buffer): string => {
    if (pending.length === 0) return decode(head, 0, head.length);
    const whole = Buffer.concat([...pending, head]);
    pending = [];
    pendingBytes = 0;
    return decode(whole, 0, whole.length);
  };

  /** Whole lines of text need not become bytes and text again: so it is when server and client live in one process. */
  const textFrames = (text: string): readonly string[] | undefined =>
    pending.length === 0 && text.endsWith("\n") && isFinalText(text)
      ? text.split("\n").filter((frame) => frame !== "" && frame !== "\r")
      : undefined;

  return {
    push(chunk) {
      const whole = typeof chunk === "string" ? textFrames(chunk) : undefined;
      if (whole !== undefined) return whole;
      const bytes = typeof chunk === "string" ? Buffer.from(chunk) : bufferOver(chunk);
      const frames: string[] = [];
      let start = 0;
      for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed, start)) {
        const frame = start === 0 ? firstOf(bytes.subarray(0, end)) : decode(bytes, start, end);
        if (frame !== "" && frame !== "\r") frames.push(frame);
        start = end + 1;
      }
      keep(bytes.subarray(start));
      return frames;
    },
    end() {
      if (pending.some((piece) => piece.toString("latin1").trim() !== ""))
        throw new Fault("UnknownOutcome", `the watch ended inside an event, after ${pendingBytes} bytes of it`);
    },
  };
}

const bufferOver = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
