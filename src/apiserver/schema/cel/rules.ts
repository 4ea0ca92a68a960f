/** x-kubernetes-validations, compiled: one rule against the values of its node. */
import { type FieldPathResult, fieldPathIn } from "../definition/field-path.ts";
import type { Rule, SchemaNode } from "../node.ts";
import { CelProblem, CelProblems, printProblems } from "./ast.ts";
import { type Checked, checkCel } from "./check.ts";
import { compileCel, type Program } from "./compile.ts";
import { literalProblems } from "./literals.ts";
import { parseCel } from "./parse.ts";
import { type CelType, optionalOf } from "./types.ts";

export interface CompiledRule {
  readonly rule: Rule;
  readonly usesOldSelf: boolean;
  readonly program: Program;
  readonly message: Program | undefined;
  /** Where errors point, below the rule's own node; "" for the node itself. */
  readonly fieldPath: string;
}

export type RuleOutcome =
  | { readonly kind: "compiled"; readonly compiled: CompiledRule }
  | { readonly kind: "empty" }
  | {
      readonly kind: "bad";
      readonly where: "rule" | "messageExpression";
      readonly problem: string;
      readonly usesOldSelf: boolean;
    };

interface Source {
  readonly program: Program;
  readonly checked: Checked;
}

function compileSource(source: string, variables: ReadonlyMap<string, CelType>): Source | string {
  try {
    const expression = parseCel(source);
    const checked = checkCel(expression, variables);
    const problems = checked.problems.length > 0 ? checked.problems : literalProblems(expression);
    if (problems.length > 0) return printProblems(source, problems);
    return { program: compileCel(expression, checked), checked };
  } catch (reason) {
    if (reason instanceof CelProblems) return printProblems(source, reason.problems);
    if (reason instanceof CelProblem) return printProblems(source, [reason]);
    throw reason;
  }
}

const isSimple = (type: CelType, name: string): boolean => type.kind === "simple" && type.name === name;

export function compileRule(rule: Rule, schema: SchemaNode, self: CelType): RuleOutcome {
  if (rule.rule.trim() === "") return { kind: "empty" };
  const variables = new Map([
    ["self", self],
    ["oldSelf", rule.optionalOldSelf ? optionalOf(self) : self],
  ]);
  const source = compileSource(rule.rule, variables);
  const bad = (where: "rule" | "messageExpression", problem: string, usesOldSelf = false): RuleOutcome => ({
    kind: "bad",
    where,
    problem,
    usesOldSelf,
  });
  if (typeof source === "string") return bad("rule", `compilation failed: ${source}`);
  if (!isSimple(source.checked.type, "bool")) return bad("rule", "cel expression must evaluate to a bool");
  const usesOldSelf = source.checked.mentions.has("oldSelf");
  const message = rule.messageExpression === "" ? undefined : compileSource(rule.messageExpression, variables);
  if (typeof message === "string")
    return bad("messageExpression", `messageExpression compilation failed: ${message}`, usesOldSelf);
  if (message !== undefined && !isSimple(message.checked.type, "string"))
    return bad("messageExpression", "messageExpression must evaluate to a string", usesOldSelf);
  const path: FieldPathResult | undefined = rule.fieldPath === "" ? undefined : fieldPathIn(rule.fieldPath, schema);
  return {
    kind: "compiled",
    compiled: {
      rule,
      usesOldSelf,
      program: source.program,
      message: message?.program,
      fieldPath: path?.kind === "good" ? path.path : "",
    },
  };
}
