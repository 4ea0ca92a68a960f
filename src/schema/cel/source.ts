/** The text of one expression, parsed, checked and compiled. */
import { CelProblem, CelProblems, printProblems } from "./ast.ts";
import { type Checked, checkCel } from "./check.ts";
import { compileCel, type Program } from "./compile.ts";
import { literalProblems } from "./literals.ts";
import { parseCel } from "./parse.ts";
import type { CelType } from "./types.ts";

export type Source =
  | { readonly kind: "compiled"; readonly program: Program; readonly checked: Checked }
  /** `mentions`: the variables that it mentions all the same; none where it could not be parsed. */
  | { readonly kind: "bad"; readonly problem: string; readonly mentions: ReadonlySet<string> };

export function compileSource(source: string, variables: ReadonlyMap<string, CelType>): Source {
  const bad = (problems: readonly CelProblem[], mentions: ReadonlySet<string> = new Set()): Source => ({
    kind: "bad",
    problem: printProblems(source, problems),
    mentions,
  });
  try {
    const expression = parseCel(source);
    const checked = checkCel(expression, variables);
    const problems = checked.problems.length > 0 ? checked.problems : literalProblems(expression);
    if (problems.length > 0) return bad(problems, checked.mentions);
    return { kind: "compiled", program: compileCel(expression, checked), checked };
  } catch (reason) {
    if (reason instanceof CelProblems) return bad(reason.problems);
    if (reason instanceof CelProblem) return bad([reason]);
    throw reason;
  }
}
