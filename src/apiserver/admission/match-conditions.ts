/** Match conditions of webhooks: are their expressions valid, and do they hold for a request. */
import { isObject, type JsonObject } from "../../base/json.ts";
import type { Program } from "../../schema/cel/compile.ts";
import { untypedValueOf } from "../../schema/cel/data.ts";
import { compileSource } from "../../schema/cel/source.ts";
import { type CelType, isSimple, listOf, mapOf, printType, types } from "../../schema/cel/types.ts";
import { CelFault } from "../../schema/cel/value.ts";
import {
  child,
  duplicate,
  type FieldError,
  forbidden,
  indexed,
  invalid,
  required,
  tooMany,
} from "../../schema/field-error.ts";
import { qualifiedNameProblems } from "../../schema/names.ts";
import type { Resource, Review } from "../contracts.ts";
import { forbidden as refusedAs } from "../status.ts";
import { requestFor } from "./exchange.ts";
import type { MatchCondition, Webhook } from "./webhook.ts";

const conditionsMax = 64;

const objectType = (name: string, fields: Readonly<Record<string, CelType>>): CelType => {
  const byName = new Map(Object.entries(fields));
  return { kind: "object", name, fields: () => byName };
};
const { string, bool, dyn } = types;
const kindType = objectType("kubernetes.GroupVersionKind", { group: string, version: string, kind: string });
const resourceType = objectType("kubernetes.GroupVersionResource", {
  group: string,
  version: string,
  resource: string,
});
const userType = objectType("kubernetes.UserInfo", {
  username: string,
  uid: string,
  groups: listOf(string),
  extra: mapOf(string, listOf(string)),
});
const requestType = objectType("kubernetes.AdmissionRequest", {
  kind: kindType,
  resource: resourceType,
  subResource: string,
  requestKind: kindType,
  requestResource: resourceType,
  requestSubResource: string,
  name: string,
  namespace: string,
  operation: string,
  userInfo: userType,
  dryRun: bool,
  options: dyn,
});

/** Kubernetes has these as well. Here they are refused when the configuration is written. */
const unsupported = ["authorizer", "namespaceObject"] as const;

const variables: ReadonlyMap<string, CelType> = new Map<string, CelType>([
  ["object", dyn],
  ["oldObject", dyn],
  ["request", requestType],
  ...unsupported.map((name) => [name, dyn] as const),
]);

type Compiled = { readonly program: Program } | { readonly error: (field: string) => FieldError };

function compile(expression: string): Compiled {
  const wrong = (detail: string): Compiled => ({ error: (field) => invalid(field, expression, detail) });
  try {
    const source = compileSource(expression, variables);
    const mentions = source.kind === "bad" ? source.mentions : source.checked.mentions;
    const missing = unsupported.find((name) => mentions.has(name));
    if (missing !== undefined)
      return {
        error: (field) =>
          forbidden(
            field,
            `this server does not evaluate ${missing} in match conditions: use object, oldObject and request`,
          ),
      };
    if (source.kind === "bad") return wrong(`compilation failed: ${source.problem}`);
    const { type } = source.checked;
    return isSimple(type, "bool")
      ? { program: source.program }
      : wrong(`must evaluate to bool but got ${printType(type)}`);
  } catch (reason) {
    if (!(reason instanceof RangeError)) throw reason;
    return wrong("compilation failed: ERROR: <input>:-1:0: expression recursion limit exceeded: 250");
  }
}

export function matchConditionErrors(conditions: readonly MatchCondition[], field: string): readonly FieldError[] {
  const names = conditions.map(({ name }) => name ?? "");
  return [
    ...(conditions.length > conditionsMax ? [tooMany(field, conditions.length, conditionsMax)] : []),
    ...conditions.flatMap((condition, index) => {
      const name = names[index] ?? "";
      const at = indexed(field, index);
      return [
        ...conditionErrors(condition, at),
        ...(name !== "" && names.indexOf(name) < index ? [duplicate(child(at, "name"), name)] : []),
      ];
    }),
  ];
}

function conditionErrors({ name = "", expression = "" }: MatchCondition, field: string): readonly FieldError[] {
  const trimmed = expression.trim();
  const compiled = trimmed === "" ? undefined : compile(trimmed);
  return [
    ...(compiled === undefined ? [required(child(field, "expression"))] : []),
    ...(compiled !== undefined && "error" in compiled ? [compiled.error(child(field, "expression"))] : []),
    ...(name === ""
      ? [required(child(field, "name"))]
      : qualifiedNameProblems(name).map((problem) => invalid(child(field, "name"), name, problem))),
  ];
}

/** The keys are the stored conditions, which nobody changes: each is compiled once. */
const compiled = new WeakMap<MatchCondition, Program>();

function programOf(condition: MatchCondition): Program {
  const known = compiled.get(condition);
  if (known !== undefined) return known;
  const made = compile(condition.expression ?? "");
  if (!("program" in made)) throw new CelFault("compilation failed");
  compiled.set(condition, made.program);
  return made.program;
}

/**
 * Whether a webhook is to be asked: all conditions hold. One that is false decides, whatever the others say; after that, one that
 * cannot be evaluated counts as the webhook's failure policy says.
 */
export function conditionsHold(webhook: Webhook, review: Review, row: Resource): boolean {
  const { matchConditions, failurePolicy } = webhook;
  if (matchConditions === undefined || matchConditions === null || matchConditions.length === 0) return true;
  const values = valuesFor(review, row);
  const problems: string[] = [];
  for (const condition of matchConditions) {
    try {
      if (programOf(condition)(values) === false) return false;
    } catch (reason) {
      if (!(reason instanceof CelFault)) throw reason;
      problems.push(`expression '${condition.expression}' resulted in error: ${reason.message}`);
    }
  }
  if (problems.length === 0) return true;
  if (failurePolicy === "Ignore") return false;
  const [first = ""] = problems;
  throw refusedAs(review.resource, review.name, problems.length === 1 ? first : `[${problems.join(", ")}]`);
}

function valuesFor(review: Review, row: Resource) {
  const { object, oldObject, ...request } = requestFor(review, row);
  return {
    object: untypedValueOf(object ?? null),
    oldObject: untypedValueOf(oldObject ?? null),
    request: untypedValueOf(withoutEmpty(request)),
  };
}

/** Lists that are empty are left out, as Go leaves them out. */
function withoutEmpty(request: JsonObject): JsonObject {
  const { userInfo } = request;
  if (!isObject(userInfo)) return request;
  const { groups, ...user } = userInfo;
  return { ...request, userInfo: { ...user, ...(Array.isArray(groups) && groups.length > 0 ? { groups } : {}) } };
}
