/** A table of situations: in each, which phase it is, what the plan wants to do, in a word each, and for which reason. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Reason, ReasonCode } from "../src/api/reasons.ts";
import { asGathered, assertSameDecision } from "./as-gathered.ts";

export interface PlanCase<View> {
  readonly given: string;
  readonly view: View;
  readonly phase: string;
  readonly reason?: ReasonCode;
  readonly expect: readonly string[];
}
/** For plans that always say why. */
export type ReasonedCase<View> = PlanCase<View> & { readonly reason: ReasonCode };

interface Planning<View, Action> {
  phaseOf(view: View): string;
  plan(view: View): { readonly actions: readonly Action[]; readonly reason?: Reason };
  brief(action: Action): string;
}

export const planTester =
  <View, Action>({ phaseOf, plan, brief }: Planning<View, Action>) =>
  (cases: readonly PlanCase<View>[]): void => {
    for (const { given, view, phase, reason, expect } of cases)
      test(`given ${given}, it is ${phase} and the plan is: ${expect.join(", ") || "nothing"}`, () => {
        assert.equal(phaseOf(view), phase);
        assert.deepEqual(plan(view).actions.map(brief), expect);
        if (reason !== undefined) assert.equal(plan(view).reason?.code, reason);
        const gathered = asGathered(view);
        assert.equal(phaseOf(gathered), phase, "from a bundle");
        assertSameDecision(plan(gathered), plan(view));
      });
  };
