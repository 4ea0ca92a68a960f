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

export function createFrameDecoder(bytesMax: number = limits.responseBytesMax): FrameDecoder {
  // Pieces of one unfinished frame: joined once, when its end arrives, so that a large frame costs its length and no more.
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;

  const keep = (rest: Uint8Array): void => {
    if (rest.length === 0) return;
    pendingBytes += rest.length;
    if (pendingBytes > bytesMax)
      throw new Fault("Lost", `a watch event is larger than ${bytesMax} bytes: the stream is not a watch`);
    pending.push(rest);
  };

  return {
    push(chunk) {
      const bytes = typeof chunk === "string" ? Buffer.from(chunk) : bufferOver(chunk);
      const last = bytes.lastIndexOf(lineFeed);
      if (last === -1) {
        keep(bytes);
        return [];
      }
      const complete = bytes.subarray(0, last);
      const text = (pending.length === 0 ? complete : Buffer.concat([...pending, complete])).toString("utf8");
      pending = [];
      pendingBytes = 0;
      keep(bytes.subarray(last + 1));
      return linesOf(text);
    },
    end() {
      if (pending.some((piece) => Buffer.from(piece).toString("latin1").trim() !== ""))
        throw new Fault("Lost", `the watch ended inside an event, after ${pendingBytes} bytes of it`);
    },
  };
}

const bufferOver = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

const linesOf = (text: string): readonly string[] => text.split("\n").filter((line) => line !== "" && line !== "\r");
