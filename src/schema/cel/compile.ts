/** A checked expression as a function of its variables. */
import type { Comprehension, Expression } from "./ast.ts";
import { type Checked, qualifiedName } from "./check.ts";
import { environment } from "./environment.ts";
import { fits, type Overload } from "./functions.ts";
import { shownKey } from "./library/operators.ts";
import {
  CelFault,
  celCompare,
  isList,
  isMap,
  isTagged,
  itemsOf,
  listFrom,
  mapFrom,
  none,
  some,
  typeValue,
  uint,
  type Value,
} from "./value.ts";

/** Bound names, innermost first, and the steps this evaluation may still take. */
interface Scope {
  readonly name: string;
  readonly value: Value;
  readonly outer: Scope | undefined;
  readonly budget: { steps: number };
}

type Step = (scope: Scope | undefined) => Value;
export type Program = (variables: Readonly<Record<string, Value>>) => Value;

/** Turns of loops in one evaluation. Kubernetes counts costs instead and stops at about as much work. */
const stepsMax = 200_000;

export function compileCel(expression: Expression, checked: Checked): Program {
  const step = compile(expression, checked.overloads);
  return (variables) => {
    const budget = { steps: stepsMax };
    let scope: Scope | undefined;
    for (const [name, value] of Object.entries(variables)) scope = { name, value, outer: scope, budget };
    try {
      return step(scope);
    } catch (reason) {
      throw reason instanceof CelFault ? reason : outgrown(reason);
    }
  };
}

/** A text, a number or a nesting that the platform cannot hold is the rule's trouble, and no failure of the server. */
const outgrown = (reason: unknown): CelFault =>
  new CelFault(`internal error: ${reason instanceof Error ? reason.message : String(reason)}`);

type Overloads = Checked["overloads"];

function compile(expression: Expression, overloads: Overloads): Step {
  switch (expression.kind) {
    case "constant":
      return compileConstant(expression.value);
    case "name":
      return compileName(expression.name);
    case "select":
      return compileSelect(expression, overloads);
    case "call":
      return compileCall(expression, overloads);
    case "list":
      return compileList(expression, overloads);
    case "map":
      return compileMap(expression, overloads);
    case "comprehension":
      return compileComprehension(expression, overloads);
  }
}

function compileConstant(value: (Expression & { kind: "constant" })["value"]): Step {
  const constant: Value = typeof value === "object" && value !== null && "uint" in value ? uint(value.uint) : value;
  return () => constant;
}

function compileName(name: string): Step {
  const named = environment.typeNames.get(name);
  return (scope) => {
    for (let at = scope; at !== undefined; at = at.outer) if (at.name === name) return at.value;
    if (named !== undefined) return typeValue(named.name);
    throw new CelFault(`no such attribute(s): ${name}`);
  };
}

function compileSelect(expression: Expression & { kind: "select" }, overloads: Overloads): Step {
  const named = environment.typeNames.get(qualifiedName(expression) ?? "");
  if (named !== undefined) return () => typeValue(named.name);
  const { field, mode } = expression;
  const of = compile(expression.of, overloads);
  if (mode === "has") return (scope) => hasField(of(scope), field);
  return (scope) => {
    const target = of(scope);
    if (isTagged(target) && target.kind === "optional")
      return target.value === undefined ? none : optionalField(target.value, field);
    return mode === "optional" ? optionalField(target, field) : fieldOf(target, field);
  };
}

/** What has no fields at all, like null or a text, has none of this name: so cel-go says. */
const hasNoFields = (target: Value): boolean => !isTagged(target);

function fieldOf(target: Value, field: string): Value {
  if (!isMap(target) && !hasNoFields(target)) throw new CelFault("no such overload");
  const value = isMap(target) ? target.get(field) : undefined;
  if (value === undefined) throw new CelFault(`no such key: ${field}`);
  return value;
}

function optionalField(target: Value, field: string): Value {
  const value = isMap(target) ? target.get(field) : undefined;
  return value === undefined ? none : some(value);
}

function hasField(target: Value, field: string): boolean {
  if (isTagged(target) && target.kind === "optional")
    return target.value !== undefined && hasField(target.value, field);
  if (hasNoFields(target)) return false;
  if (!isMap(target)) throw new CelFault("no such overload");
  return target.get(field) !== undefined;
}

function compileCall(expression: Expression & { kind: "call" }, overloads: Overloads): Step {
  const args = expression.args.map((arg) => compile(arg, overloads));
  const [first, second, third] = args;
  if (first !== undefined && second !== undefined) {
    if (expression.name === "_&&_") return (scope) => logic(first, second, scope, false);
    if (expression.name === "_||_") return (scope) => logic(first, second, scope, true);
    if (expression.name === "_?_:_" && third !== undefined)
      return (scope) => choose(first(scope), second, third, scope);
  }
  const candidates = overloads.get(expression) ?? [];
  const isMember = candidates[0]?.member === true;
  const steps = expression.target === undefined || !isMember ? args : [compile(expression.target, overloads), ...args];
  return (scope) => {
    const values = steps.map((step) => step(scope));
    return pick(candidates, values).run(values);
  };
}

function pick(candidates: readonly Overload[], values: readonly Value[]): Overload {
  const [only] = candidates;
  if (only !== undefined && candidates.length === 1) return only;
  const found = candidates.find(({ args }) => args.every((type, index) => fits(values[index] ?? null, type)));
  if (found === undefined) throw new CelFault("no such overload");
  return found;
}

/** `decides` is the value that settles the matter whatever the other side says, or fails to say. */
function logic(first: Step, second: Step, scope: Scope | undefined, decides: boolean): Value {
  let fault: unknown;
  try {
    const left = first(scope);
    if (left === decides) return decides;
    if (typeof left !== "boolean") fault = new CelFault("no such overload");
  } catch (reason) {
    fault = reason;
  }
  const right = second(scope);
  if (right === decides) return decides;
  if (fault !== undefined) throw fault;
  if (typeof right !== "boolean") throw new CelFault("no such overload");
  return !decides;
}

function choose(condition: Value, yes: Step, no: Step, scope: Scope | undefined): Value {
  if (typeof condition !== "boolean") throw new CelFault("no such overload");
  return condition ? yes(scope) : no(scope);
}

const optionalItem = (value: Value): Value | undefined =>
  isTagged(value) && value.kind === "optional" ? value.value : value;

function compileList({ items }: Expression & { kind: "list" }, overloads: Overloads): Step {
  const steps = items.map(({ value, optional }) => ({ step: compile(value, overloads), optional }));
  return (scope) =>
    listFrom(
      steps.flatMap(({ step, optional }) => {
        const value = optional ? optionalItem(step(scope)) : step(scope);
        return value === undefined ? [] : [value];
      }),
    );
}

function compileMap({ entries }: Expression & { kind: "map" }, overloads: Overloads): Step {
  const steps = entries.map(({ key, value, optional }) => ({
    key: compile(key, overloads),
    value: compile(value, overloads),
    optional,
  }));
  return (scope) => {
    const found: (readonly [Value, Value])[] = [];
    for (const { key, value, optional } of steps) {
      const [name, raw] = [key(scope), value(scope)];
      const item = optional ? optionalItem(raw) : raw;
      if (item === undefined) continue;
      if (found.some(([other]) => shownKey(other) === shownKey(name))) throw new CelFault(`Failed with repeated key`);
      found.push([name, item]);
    }
    return mapFrom(found);
  };
}

interface Entry {
  readonly key: Value;
  readonly value: Value;
}

function entriesOf(range: Value): readonly Entry[] {
  if (isList(range)) return itemsOf(range).map((value, index) => ({ key: BigInt(index), value }));
  if (isMap(range)) return range.keys().map((key) => ({ key, value: range.get(key) ?? null }));
  throw new CelFault("no such overload");
}

/** One name over a map is its key, over a list its value. */
function bindEntry(names: readonly string[], { key, value }: Entry, range: Value, scope: Scope | undefined): Scope {
  const budget = scope?.budget ?? { steps: stepsMax };
  budget.steps -= 1;
  if (budget.steps < 0) throw new CelFault("operation cancelled: actual cost limit exceeded");
  const [first = "", second] = names;
  if (second === undefined) return { name: first, value: isMap(range) ? key : value, outer: scope, budget };
  return { name: second, value, outer: { name: first, value: key, outer: scope, budget }, budget };
}

function compileComprehension(expression: Comprehension, overloads: Overloads): Step {
  const range = compile(expression.range, overloads);
  const body = compile(expression.body, overloads);
  const where = expression.where === undefined ? undefined : compile(expression.where, overloads);
  const { names, does } = expression;
  if (does === "optMap" || does === "optFlatMap") return compileOptional(expression, range, body);
  return (scope) => {
    const over = range(scope);
    const turns = entriesOf(over).map((entry) => ({ entry, over, names, scope }));
    const kept = where === undefined ? turns : turns.filter((turn) => isTrue(where(scopeOf(turn))));
    return outcomes[does](kept, body);
  };
}

interface Turn {
  readonly entry: Entry;
  readonly over: Value;
  readonly names: readonly string[];
  readonly scope: Scope | undefined;
}

const scopeOf = ({ names, entry, over, scope }: Turn): Scope => bindEntry(names, entry, over, scope);
const itemOf = ({ entry, over }: Turn): Value => (isMap(over) ? entry.key : entry.value);

function isTrue(value: Value): boolean {
  if (typeof value !== "boolean") throw new CelFault("no such overload");
  return value;
}

/** One entry that settles it is enough, even when another could not be judged. */
function quantified(turns: readonly Turn[], body: Step, decides: boolean): boolean {
  let fault: unknown;
  for (const turn of turns)
    try {
      if (isTrue(body(scopeOf(turn))) === decides) return decides;
    } catch (reason) {
      if (reason instanceof CelFault && reason.message.startsWith("operation cancelled")) throw reason;
      fault = reason;
    }
  if (fault !== undefined) throw fault;
  return !decides;
}

type Outcome = (turns: readonly Turn[], body: Step) => Value;

const outcomes: Readonly<Record<Exclude<Comprehension["does"], "optMap" | "optFlatMap">, Outcome>> = {
  all: (turns, body) => quantified(turns, body, false),
  exists: (turns, body) => quantified(turns, body, true),
  existsOne: (turns, body) => turns.filter((turn) => isTrue(body(scopeOf(turn)))).length === 1,
  map: (turns, body) => listFrom(turns.map((turn) => body(scopeOf(turn)))),
  filter: (turns, body) => listFrom(turns.filter((turn) => isTrue(body(scopeOf(turn)))).map(itemOf)),
  transformList: (turns, body) => listFrom(turns.map((turn) => body(scopeOf(turn)))),
  transformMap: (turns, body) => mapFrom(turns.map((turn) => [turn.entry.key, body(scopeOf(turn))] as const)),
  transformMapEntry: (turns, body) =>
    mapFrom(
      turns.flatMap((turn) => {
        const made = body(scopeOf(turn));
        return isMap(made) ? made.keys().map((key) => [key, made.get(key) ?? null] as const) : [];
      }),
    ),
  sortBy: (turns, body) => {
    const keyed = turns.map((turn) => ({ item: itemOf(turn), key: body(scopeOf(turn)) }));
    return listFrom(keyed.sort((a, b) => celCompare(a.key, b.key)).map(({ item }) => item));
  },
};

function compileOptional({ names, does }: Comprehension, range: Step, body: Step): Step {
  return (scope) => {
    const over = range(scope);
    if (!isTagged(over) || over.kind !== "optional") throw new CelFault("no such overload");
    if (over.value === undefined) return none;
    const budget = scope?.budget ?? { steps: stepsMax };
    const result = body({ name: names[0] ?? "", value: over.value, outer: scope, budget });
    return does === "optMap" ? some(result) : result;
  };
}
