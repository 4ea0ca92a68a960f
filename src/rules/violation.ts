import type { CodedMessage } from "../api/plan.ts";

/** A rule is a small function that says why not. Rules are listed in the order in which a user should hear of them. */
export interface Violation {
  /** Event reason, a word tools match on. */
  readonly reason: string;
  /** One sentence: what is wrong with which object and field, and what mends it. */
  readonly message: CodedMessage;
}

export function firstViolation<View, V extends Violation>(
  rules: readonly ((view: View) => V | undefined)[],
  view: View,
): V | undefined {
  for (const rule of rules) {
    const found = rule(view);
    if (found !== undefined) return found;
  }
  return undefined;
}
