/** The rules of a definition's schema, judged when the definition is written: do they parse, do their types agree. */
import type { JsonObject } from "../../../base/json.ts";
import { celTypeOf, selfTypeName } from "../../../schema/cel/data.ts";
import { compileRule, type RuleOutcome } from "../../../schema/cel/rules.ts";
import { child, type FieldError, indexed, invalid } from "../../../schema/field-error.ts";
import { objects } from "../../../schema/fields.ts";
import { goStructJson } from "../../../schema/go-text.ts";
import { readSchema, type SchemaNode } from "../../../schema/node.ts";
import type { Step } from "./openapi.ts";
import type { RuleJudgeFor } from "./spec.ts";
import { shownRule } from "./view.ts";

function nodeAt(root: SchemaNode, steps: readonly Step[]): SchemaNode | undefined {
  let node = root;
  for (const step of steps) {
    const next =
      step.kind === "property" ? node.properties.get(step.name) : step.kind === "items" ? node.items : node.additional;
    if (typeof next !== "object") return undefined;
    node = next;
  }
  return node;
}

export const judgeRules: RuleJudgeFor = (raw) => {
  const root = readSchema(raw);
  return ({ schema, path, steps, uncorrelatable }) => {
    const node = nodeAt(root, steps);
    if (node === undefined) return [];
    const isResource = steps.length === 0 || node.embeddedResource;
    const type = celTypeOf(node, isResource, selfTypeName);
    if (type === undefined) return [];
    return objects(schema["x-kubernetes-validations"]).flatMap((rule, index) => {
      const parsed = node.rules[index];
      if (parsed === undefined) return [];
      const at = indexed(child(path, "x-kubernetes-validations"), index);
      return unlessTooDeep(rule, at, () => judgeOne(rule, compileRule(parsed, node, type), at, uncorrelatable));
    });
  };
};

/** Chains within brackets within chains: each within its bounds, and together deeper than we can walk. */
function unlessTooDeep(rule: JsonObject, path: string, judge: () => readonly FieldError[]): readonly FieldError[] {
  try {
    return judge();
  } catch (reason) {
    if (!(reason instanceof RangeError)) throw reason;
    const why = "compilation failed: ERROR: <input>:-1:0: expression recursion limit exceeded: 250";
    return [invalid(child(path, "rule"), goStructJson(shownRule(rule)), why)];
  }
}

function judgeOne(
  rule: JsonObject,
  outcome: RuleOutcome,
  path: string,
  uncorrelatable: string | undefined,
): readonly FieldError[] {
  if (outcome.kind === "empty") return [];
  const errors: FieldError[] = [];
  if (outcome.kind === "bad")
    errors.push(invalid(child(path, outcome.where), goStructJson(shownRule(rule)), outcome.problem));
  const usesOldSelf = outcome.kind === "bad" ? outcome.usesOldSelf : outcome.compiled.usesOldSelf;
  if (usesOldSelf && uncorrelatable !== undefined)
    errors.push(
      invalid(
        child(path, "rule"),
        rule.rule,
        `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelatable}`,
      ),
    );
  if (!usesOldSelf && rule.optionalOldSelf !== undefined)
    errors.push(
      invalid(child(path, "optionalOldSelf"), rule.optionalOldSelf, "may not be set if oldSelf is not used in rule"),
    );
  return errors;
}
