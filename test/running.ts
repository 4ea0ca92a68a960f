/**
 * What is running right now. A test that takes long is named while it runs; one that takes for ever, or something left behind
 * after the last one (an open server, a watch), ends the run with a failure instead of hanging it.
 */
import { setTimeout as sleep } from "node:timers/promises";

export interface Limits {
  /** A test is named after this long, and then again at every `againMs`. */
  readonly firstMs: number;
  readonly againMs: number;
  /** A test that takes longer hangs. Building programs does not count: that happens while the files are loaded. */
  readonly testMs: number;
  /** How long the process may go on with no test left to run. */
  readonly idleMs: number;
}

const defaults: Limits = { firstMs: 2_000, againMs: 15_000, testMs: 600_000, idleMs: 30_000 };

interface Named {
  readonly name: string;
  readonly nesting: number;
  readonly type?: string;
}

export interface Event {
  readonly type: string;
  readonly data: unknown;
}

export function createRunning(say: (line: string) => void, limits: Limits = defaults) {
  const timers = new Map<string, NodeJS.Timeout>();
  const stuck = Promise.withResolvers<undefined>();
  let open = 0;
  let problem: string | undefined;

  const watch = (key: string, name: string, msMax: number): void => {
    const startedAt = performance.now();
    const report = () => {
      const ms = performance.now() - startedAt;
      say(`… ${Math.round(ms / 1000)} s: ${name}`);
      if (ms > msMax) {
        problem = `${name}: did not end within ${msMax / 1000} s`;
        stuck.resolve(undefined);
      }
      timers.set(key, setTimeout(report, limits.againMs).unref());
    };
    timers.set(key, setTimeout(report, limits.firstMs).unref());
  };
  const see = ({ type, data }: Event): void => {
    const { name, nesting, type: kind } = data as Named;
    const key = `${nesting}/${name}`;
    if (type === "test:enqueue") open += 1;
    if (type === "test:dequeue") watch(key, name, kind === "suite" ? Number.POSITIVE_INFINITY : limits.testMs);
    if (type !== "test:complete") return;
    open -= 1;
    clearTimeout(timers.get(key));
  };

  return {
    /** Why the run was ended early, if it was. */
    trouble: () => problem,
    /** The events as they come; ends early when a test hangs, or when nothing is left to run and the process does not end by itself. */
    async *follow(events: AsyncIterable<Event>): AsyncGenerator<Event> {
      const iterator = events[Symbol.asyncIterator]();
      for (;;) {
        const coming = iterator.next();
        const over = open === 0 && timers.size > 0 ? idle(limits.idleMs) : stuck.promise;
        const next = await Promise.race([coming, over]);
        if (next === undefined) problem ??= leak();
        if (next === undefined || next.done === true) return;
        see(next.value);
        yield next.value;
      }
    },
  };
}

const leak = (): string => `a test left something open: ${process.getActiveResourcesInfo().join(", ")}`;

/** Does not keep the process alive: without a leak it ends first, and the events with it. */
const idle = (ms: number): Promise<undefined> => sleep(ms, undefined, { ref: false });
