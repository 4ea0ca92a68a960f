/** The rules of a definition's schema, judged when the definition is written: do they parse, do their types agree. */
import type { JsonObject } from "../../../base/json.ts";
import { child, type FieldError, forbidden, indexed, invalid } from "../../field-error.ts";
import { goStructJson } from "../../go-text.ts";
import { type Measure, worstCost } from "../cel/cost.ts";
import { celTypeOf, selfTypeName } from "../cel/data.ts";
import { compileRule, type RuleOutcome } from "../cel/rules.ts";
import { readSchema, type SchemaNode } from "../node.ts";
import type { RuleJudge, Step } from "./openapi.ts";
import { costWords, measureOf, occurrencesMax, ruleCostMax, schemaCostMax } from "./rule-cost.ts";
import type { RuleJudgeFor } from "./spec.ts";
import { objects, shownRule } from "./view.ts";

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

interface Spent {
  readonly path: string;
  readonly cost: number;
}

export const judgeRules: RuleJudgeFor = (raw) => {
  const root = readSchema(raw);
  const spent: Spent[] = [];
  const judge: RuleJudge = ({ schema, path, steps, uncorrelatable }) => {
    const node = nodeAt(root, steps);
    if (node === undefined) return [];
    const isResource = steps.length === 0 || node.embeddedResource;
    const type = celTypeOf(node, isResource, selfTypeName);
    if (type === undefined) return [];
    const measure = measureOf(node, isResource);
    const times = occurrencesMax(root, steps, node);
    return objects(schema["x-kubernetes-validations"]).flatMap((rule, index) => {
      const parsed = node.rules[index];
      if (parsed === undefined) return [];
      const at = indexed(child(path, "x-kubernetes-validations"), index);
      return unlessTooDeep(rule, at, () => {
        const outcome = compileRule(parsed, node, type);
        return [...costErrors(outcome, at, { measure, times, spent }), ...judgeOne(rule, outcome, at, uncorrelatable)];
      });
    });
  };
  return { judge, total: (path) => totalErrors(spent, path) };
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

interface Reckoning {
  readonly measure: Measure;
  readonly times: number;
  readonly spent: Spent[];
}

/** A rule counts as often as its place can occur; its message is made once. */
function costErrors(outcome: RuleOutcome, path: string, { measure, times, spent }: Reckoning): readonly FieldError[] {
  if (outcome.kind !== "compiled") return [];
  const { rule, message } = outcome.compiled.sources;
  const parts = [
    {
      field: child(path, "rule"),
      what: "estimated rule cost",
      cost: worstCost(rule.expression, rule.checked, measure) * times,
    },
    ...(message === undefined
      ? []
      : [
          {
            field: child(path, "messageExpression"),
            what: "estimated messageExpression cost",
            cost: worstCost(message.expression, message.checked, measure),
          },
        ]),
  ];
  for (const { field, cost } of parts) spent.push({ path: field, cost });
  return parts.flatMap(({ field, what, cost }) =>
    cost > ruleCostMax ? [forbidden(field, costWords(what, cost, ruleCostMax))] : [],
  );
}

const shownMax = 4;

/** What all rules of a schema may cost together, and which of them are to blame. */
function totalErrors(spent: readonly Spent[], path: string): readonly FieldError[] {
  const total = spent.reduce((sum, { cost }) => sum + cost, 0);
  if (total <= schemaCostMax) return [];
  const heavy = spent.filter(({ cost }) => cost >= schemaCostMax / 100).sort((a, b) => b.cost - a.cost);
  return [
    ...heavy
      .slice(0, shownMax)
      .map(({ path: field }) =>
        forbidden(field, "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"),
      ),
    forbidden(
      path,
      costWords("x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema", total, schemaCostMax),
    ),
  ];
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
