/** The bodies of requests: whole and bounded, or none. All that are still arriving are bounded together. */
import type { IncomingMessage } from "node:http";
import type { Body } from "../base/http.ts";

const announcesBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";

const announcedBytes = ({ headers }: IncomingMessage): number => Number(headers["content-length"] ?? -1);

export interface BodyLimits {
  /** The limit of one body. 0: requests have no bodies. */
  readonly bytesMax: number;
  /** The limit of all bodies that are still arriving: above it, the one that began first is refused. */
  readonly allBytesMax: number;
}

export interface BodyOutcomes {
  whole(body: Body): void;
  tooLarge(): void;
  /** The body was dropped for others, before it was whole. */
  crowdedOut(): void;
}

/** What a chunk occupies beside its bytes, so that many small ones are not free. */
const chunkBytes = 512;

interface Arriving {
  chunks: Buffer[];
  bytes: number;
  /** Zero once the body is refused: the rest is read, so that the refusal can be, and none of it is kept. */
  held: number;
  isRefused: boolean;
  readonly outcomes: BodyOutcomes;
}

export type BodyReceiver = (incoming: IncomingMessage, outcomes: BodyOutcomes) => void;

export function createBodyReceiver({ bytesMax, allBytesMax }: BodyLimits): BodyReceiver {
  /** In the order in which they began. */
  const all = new Set<Arriving>();
  let held = 0;

  const release = (body: Arriving): void => {
    all.delete(body);
    held -= body.held;
    body.held = 0;
    body.chunks = [];
  };
  const makeRoom = (): void => {
    for (const first of all) {
      if (held <= allBytesMax) return;
      release(first);
      first.isRefused = true;
      first.outcomes.crowdedOut();
    }
  };
  const hold = (body: Arriving, chunk: Buffer): void => {
    body.chunks.push(chunk);
    body.held += chunk.length + chunkBytes;
    held += chunk.length + chunkBytes;
    all.add(body);
    makeRoom();
  };
  const take = (body: Arriving, chunk: Buffer): void => {
    if (body.isRefused) return;
    body.bytes += chunk.length;
    if (body.bytes > bytesMax) release(body);
    else hold(body, chunk);
  };

  const begin = (incoming: IncomingMessage, outcomes: BodyOutcomes): Arriving => {
    const body: Arriving = { chunks: [], bytes: 0, held: 0, isRefused: false, outcomes };
    incoming.once("close", () => release(body));
    return body;
  };
  const end = (body: Arriving): void => {
    const { chunks, bytes, isRefused, outcomes } = body;
    release(body);
    if (isRefused) return;
    if (bytes > bytesMax) outcomes.tooLarge();
    else outcomes.whole(Buffer.concat(chunks));
  };

  return (incoming, outcomes) => {
    if (bytesMax === 0) {
      // The body is not awaited, so a slow sender occupies nothing.
      if (announcesBody(incoming)) outcomes.tooLarge();
      else outcomes.whole("");
      return;
    }
    // Nearly every body comes in one chunk: nothing of it is still arriving, and it is not copied.
    let only: Buffer | undefined;
    let body: Arriving | undefined;
    incoming.on("data", (chunk: Buffer) => {
      if (body === undefined && chunk.length <= bytesMax && chunk.length === announcedBytes(incoming)) only = chunk;
      else {
        body ??= begin(incoming, outcomes);
        take(body, chunk);
      }
    });
    incoming.on("end", () => {
      if (body !== undefined) end(body);
      else outcomes.whole(only ?? "");
    });
  };
}
