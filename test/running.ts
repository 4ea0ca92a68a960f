/**
 * What is running right now. A test that takes long is named while it runs, and something left behind after the last one
 * (an open server, a watch) ends the run with a failure instead of hanging it.
 */
import { setTimeout as sleep } from "node:timers/promises";

export interface Limits {
  /** A test is named after this long, and then again at every `againMs`. */
  readonly firstMs: number;
  readonly againMs: number;
  /** How long the process may go on with no test left to run. */
  readonly idleMs: number;
}

const defaults: Limits = { firstMs: 2_000, againMs: 15_000, idleMs: 30_000 };

interface Named {
  readonly name: string;
  readonly nesting: number;
}

export interface Event {
  readonly type: string;
  readonly data: unknown;
}

export function createRunning(say: (line: string) => void, limits: Limits = defaults) {
  const timers = new Map<string, NodeJS.Timeout>();
  let open = 0;
  let leaked = false;

  const nameWhileRunning = (key: string, name: string): void => {
    const startedAt = performance.now();
    const tell = () => {
      say(`… ${Math.round((performance.now() - startedAt) / 1000)} s: ${name}`);
      timers.set(key, setTimeout(tell, limits.againMs).unref());
    };
    timers.set(key, setTimeout(tell, limits.firstMs).unref());
  };
  const see = ({ type, data }: Event): void => {
    const { name, nesting } = data as Named;
    const key = `${nesting}/${name}`;
    if (type === "test:enqueue") open += 1;
    if (type === "test:dequeue") nameWhileRunning(key, name);
    if (type !== "test:complete") return;
    open -= 1;
    clearTimeout(timers.get(key));
  };

  return {
    leaked: () => leaked,
    /** The events as they come; ends early when nothing is left to run and the process does not end by itself. */
    async *follow(events: AsyncIterable<Event>): AsyncGenerator<Event> {
      const iterator = events[Symbol.asyncIterator]();
      for (;;) {
        const coming = iterator.next();
        const next = open === 0 && timers.size > 0 ? await Promise.race([coming, idle(limits.idleMs)]) : await coming;
        leaked = next === undefined;
        if (next === undefined || next.done === true) return;
        see(next.value);
        yield next.value;
      }
    },
  };
}

/** Does not keep the process alive: without a leak it ends first, and the events with it. */
const idle = (ms: number): Promise<undefined> => sleep(ms, undefined, { ref: false });
