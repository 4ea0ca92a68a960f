/** What an answer carries: whole and bounded, or as it comes. */
import type { IncomingMessage } from "node:http";
import { pipeline } from "node:stream";
import { promisify } from "node:util";
import { createGunzip, gunzip } from "node:zlib";
import { Fault } from "../base/fault.ts";
import type { Body } from "../base/http.ts";

const unzip = promisify(gunzip);

const isZipped = ({ headers }: IncomingMessage): boolean => headers["content-encoding"] === "gzip";

const tooLarge = (bytesMax: number): Fault =>
  new Fault("UnknownOutcome", `the API server's answer is larger than ${bytesMax} bytes; ask for less with a selector`);

/** The body when all of it is there. By events: several times cheaper than iterating, and most answers are a single chunk. */
export function wholeBody(
  message: IncomingMessage,
  bytesMax: number,
  take: (body: string) => void,
  fail: (reason: unknown) => void,
): void {
  const chunks: Buffer[] = [];
  let length = 0;
  message.on("data", (chunk: Buffer) => {
    length += chunk.length;
    if (length > bytesMax) message.destroy(tooLarge(bytesMax));
    else chunks.push(chunk);
  });
  message.on("end", () => {
    const bytes = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
    if (isZipped(message) && bytes.length > 0) unzipped(bytes, bytesMax).then(take, fail);
    else take(bytes.toString("utf8"));
  });
  message.on("error", fail);
}

async function unzipped(bytes: Buffer, bytesMax: number): Promise<string> {
  try {
    return (await unzip(bytes, { maxOutputLength: bytesMax })).toString("utf8");
  } catch (reason) {
    if ((reason as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(bytesMax);
    throw new Fault("UnknownOutcome", "the API server's answer says it is gzip and is not");
  }
}

/** The reader sets the pace; when it stops reading, the connection is closed. */
export async function* streamedBody(
  message: IncomingMessage,
  explain: (reason: unknown) => Fault,
): AsyncGenerator<Body> {
  // The pipeline's promise is not awaited: its last stream passes every error to its reader.
  const source = isZipped(message) ? pipeline(message, createGunzip(), () => undefined) : message;
  try {
    for await (const chunk of source) yield chunk;
  } catch (reason) {
    throw explain(reason);
  } finally {
    message.destroy();
  }
}
