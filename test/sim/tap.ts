/** One open watch between server and component, where events can be truncated, repeated, delayed or dropped. */
import { Fault } from "../../src/base/fault.ts";
import type { Body } from "../../src/base/http.ts";
import type { World } from "../../src/base/world.ts";

export interface Tap extends AsyncIterable<Body> {
  /** The connection breaks. */
  disconnect(): void;
  /** The server says that it no longer knows the version. */
  expire(): void;
  /** Every event comes twice from now on. */
  repeat(): void;
  /** Events are held back for so long from now on. */
  hold(ms: number): void;
  /** The watch is silent without an error. */
  silence(): void;
  /** The next event breaks off in the middle, and the stream ends as if that were all. */
  breakOff(): void;
}

export interface TapOptions {
  readonly world: World;
  /** How long the next event takes. */
  latencyMs(): number;
  /** Resolves when the reader can take something in. */
  awake(): Promise<void> | undefined;
  /** Ends the watch at the server. */
  close(): void;
  onEnd(tap: Tap): void;
  /** The reader has taken it in. */
  onTaken(text: string): void;
}

const expired = `${JSON.stringify({
  type: "ERROR",
  object: { kind: "Status", apiVersion: "v1", status: "Failure", reason: "Expired", code: 410, message: "too old" },
})}\n`;

type Item = { readonly body: Body } | { readonly fault: Fault } | { readonly end: true };

export function createTap(inner: AsyncIterable<Body>, options: TapOptions): Tap {
  const { world, latencyMs, awake, close, onEnd, onTaken } = options;
  const items: Item[] = [];
  let taker: PromiseWithResolvers<IteratorResult<Body, undefined>> | undefined;
  let mode: "open" | "silent" | "over" = "open";
  let copies = 1;
  let heldMs = 0;
  let isBreaking = false;

  const push = (item: Item): void => {
    items.push(item);
    handler();
  };
  const finish = (item: Item): void => {
    if (mode === "over") return;
    mode = "over";
    push(item);
    close();
    onEnd(tap);
  };
  const pass = (body: Body): void => {
    if (isBreaking) breakOff(body);
    else for (let copy = 0; copy < copies; copy++) push({ body });
  };
  const pump = async (): Promise<void> => {
    for await (const body of inner) {
      const waitMs = heldMs > 0 ? heldMs : latencyMs();
      heldMs = 0;
      if (waitMs > 0) await world.sleep(waitMs);
      const asleep = awake();
      if (asleep !== undefined) await asleep;
      if (mode === "over") return;
      if (mode === "open") pass(body);
    }
    if (mode === "open") finish({ end: true });
  };
  const breakOff = (body: Body): void => {
    push({ body: body.slice(0, Math.floor(body.length / 2)) });
    finish({ end: true });
  };
  /** The next event goes to the waiting reader. */
  const handler = (): void => {
    if (taker === undefined || items.length === 0) return;
    const { resolve, reject } = taker;
    taker = undefined;
    const item = items.shift() ?? { end: true };
    if ("fault" in item) reject(item.fault);
    else if ("end" in item) resolve(over);
    else {
      if (typeof item.body === "string" && item.body.endsWith("\n")) onTaken(item.body);
      resolve({ done: false, value: item.body });
    }
  };
  // No generator, for the reason that channel.ts gives.
  const next = (): Promise<IteratorResult<Body, undefined>> => {
    taker = Promise.withResolvers();
    const { promise } = taker;
    handler();
    return promise;
  };
  const reader: AsyncIterator<Body, undefined> = {
    next,
    async return() {
      finish({ end: true });
      return over;
    },
  };

  const tap: Tap = {
    disconnect: () => finish({ fault: new Fault("UnknownOutcome", "the watch was cut") }),
    expire: () => {
      if (mode === "over") return;
      push({ body: expired });
      finish({ end: true });
    },
    repeat: () => {
      copies = 2;
    },
    hold: (ms) => {
      heldMs = ms;
    },
    breakOff: () => {
      isBreaking = true;
    },
    silence: () => {
      if (mode === "open") mode = "silent";
    },
    [Symbol.asyncIterator]: () => reader,
  };
  void pump().catch(() => finish({ end: true }));
  return tap;
}

const over = { done: true, value: undefined } as const;
