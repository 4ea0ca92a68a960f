/** The line from the driver to the API server: takes time, loses requests and replies, cuts watches, and is cut for a while. */
import { Fault } from "../../../src/base/fault.ts";
import { type Handler, type HttpRequest, type HttpResponse, isStream, readAll } from "../../../src/base/http.ts";
import type { VirtualWorld } from "../../virtual-world.ts";

export interface LineOptions {
  readonly world: VirtualWorld;
  readonly server: Handler;
  /** Share of requests that are lost, before or after they took effect. */
  readonly lossRate: number;
  isAlive(): boolean;
  isCut(): boolean;
  /** A request or a reply was lost, or a watch was cut. */
  onFault(): void;
  onRequest(request: HttpRequest): void;
  onReply(request: HttpRequest, response: HttpResponse, startedMs: number): void;
}

export interface Line {
  readonly handler: Handler;
  /** Ends all watches that are open. */
  cutWatches(): void;
}

const never = <T>(): Promise<T> => new Promise(() => undefined);

export function createLine(options: LineOptions): Line {
  const { world, server, isAlive, isCut, onFault } = options;
  const cuts = new Set<() => void>();
  const latency = (): Promise<void> => world.sleep(1 + world.random() * 20);
  const lost = (): boolean => isCut() || world.random() < options.lossRate;
  const fail = (): never => {
    onFault();
    throw new Fault("Unavailable", "the line is cut");
  };

  const handler: Handler = async (request) => {
    const startedMs = world.elapsed();
    options.onRequest(request);
    await latency();
    if (!isAlive()) return never();
    if (lost()) fail();
    const closing = new AbortController();
    request.signal?.addEventListener("abort", () => closing.abort("closed"), { once: true });
    const response = await server({ ...request, signal: closing.signal });
    if (isStream(response.body)) return { ...response, body: stream(response.body, closing) };
    const body = await readAll(response.body);
    await latency();
    if (!isAlive()) return never();
    if (lost()) fail();
    const whole = { ...response, body };
    options.onReply(request, whole, startedMs);
    return whole;
  };

  async function* stream(body: AsyncIterable<string | Uint8Array>, closing: AbortController) {
    let isOpen = true;
    const cut = Promise.withResolvers<"cut">();
    const end = (): void => {
      isOpen = false;
      cut.resolve("cut");
    };
    cuts.add(end);
    const pieces = body[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await Promise.race([pieces.next(), cut.promise]);
        if (next === "cut" || next.done === true) return;
        await latency();
        if (!isAlive()) await never();
        if (!isOpen || isCut()) fail();
        yield next.value;
      }
    } finally {
      cuts.delete(end);
      closing.abort("closed");
    }
  }

  return {
    handler,
    cutWatches: () => {
      if (cuts.size > 0) onFault();
      for (const cut of cuts) cut();
    },
  };
}
