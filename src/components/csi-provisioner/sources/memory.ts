/** What the process remembers of a source: whether a call needs it. source-protection.ts says what is lost with it. */
import type { SourceObject } from "./source.ts";

export interface SourceMemory {
  /** A call that is stored, or about to be, needs it. */
  readonly isUsed: boolean;
}

/** No call is known: with it, anybody can run phase and plan on a source read from a cluster. */
export const noSourceMemory: SourceMemory = { isUsed: false };

export interface SourceMemories {
  about(source: SourceObject): SourceMemory;
}

export const createSourceMemory = (isUsed: (source: SourceObject) => boolean): SourceMemories => ({
  about: (source) => (isUsed(source) ? { isUsed: true } : noSourceMemory),
});
