/** What an answer carries: whole and bounded, or as it comes. */
import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { promisify } from "node:util";
import { createGunzip, gunzip } from "node:zlib";
import { Fault } from "../base/fault.ts";
import type { Body } from "../base/http.ts";

const unzip = promisify(gunzip);

const isZipped = (message: IncomingMessage): boolean => message.headers["content-encoding"] === "gzip";

const tooLarge = (bytesMax: number): Fault =>
  new Fault("Lost", `the API server's answer is larger than ${bytesMax} bytes; ask for less with a selector`);

export async function wholeBody(message: IncomingMessage, bytesMax: number): Promise<string> {
  const bytes = await collect(message, bytesMax);
  if (!isZipped(message) || bytes.length === 0) return bytes.toString("utf8");
  try {
    return (await unzip(bytes, { maxOutputLength: bytesMax })).toString("utf8");
  } catch (reason) {
    if ((reason as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(bytesMax);
    throw new Fault("Lost", "the API server's answer says it is gzip and is not");
  }
}

/** By events: several times cheaper than iterating, and most answers are a single chunk. */
const collect = (message: IncomingMessage, bytesMax: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    message.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length > bytesMax) message.destroy(tooLarge(bytesMax));
      else chunks.push(chunk);
    });
    message.on("end", () =>
      resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)),
    );
    message.on("error", reject);
  });

/** The reader sets the pace; when it stops reading, the connection is closed. */
export async function* streamedBody(
  message: IncomingMessage,
  explain: (reason: unknown) => Fault,
): AsyncGenerator<Body> {
  const source: Readable = isZipped(message) ? message.pipe(createGunzip()) : message;
  if (source !== message) message.on("error", (reason) => source.destroy(reason));
  try {
    for await (const chunk of source) yield chunk;
  } catch (reason) {
    throw explain(reason);
  } finally {
    message.destroy();
  }
}
