/** x-kubernetes-validations, compiled: one rule against the values of its node. */
import { type FieldPathResult, fieldPathIn } from "../field-path.ts";
import type { Rule, SchemaNode } from "../node.ts";
import type { Program } from "./compile.ts";
import { compileSource } from "./source.ts";
import { type CelType, isSimple, optionalOf } from "./types.ts";

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
  if (source.kind === "bad") return bad("rule", `compilation failed: ${source.problem}`);
  if (!isSimple(source.checked.type, "bool")) return bad("rule", "cel expression must evaluate to a bool");
  const usesOldSelf = source.checked.mentions.has("oldSelf");
  const message = rule.messageExpression === "" ? undefined : compileSource(rule.messageExpression, variables);
  if (message?.kind === "bad")
    return bad("messageExpression", `messageExpression compilation failed: ${message.problem}`, usesOldSelf);
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
