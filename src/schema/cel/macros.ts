/** What looks like a call and is not: has(), and everything that binds names of its own. */
import { CelProblem, type Comprehension, type ComprehensionKind, type Expression } from "./ast.ts";

type Maker = (at: number, range: Expression, args: readonly Expression[]) => Expression | undefined;

function nameOf(expression: Expression | undefined): string {
  if (expression?.kind === "name" && !expression.name.startsWith(".")) return expression.name;
  throw new CelProblem(expression?.at ?? 0, "argument must be a simple name");
}

const comprehension = (
  at: number,
  does: ComprehensionKind,
  range: Expression,
  names: readonly string[],
  body: Expression,
  where?: Expression,
): Comprehension => ({ at, kind: "comprehension", does, range, names, where, body });

/** range.all(x, body), and with two names range.all(k, v, body). */
const quantifier =
  (does: ComprehensionKind): Maker =>
  (at, range, args) => {
    const body = args.at(-1);
    if (body === undefined || args.length < 2 || args.length > 3) return undefined;
    return comprehension(at, does, range, args.slice(0, -1).map(nameOf), body);
  };

/** range.map(x, body) and range.map(x, where, body). */
const mapping: Maker = (at, range, args) => {
  const body = args.at(-1);
  if (body === undefined || args.length < 2 || args.length > 3) return undefined;
  return comprehension(at, "map", range, [nameOf(args[0])], body, args.length === 3 ? args[1] : undefined);
};

const single =
  (does: ComprehensionKind): Maker =>
  (at, range, args) => {
    const [name, body] = args;
    return body === undefined || args.length !== 2 ? undefined : comprehension(at, does, range, [nameOf(name)], body);
  };

/** range.transformList(k, v, body) and range.transformList(k, v, where, body). */
const transform =
  (does: ComprehensionKind): Maker =>
  (at, range, args) => {
    const body = args.at(-1);
    if (body === undefined || args.length < 3 || args.length > 4) return undefined;
    return comprehension(at, does, range, args.slice(0, 2).map(nameOf), body, args.length === 4 ? args[2] : undefined);
  };

const makers: Readonly<Record<string, Maker>> = {
  all: quantifier("all"),
  exists: quantifier("exists"),
  exists_one: quantifier("existsOne"),
  existsOne: quantifier("existsOne"),
  map: mapping,
  filter: single("filter"),
  transformList: transform("transformList"),
  transformMap: transform("transformMap"),
  transformMapEntry: transform("transformMapEntry"),
  sortBy: single("sortBy"),
  optMap: single("optMap"),
  optFlatMap: single("optFlatMap"),
};

/** undefined: an ordinary call. */
export function expandMacro(
  at: number,
  name: string,
  target: Expression | undefined,
  args: readonly Expression[],
): Expression | undefined {
  if (target !== undefined) return Object.hasOwn(makers, name) ? makers[name]?.(at, target, args) : undefined;
  if (name !== "has" || args.length !== 1) return undefined;
  const [selected] = args;
  if (selected?.kind === "select" && selected.mode === "value")
    return { at, kind: "select", of: selected.of, field: selected.field, mode: "has" };
  throw new CelProblem(selected?.at ?? at, "invalid argument to has() macro");
}
