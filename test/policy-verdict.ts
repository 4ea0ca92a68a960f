/** What admission policies say of pairs, by the project's own CEL, and how it differs from what the webhook says. */
import assert from "node:assert/strict";
import { type JsonObject, print } from "../src/base/json.ts";
import { admissionPolicies, policyName } from "../src/rules/admission-policies.ts";
import { untypedValueOf } from "../src/schema/cel/data.ts";
import { compileSource } from "../src/schema/cel/source.ts";
import { types } from "../src/schema/cel/types.ts";
import type { MapValue, Value } from "../src/schema/cel/value.ts";
import { type AdmissionPair, admissionPairs } from "./admission-pairs.ts";
import { webhookDecision } from "./webhook-verdict.ts";

interface PolicySpec {
  readonly matchConditions: readonly { readonly expression: string }[];
  readonly variables: readonly { readonly name: string; readonly expression: string }[];
  readonly validations: readonly {
    readonly expression: string;
    readonly message: string;
    readonly messageExpression: string;
    readonly reason: string;
  }[];
}

/** Kubernetes answers with the first refusal, and with every warning. */
export interface Judgement {
  readonly refused: string | undefined;
  readonly warned: readonly string[];
}

const variableTypes = new Map(
  ["object", "oldObject", "request", "params", "variables"].map((name) => [name, types.dyn] as const),
);
const programs = new Map<string, (values: Readonly<Record<string, Value>>) => Value>();
function evaluate(expression: string, values: Readonly<Record<string, Value>>): Value {
  let program = programs.get(expression);
  if (program === undefined) {
    const source = compileSource(expression, variableTypes);
    if (source.kind === "bad") assert.fail(`${expression}: ${source.problem}`);
    program = source.program;
    programs.set(expression, program);
  }
  return program(values);
}

/** Evaluated when they are asked for, as Kubernetes does. */
function lazily({ variables }: PolicySpec, values: Readonly<Record<string, Value>>): MapValue {
  const known = new Map<Value, Value>();
  const all: MapValue = {
    kind: "map",
    size: variables.length,
    keys: () => variables.map(({ name }) => name),
    get: (key) => {
      const variable = variables.find(({ name }) => name === key);
      if (variable === undefined) return undefined;
      const value = known.get(key) ?? evaluate(variable.expression, { ...values, variables: all });
      known.set(key, value);
      return value;
    },
  };
  return all;
}

/** What an expression may look at. */
export interface PolicyInput {
  /** null on DELETE. */
  readonly object: JsonObject | null;
  readonly oldObject?: JsonObject | undefined;
  readonly request?: JsonObject;
  readonly params?: JsonObject;
}

/** The messages of the validations that fail, in their order. */
export function policyFailures(
  policy: JsonObject,
  { object, oldObject, request, params }: PolicyInput,
): readonly string[] {
  const spec = policy.spec as unknown as PolicySpec;
  const values = {
    object: untypedValueOf(object),
    oldObject: untypedValueOf(oldObject ?? null),
    request: untypedValueOf(request ?? {}),
    params: untypedValueOf(params ?? null),
  };
  if (!spec.matchConditions.every(({ expression }) => evaluate(expression, values) === true)) return [];
  const all = { ...values, variables: lazily(spec, values) };
  return spec.validations
    .filter(({ expression }) => evaluate(expression, all) !== true)
    .map(({ messageExpression }) => String(evaluate(messageExpression, all)));
}

const policies = new Map(
  admissionPolicies(["Deny"])
    .filter(({ kind }) => kind === "ValidatingAdmissionPolicy")
    .map((policy) => [String((policy.metadata as JsonObject).name), policy]),
);
const policyNamed = (name: string): JsonObject => policies.get(name) ?? assert.fail(name);

export function policyVerdict({ kind, before, after }: AdmissionPair): Judgement {
  const [name, input] = [policyName(kind), { object: after, oldObject: before }];
  return {
    refused: policyFailures(policyNamed(name), input)[0],
    warned: policyFailures(policyNamed(name.replace(".", "-broken-before.")), input),
  };
}

/** The same of the webhook, which the API server asks on the same condition: an update that leaves the spec alone is not judged. */
export function webhookJudgement(pair: AdmissionPair): Judgement & { readonly rules: number } {
  if (pair.before !== undefined && print(pair.before.spec as JsonObject) === print(pair.after.spec as JsonObject))
    return { refused: undefined, warned: [], rules: 0 };
  const { verdict, warnings = [] } = webhookDecision(pair);
  return { refused: verdict.refused[0]?.message, warned: warnings, rules: verdict.refused.length };
}

/** How many pairs there are, and in how many of them a policy answers otherwise than the webhook; docs/results/admission-policies.txt has them. */
export function differenceCounts(): Readonly<Record<"pairs" | "refused" | "several" | "warned", number>> {
  const counts = { pairs: 0, refused: 0, several: 0, warned: 0 };
  for (const pair of admissionPairs()) {
    const { refused, warned, rules } = webhookJudgement(pair);
    counts.pairs += 1;
    if (refused !== undefined) counts.refused += 1;
    if (rules > 1) counts.several += 1;
    if (warned.length > 0) counts.warned += 1;
  }
  return counts;
}
