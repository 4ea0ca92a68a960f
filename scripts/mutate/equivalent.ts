/** Mutations that change nothing anybody could see: no test can catch them. The line as it is, as it would be, and why. */

export interface Equivalent {
  readonly file: string;
  readonly line: string;
  readonly mutated: string;
  readonly why: string;
}

export const equivalents: readonly Equivalent[] = [];
