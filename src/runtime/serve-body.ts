/** The bodies of requests: whole and bounded, or none. */
import type { IncomingMessage } from "node:http";
import type { Body } from "../base/http.ts";

const announcesBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";

/** Nearly every body comes in one chunk, and then it is not copied. */
export function receive(
  incoming: IncomingMessage,
  bytesMax: number,
  whole: (body: Body) => void,
  excess: () => void,
): void {
  if (bytesMax === 0) {
    // The body is not awaited, so a slow sender occupies nothing.
    if (announcesBody(incoming)) excess();
    else whole("");
    return;
  }
  let first: Buffer | undefined;
  const more: Buffer[] = [];
  let bytes = 0;
  incoming.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > bytesMax) {
      // The rest is read, so that the refusal can be; none of it is kept.
      first = undefined;
      more.length = 0;
    } else if (first === undefined) first = chunk;
    else more.push(chunk);
  });
  incoming.on("end", () => {
    if (bytes > bytesMax) excess();
    else whole(first === undefined || more.length === 0 ? (first ?? "") : Buffer.concat([first, ...more]));
  });
}
