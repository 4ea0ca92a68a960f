/**
 * Who works on what. Nothing is deleted, grown or made twice while it is being made, changed or copied from: the later call
 * is told to try again, as the protocol asks. Any number may copy from the same thing at once.
 */
import { Fault } from "../base/fault.ts";

export interface WantedLocks {
  readonly changes: string;
  readonly reads?: string | readonly string[] | undefined;
}

export interface OperationLocks {
  /** Throws when the object is being created or changed, because its record may change at any moment. */
  mustRest(item: string): void;
  during<T>(wanted: WantedLocks, work: () => Promise<T>): Promise<T>;
  /** Resolves when all work under way has ended. */
  settled(): Promise<void>;
}

export function createOperationLocks(): OperationLocks {
  const changing = new Set<string>();
  const readers = new Map<string, number>();
  const underWay = new Set<Promise<unknown>>();

  const mustRest = (object: string): void => {
    if (changing.has(object)) throw pending(object);
  };
  const read = (thing: string, by: 1 | -1): void => {
    const left = (readers.get(thing) ?? 0) + by;
    if (left === 0) readers.delete(thing);
    else readers.set(thing, left);
  };
  const held = async <T>({ changes, reads = [] }: WantedLocks, work: () => Promise<T>): Promise<T> => {
    const things = typeof reads === "string" ? [reads] : reads;
    mustRest(changes);
    if (readers.has(changes)) throw pending(changes);
    for (const thing of things) mustRest(thing);
    changing.add(changes);
    for (const thing of things) read(thing, 1);
    try {
      return await work();
    } finally {
      changing.delete(changes);
      for (const thing of things) read(thing, -1);
    }
  };

  return {
    mustRest,
    async during(wanted, work) {
      const running = held(wanted, work);
      underWay.add(running);
      try {
        return await running;
      } finally {
        underWay.delete(running);
      }
    },
    settled: async () => void (await Promise.allSettled(underWay)),
  };
}

const pending = (thing: string): Fault => new Fault("Aborted", `an operation is pending for ${thing}: try again later`);
