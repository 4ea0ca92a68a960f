/**
 * What a rule may cost at worst, before it has ever run: Kubernetes refuses definitions whose rules could take too long on an
 * object that uses all the room its schema leaves. Lists, maps and texts without a bound count with all a request can hold.
 */
import type { Comprehension, Expression } from "./ast.ts";
import type { Checked } from "./check.ts";
import { callCost, type Operand } from "./cost-calls.ts";
import { addCosts, fixedSize, multiplyCosts, type Size, uniteSizes, unknownSize } from "./size.ts";
import { type CelType, types } from "./types.ts";

/** The most elements (or characters) there can be at a path from self: ["spec", "@items", …]; undefined when nobody knows. */
export type Measure = (path: readonly string[]) => number | undefined;

type Path = readonly string[] | undefined;

interface Local {
  readonly name: string;
  readonly path: Path;
  readonly size: Size | undefined;
  readonly outer: Local | undefined;
}

/** What is known of a part after it was looked at. */
interface Known {
  readonly cost: number;
  readonly size: Size | undefined;
  /** The size of entries of a list or of values of a map that was made here. */
  readonly entrySize: Size | undefined;
  readonly path: Path;
}

interface Estimator {
  readonly checked: Checked;
  readonly measure: Measure;
}

const identCost = 1;

export function worstCost(expression: Expression, checked: Checked, measure: Measure): number {
  return estimate({ checked, measure }, expression, undefined).cost;
}

const typeOf = ({ checked }: Estimator, expression: Expression): CelType => checked.types.get(expression) ?? types.dyn;

const fixedKinds: ReadonlySet<string> = new Set([
  ...["bool", "double", "int", "uint", "google.protobuf.Duration", "google.protobuf.Timestamp"],
]);
const isScalar = (type: CelType): boolean =>
  type.kind === "optional" ? isScalar(type.of) : type.kind === "simple" && fixedKinds.has(type.name);

/** Paths from a made-up value lead nowhere; the schema is asked first, then the type. */
function sizeAt(estimator: Estimator, expression: Expression, path: Path): Size | undefined {
  const max = path === undefined || path.length === 0 ? undefined : estimator.measure(path.slice(1));
  if (max !== undefined) return { min: 0, max };
  return isScalar(typeOf(estimator, expression)) ? fixedSize(1) : undefined;
}

function estimate(estimator: Estimator, expression: Expression, locals: Local | undefined): Known {
  switch (expression.kind) {
    case "constant":
      return { cost: 0, size: fixedSize(constantSize(expression.value)), entrySize: undefined, path: undefined };
    case "name":
      return estimateName(estimator, expression, locals);
    case "select":
      return estimateSelect(estimator, expression, locals);
    case "call":
      return estimateCall(estimator, expression, locals);
    case "list":
      return estimateList(estimator, expression, locals);
    case "map":
      return estimateMap(estimator, expression, locals);
    case "comprehension":
      return estimateComprehension(estimator, expression, locals);
  }
}

function constantSize(value: (Expression & { kind: "constant" })["value"]): number {
  if (typeof value === "string") return [...value].length;
  return value instanceof Uint8Array ? value.length : 1;
}

function estimateName(
  estimator: Estimator,
  expression: Expression & { kind: "name" },
  locals: Local | undefined,
): Known {
  for (let local = locals; local !== undefined; local = local.outer)
    if (local.name === expression.name) {
      const size = sizeAt(estimator, expression, local.path) ?? local.size;
      return { cost: identCost, size, entrySize: undefined, path: local.path };
    }
  const path = [expression.name];
  return { cost: identCost, size: sizeAt(estimator, expression, path), entrySize: undefined, path };
}

function estimateSelect(
  estimator: Estimator,
  expression: Expression & { kind: "select" },
  locals: Local | undefined,
): Known {
  if (typeOf(estimator, expression).kind === "type") {
    // The name of a type, dots and all.
    const path = [expression.field];
    return { ...nothing, cost: identCost, size: sizeAt(estimator, expression, path), path };
  }
  const of = estimate(estimator, expression.of, locals);
  if (expression.mode === "has") return { cost: of.cost, size: fixedSize(1), entrySize: undefined, path: undefined };
  const target = typeOf(estimator, expression.of);
  const reads = target.kind === "map" || target.kind === "object" || expression.mode === "optional";
  const path = [...(of.path ?? []), expression.field];
  return {
    cost: addCosts(of.cost, reads ? identCost : 0),
    size: sizeAt(estimator, expression, path),
    entrySize: undefined,
    path,
  };
}

const operandOf = (estimator: Estimator, expression: Expression, known: Known): Operand => {
  const entries = known.path === undefined ? undefined : estimator.measure([...known.path.slice(1), "@items"]);
  return {
    type: typeOf(estimator, expression),
    size: known.size ?? unknownSize,
    entrySize: entries === undefined ? (known.entrySize ?? unknownSize) : { min: 0, max: entries },
    constant: expression.kind === "constant" ? expression.value : undefined,
  };
};

function estimateCall(
  estimator: Estimator,
  expression: Expression & { kind: "call" },
  locals: Local | undefined,
): Known {
  const args = expression.args.map((arg) => estimate(estimator, arg, locals));
  const [first, second, third] = args;
  switch (expression.name) {
    case "_&&_":
    case "_||_":
      return { ...nothing, cost: costOf(args), size: fixedSize(1) };
    case "_?_:_":
      return estimateChoice(first ?? nothing, second ?? nothing, third ?? nothing);
    case "dyn":
      return { ...(first ?? nothing), cost: addCosts(1, costOf(args)) };
    case "_[_]":
      return estimateIndex(estimator, expression, first ?? nothing, args);
    default:
      return estimateFunction(estimator, expression, args, locals);
  }
}

const costOf = (parts: readonly Known[]): number => addCosts(...parts.map(({ cost }) => cost));
const united = (a: Size | undefined, b: Size | undefined): Size | undefined =>
  a === undefined || b === undefined ? undefined : uniteSizes(a, b);

const estimateChoice = (condition: Known, yes: Known, no: Known): Known => ({
  cost: addCosts(condition.cost, Math.max(yes.cost, no.cost)),
  size: uniteSizes(yes.size ?? unknownSize, no.size ?? unknownSize),
  entrySize: united(yes.entrySize, no.entrySize),
  path: undefined,
});

function estimateFunction(
  estimator: Estimator,
  expression: Expression & { kind: "call" },
  args: readonly Known[],
  locals: Local | undefined,
): Known {
  const { name, target } = expression;
  const isMember = estimator.checked.overloads.get(expression)?.[0]?.member === true;
  const of = target === undefined || !isMember ? undefined : estimate(estimator, target, locals);
  const operands = expression.args.map((arg, index) => operandOf(estimator, arg, args[index] ?? nothing));
  const subject = target === undefined || of === undefined ? undefined : operandOf(estimator, target, of);
  const call = callCost(target !== undefined && !isMember ? qualifiedName(target, name) : name, subject, operands);
  return {
    cost: addCosts(of?.cost ?? 0, call.cost, costOf(args)),
    size: call.size ?? (isScalar(typeOf(estimator, expression)) ? fixedSize(1) : undefined),
    entrySize: name === "_+_" ? united(args[0]?.entrySize, args[1]?.entrySize) : undefined,
    path: undefined,
  };
}

const nothing: Known = { cost: 0, size: undefined, entrySize: undefined, path: undefined };

const qualifiedName = (target: Expression, name: string): string => {
  if (target.kind === "name") return `${target.name}.${name}`;
  return target.kind === "select" ? qualifiedName(target.of, `${target.field}.${name}`) : name;
};

function estimateIndex(
  estimator: Estimator,
  expression: Expression & { kind: "call" },
  of: Known,
  args: readonly Known[],
): Known {
  const [container] = expression.args;
  const isMap = container !== undefined && typeOf(estimator, container).kind === "map";
  const path = [...(of.path ?? []), isMap ? "@values" : "@items"];
  return {
    cost: addCosts(1, ...args.map(({ cost }) => cost)),
    size: of.entrySize ?? sizeAt(estimator, expression, path),
    entrySize: undefined,
    path,
  };
}

const listBase = 10;
const mapBase = 30;

function estimateList(
  estimator: Estimator,
  expression: Expression & { kind: "list" },
  locals: Local | undefined,
): Known {
  const items = expression.items.map(({ value }) => estimate(estimator, value, locals));
  const entrySize = items.reduce<Size | undefined>(
    (all, { size }) => (all === undefined ? (size ?? unknownSize) : uniteSizes(all, size ?? unknownSize)),
    undefined,
  );
  return {
    cost: addCosts(listBase, ...items.map(({ cost }) => cost)),
    size: fixedSize(items.length),
    entrySize: entrySize ?? fixedSize(0),
    path: undefined,
  };
}

function estimateMap(estimator: Estimator, expression: Expression & { kind: "map" }, locals: Local | undefined): Known {
  const parts = expression.entries.flatMap(({ key, value }) => [
    estimate(estimator, key, locals),
    estimate(estimator, value, locals),
  ]);
  return {
    cost: addCosts(mapBase, ...parts.map(({ cost }) => cost)),
    size: fixedSize(expression.entries.length),
    entrySize: undefined,
    path: undefined,
  };
}

/** Iteration variables stand for what lies below the range in the schema. */
function bindNames(
  estimator: Estimator,
  { names, range }: Comprehension,
  known: Known,
  outer: Local | undefined,
): Local {
  const isMap = typeOf(estimator, range).kind === "map";
  const below = (step: string): readonly string[] => [...(known.path ?? []), step];
  const [first = "", second] = names;
  const single = isMap ? below("@keys") : below("@items");
  if (second === undefined) return { name: first, path: single, size: known.entrySize, outer };
  const key: Local = { name: first, path: isMap ? below("@keys") : below("@indices"), size: undefined, outer };
  return { name: second, path: isMap ? below("@values") : below("@items"), size: known.entrySize, outer: key };
}

/** What the macros unfold to, per turn of the loop and around it. */
function estimateComprehension(estimator: Estimator, expression: Comprehension, locals: Local | undefined): Known {
  const range = estimate(estimator, expression.range, locals);
  if (expression.does === "optMap" || expression.does === "optFlatMap")
    return estimateOptional(estimator, expression, range, locals);
  const inner = bindNames(estimator, expression, range, locals);
  const body = estimate(estimator, expression.body, inner).cost;
  const where = expression.where === undefined ? undefined : estimate(estimator, expression.where, inner).cost;
  const turns = range.size ?? unknownSize;
  const { init, turn, result } = loopCost(expression.does, body, where);
  const cost = addCosts(range.cost, init, result, multiplyCosts(turns.max, turn));
  const makesList = init >= listBase;
  return { cost, size: makesList ? turns : fixedSize(1), entrySize: undefined, path: undefined };
}

interface Loop {
  readonly init: number;
  readonly turn: number;
  readonly result: number;
}

function loopCost(does: Comprehension["does"], body: number, where: number | undefined): Loop {
  const append = (value: number): number => addCosts(1, identCost, listBase, value);
  const guarded = (step: number): number => (where === undefined ? step : addCosts(where, step));
  switch (does) {
    case "all":
      return { init: 0, turn: addCosts(2, identCost, body), result: identCost };
    case "exists":
      return { init: 0, turn: addCosts(3, identCost, body), result: identCost };
    case "existsOne":
      return { init: 0, turn: addCosts(body, 2), result: 2 };
    case "filter":
      return { init: listBase, turn: addCosts(body, append(identCost)), result: identCost };
    case "transformMap":
      return { init: mapBase, turn: guarded(addCosts(1, 2 * identCost, body)), result: identCost };
    case "transformMapEntry":
      return { init: mapBase, turn: guarded(addCosts(1, identCost, body)), result: identCost };
    default:
      return { init: listBase, turn: guarded(append(body)), result: identCost };
  }
}

function estimateOptional(
  estimator: Estimator,
  { names, body }: Comprehension,
  range: Known,
  locals: Local | undefined,
): Known {
  const local: Local = { name: names[0] ?? "", path: undefined, size: undefined, outer: locals };
  const inner = estimate(estimator, body, local);
  // hasValue() on it, an empty range, value() of it again, the body, and optional.of around.
  const cost = addCosts(range.cost, 1, listBase, range.cost, 1, inner.cost, 1);
  return { cost, size: inner.size, entrySize: undefined, path: undefined };
}
