/**
 * What the process remembers of the driver's answers to GetCapacity: each until it is too old, which is after the poll interval, or
 * soon after a volume of the segment or class came or went.
 *
 * Memory: a bounded number of answers. What is lost with one: the driver is asked once more.
 */
import type { Key, Millis } from "../../../base/brand.ts";
import { createLru } from "../../../base/lru.ts";
import type { World } from "../../../base/world.ts";
import { capacityLimits } from "./limits.ts";

/** What the driver has answered to GetCapacity. */
export interface CapacityAnswer {
  /** The uid of the class whose parameters were sent: one of the same name may have others. */
  readonly classUid: string;
  readonly bytes: bigint;
  /** Undefined: the driver names no largest volume. */
  readonly maximumBytes: bigint | undefined;
}

export interface CapacityMemory {
  /** Undefined: there is none, or it is too old. */
  readonly answer: CapacityAnswer | undefined;
  /** Until the answer is too old. */
  readonly answerLeftMs: Millis;
}

/** The driver was not asked: with it, anybody can run phase and plan on objects read from a cluster. */
export const noCapacityMemory: CapacityMemory = { answer: undefined, answerLeftMs: 0 };

export interface CapacityMemories {
  about(key: Key): CapacityMemory;
  /** To be called before the driver is asked, and when it has answered or failed. */
  asking(key: Key): void;
  asked(key: Key): void;
  /** To be called between both. */
  keep(key: Key, answer: CapacityAnswer): void;
  /** Room has changed. Returns in how long the driver may be asked again; undefined: it has not answered before. */
  outdate(key: Key): Millis | undefined;
  forget(key: Key): void;
}

interface Remembered {
  readonly answer: CapacityAnswer;
  readonly answeredAtMs: Millis;
  readonly expiresAtMs: Millis;
}

const { answersMax, askAgainMsMin } = capacityLimits;

export function createCapacityMemory(world: Pick<World, "elapsed">, pollMs: Millis): CapacityMemories {
  const answers = createLru<Remembered>(answersMax);
  /** Questions that are under way; as many as there are workers. */
  const questions = new Map<Key, { isOutdated: boolean }>();
  return {
    asking: (key) => void questions.set(key, { isOutdated: false }),
    asked: (key) => void questions.delete(key),
    keep: (key, answer) => {
      const answeredAtMs = world.elapsed();
      // The driver may have answered what was true before a volume came.
      const isOutdated = questions.get(key)?.isOutdated === true;
      const expiresAtMs = answeredAtMs + (isOutdated ? askAgainMsMin : Math.max(askAgainMsMin, pollMs));
      answers.set(String(key), { answer, answeredAtMs, expiresAtMs });
    },
    about: (key) => {
      const found = answers.get(String(key));
      const answerLeftMs = (found?.expiresAtMs ?? 0) - world.elapsed();
      return answerLeftMs > 0 ? { answer: found?.answer, answerLeftMs } : noCapacityMemory;
    },
    outdate: (key) => {
      const question = questions.get(key);
      if (question !== undefined) question.isOutdated = true;
      const found = answers.get(String(key));
      if (found === undefined) return undefined;
      const expiresAtMs = Math.min(found.expiresAtMs, found.answeredAtMs + askAgainMsMin);
      answers.set(String(key), { ...found, expiresAtMs });
      return Math.max(0, expiresAtMs - world.elapsed());
    },
    forget: (key) => answers.delete(String(key)),
  };
}
