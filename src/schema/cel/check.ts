/**
 * Whether an expression makes sense before anything is evaluated: names exist, fields are declared, functions take what they
 * are given. Says what cel-go says, at the place where it says it.
 */
import { CelProblem, type Comprehension, type Expression } from "./ast.ts";
import { environment } from "./environment.ts";
import type { Overload } from "./functions.ts";
import {
  type Bindings,
  type CelType,
  isAssignable,
  isDyn,
  isError,
  listOf,
  mapOf,
  optionalOf,
  printType,
  resolve,
  substitute,
  typeOf,
  types,
  variable,
} from "./types.ts";

export interface Checked {
  readonly type: CelType;
  readonly problems: readonly CelProblem[];
  /** What each call may turn out to be; more than one where types are only known later. */
  readonly overloads: ReadonlyMap<Expression, readonly Overload[]>;
  /** Variables of the environment that the expression mentions. */
  readonly mentions: ReadonlySet<string>;
}

interface Checker {
  readonly problems: CelProblem[];
  readonly overloads: Map<Expression, readonly Overload[]>;
  readonly mentions: Set<string>;
  readonly bindings: Bindings;
  freeVariables: number;
}

interface Names {
  readonly known: ReadonlyMap<string, CelType>;
  readonly outer: Names | undefined;
}

export function checkCel(expression: Expression, variables: ReadonlyMap<string, CelType>): Checked {
  const checker: Checker = {
    problems: [],
    overloads: new Map(),
    mentions: new Set(),
    bindings: new Map(),
    freeVariables: 0,
  };
  const type = substitute(check(checker, expression, { known: variables, outer: undefined }), checker.bindings, true);
  const { problems, overloads, mentions } = checker;
  return { type, problems, overloads, mentions };
}

const fresh = (checker: Checker): CelType => {
  checker.freeVariables += 1;
  return variable(checker.freeVariables);
};
const report = (checker: Checker, at: number, message: string): CelType => {
  checker.problems.push(new CelProblem(at, message));
  return types.error;
};

function check(checker: Checker, expression: Expression, names: Names): CelType {
  switch (expression.kind) {
    case "constant":
      return constantType(expression.value);
    case "name":
      return checkName(checker, expression, names);
    case "select":
      return checkSelect(checker, expression, names);
    case "call":
      return checkCall(checker, expression, names);
    case "list":
      return checkList(checker, expression, names);
    case "map":
      return checkMap(checker, expression, names);
    case "comprehension":
      return checkComprehension(checker, expression, names);
  }
}

function constantType(value: (Expression & { kind: "constant" })["value"]): CelType {
  if (value === null) return types.null;
  if (typeof value === "object") return value instanceof Uint8Array ? types.bytes : types.uint;
  const byName = { boolean: types.bool, bigint: types.int, number: types.double, string: types.string } as const;
  return byName[typeof value as keyof typeof byName];
}

function lookUp(name: string, names: Names | undefined): CelType | undefined {
  for (let scope = names; scope !== undefined; scope = scope.outer) {
    const type = scope.known.get(name);
    if (type !== undefined) return type;
  }
  return undefined;
}

function checkName(checker: Checker, { at, name }: Expression & { kind: "name" }, names: Names): CelType {
  const type = lookUp(name, names);
  if (type !== undefined) {
    checker.mentions.add(name);
    return type;
  }
  const named = environment.typeNames.get(name);
  if (named !== undefined) return typeOf(named.type);
  return report(checker, at, `undeclared reference to '${name}' (in container '')`);
}

/** "google.protobuf.Timestamp" is a name with dots, unless its first part is a variable. */
export function qualifiedName(expression: Expression): string | undefined {
  if (expression.kind === "name") return expression.name;
  if (expression.kind !== "select" || expression.mode !== "value") return undefined;
  const outer = qualifiedName(expression.of);
  return outer === undefined ? undefined : `${outer}.${expression.field}`;
}

function checkSelect(checker: Checker, expression: Expression & { kind: "select" }, names: Names): CelType {
  const name = qualifiedName(expression);
  const named = name === undefined ? undefined : environment.typeNames.get(name);
  if (named !== undefined) return typeOf(named.type);
  const operand = resolve(check(checker, expression.of, names), checker.bindings);
  const isOptional = operand.kind === "optional";
  const result = fieldType(checker, expression, isOptional ? resolve(operand.of, checker.bindings) : operand);
  if (expression.mode === "has") return types.bool;
  return isOptional || expression.mode === "optional" ? optionalOf(result) : result;
}

function fieldType(checker: Checker, { at, field }: Expression & { kind: "select" }, target: CelType): CelType {
  if (target.kind === "map") return target.value;
  if (target.kind === "object") return target.fields().get(field) ?? report(checker, at, `undefined field '${field}'`);
  if (target.kind === "variable") {
    checker.bindings.set(target.id, types.dyn);
    return types.dyn;
  }
  if (!isDyn(target)) report(checker, at, `type '${printType(target)}' does not support field selection`);
  return types.dyn;
}

function checkCall(checker: Checker, expression: Expression & { kind: "call" }, names: Names): CelType {
  const args = expression.args.map((arg) => check(checker, arg, names));
  if (expression.name === "_&&_" || expression.name === "_||_") return checkLogic(checker, expression, args);
  if (expression.name === "_?_:_") return checkChoice(checker, expression, args);
  const { target, name, at } = expression;
  const qualified = target === undefined ? undefined : qualifiedName(target);
  const spaced = qualified === undefined ? undefined : `${qualified}.${name}`;
  if (spaced !== undefined && environment.functions.has(spaced))
    return resolveCall(checker, expression, spaced, false, args);
  const all = target === undefined ? args : [check(checker, target, names), ...args];
  if (!environment.functions.has(name))
    return report(checker, at, `undeclared reference to '${name}' (in container '')`);
  return resolveCall(checker, expression, name, target !== undefined, all);
}

function checkLogic(checker: Checker, { args }: Expression & { kind: "call" }, given: readonly CelType[]): CelType {
  let isGood = true;
  for (const [index, type] of given.entries())
    if (!isAssignable(type, types.bool, checker.bindings)) {
      isGood = false;
      const found = printType(substitute(type, checker.bindings, true));
      report(checker, args[index]?.at ?? 0, `expected type 'bool' but found '${found}'`);
    }
  return isGood ? types.bool : types.error;
}

function checkChoice(checker: Checker, { at }: Expression & { kind: "call" }, given: readonly CelType[]): CelType {
  const [condition = types.error, yes = types.error, no = types.error] = given;
  const result = fresh(checker);
  const bindings: Bindings = new Map(checker.bindings);
  if (
    isAssignable(condition, types.bool, bindings) &&
    isAssignable(yes, result, bindings) &&
    isAssignable(no, result, bindings)
  ) {
    adopt(checker, bindings);
    return isDyn(resolve(no, bindings)) ? types.dyn : result;
  }
  return noMatch(checker, at, "_?_:_", given, false);
}

const adopt = (checker: Checker, bindings: Bindings): void => {
  for (const [id, type] of bindings) checker.bindings.set(id, type);
};

function noMatch(checker: Checker, at: number, name: string, given: readonly CelType[], isMember: boolean): CelType {
  const printed = given.map((type) => printType(substitute(type, checker.bindings, true)));
  const [target, ...rest] = printed;
  const signature = isMember ? `${target}.(${rest.join(", ")})` : `(${printed.join(", ")})`;
  return report(checker, at, `found no matching overload for '${name}' applied to '${signature}'`);
}

function resolveCall(
  checker: Checker,
  expression: Expression & { kind: "call" },
  name: string,
  isMember: boolean,
  given: readonly CelType[],
): CelType {
  const matching: Overload[] = [];
  let result: CelType | undefined;
  for (const overload of environment.functions.get(name) ?? []) {
    if (overload.member !== isMember || overload.args.length !== given.length) continue;
    const instance = instantiate(checker, overload);
    const bindings: Bindings = new Map(checker.bindings);
    if (!given.every((type, index) => isAssignable(type, instance.args[index] ?? types.error, bindings))) continue;
    adopt(checker, bindings);
    matching.push(overload);
    const own = substitute(instance.result, checker.bindings);
    if (result === undefined) result = own;
    else if (!isDyn(result) && printType(own) !== printType(result)) result = types.dyn;
  }
  checker.overloads.set(expression, matching);
  // What an unknown thing would answer is not asked again.
  if (result === undefined && isMember && isError(resolve(given[0] ?? types.dyn, checker.bindings))) return types.error;
  return result ?? noMatch(checker, expression.at, name, given, isMember);
}

/** A and B of a declaration are new unknowns in every call. */
function instantiate(checker: Checker, { args, result }: Overload): { args: readonly CelType[]; result: CelType } {
  const own: Bindings = new Map([
    [-1, fresh(checker)],
    [-2, fresh(checker)],
  ]);
  return { args: args.map((type) => substitute(type, own)), result: substitute(result, own) };
}

/** Literals hold one type: the first item says which. */
function joinTypes(checker: Checker, at: number, before: CelType | undefined, next: CelType): CelType {
  if (before === undefined) return next;
  const bindings: Bindings = new Map(checker.bindings);
  if (isAssignable(next, before, bindings)) {
    adopt(checker, bindings);
    return isDyn(resolve(before, bindings)) ? before : next;
  }
  const [wanted, found] = [before, next].map((type) => printType(substitute(type, checker.bindings, true)));
  report(checker, at, `expected type '${wanted}' but found '${found}'`);
  return before;
}

const unwrapped = (checker: Checker, type: CelType, isOptional: boolean): CelType => {
  const known = resolve(type, checker.bindings);
  return isOptional && known.kind === "optional" ? known.of : type;
};

function checkList(checker: Checker, { items }: Expression & { kind: "list" }, names: Names): CelType {
  let of: CelType | undefined;
  for (const { value, optional } of items)
    of = joinTypes(checker, value.at, of, unwrapped(checker, check(checker, value, names), optional));
  return listOf(of ?? fresh(checker));
}

function checkMap(checker: Checker, { entries }: Expression & { kind: "map" }, names: Names): CelType {
  let [key, value]: [CelType | undefined, CelType | undefined] = [undefined, undefined];
  for (const entry of entries) {
    key = joinTypes(checker, entry.key.at, key, check(checker, entry.key, names));
    value = joinTypes(
      checker,
      entry.value.at,
      value,
      unwrapped(checker, check(checker, entry.value, names), entry.optional),
    );
  }
  return mapOf(key ?? fresh(checker), value ?? fresh(checker));
}

/** The types of a range's keys (or positions) and values. */
function rangeTypes(checker: Checker, expression: Comprehension, names: Names): { key: CelType; value: CelType } {
  const range = resolve(check(checker, expression.range, names), checker.bindings);
  if (range.kind === "list") return { key: types.int, value: range.of };
  if (range.kind === "map") return { key: range.key, value: range.value };
  if (range.kind !== "variable" && !isDyn(range))
    report(
      checker,
      expression.range.at,
      `expression of type '${printType(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
    );
  return { key: types.dyn, value: types.dyn };
}

function checkComprehension(checker: Checker, expression: Comprehension, names: Names): CelType {
  if (expression.does === "optMap" || expression.does === "optFlatMap")
    return checkOptional(checker, expression, names);
  const { key, value } = rangeTypes(checker, expression, names);
  const range = resolve(check({ ...checker, problems: [] }, expression.range, names), checker.bindings);
  const [first = "", second] = expression.names;
  const single = range.kind === "map" ? key : value;
  const known =
    second === undefined
      ? [[first, single] as const]
      : ([
          [first, key],
          [second, value],
        ] as const);
  const inner: Names = { known: new Map(known), outer: names };
  const where = expression.where === undefined ? undefined : check(checker, expression.where, inner);
  const body = check(checker, expression.body, inner);
  if (where !== undefined) mustSelect(checker, expression, where, listOf(body));
  return comprehensionType(checker, expression, body, { single, key });
}

function mustBeBool(checker: Checker, expression: Expression, type: CelType): void {
  if (isAssignable(type, types.bool, checker.bindings)) return;
  const found = printType(substitute(type, checker.bindings, true));
  report(checker, expression.at, `expected type 'bool' but found '${found}'`);
}

/** Filters are a choice between two lists, and a wrong one is reported as such. */
function mustSelect(checker: Checker, { at }: Comprehension, condition: CelType, list: CelType): void {
  if (!isAssignable(condition, types.bool, checker.bindings))
    noMatch(checker, at, "_?_:_", [condition, list, list], false);
}

function comprehensionType(
  checker: Checker,
  expression: Comprehension,
  result: CelType,
  range: { single: CelType; key: CelType },
): CelType {
  const { does, body } = expression;
  switch (does) {
    case "all":
    case "exists":
    case "existsOne":
      mustBeBool(checker, body, result);
      return types.bool;
    case "filter":
      mustSelect(checker, expression, result, listOf(range.single));
      return listOf(range.single);
    case "sortBy":
      return listOf(range.single);
    case "transformMap":
      return mapOf(range.key, result);
    case "transformMapEntry":
      return resolve(result, checker.bindings);
    default:
      return listOf(result);
  }
}

function checkOptional(checker: Checker, expression: Comprehension, names: Names): CelType {
  const range = resolve(check(checker, expression.range, names), checker.bindings);
  const of = range.kind === "optional" ? range.of : types.dyn;
  if (range.kind !== "optional" && !isDyn(range) && !isError(range))
    return noMatch(checker, expression.at, expression.does, [range], true);
  const result = check(checker, expression.body, { known: new Map([[expression.names[0] ?? "", of]]), outer: names });
  return expression.does === "optMap" ? optionalOf(result) : result;
}
