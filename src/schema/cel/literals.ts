/** Constants that could never be read are mistakes of the rule, not of any object: duration("x"), timestamp("y"), matches("("). */
import { goRegExp } from "../go-regexp.ts";
import { CelProblem, type Expression } from "./ast.ts";
import { parseCelDuration, timestampFrom } from "./library/time.ts";

const readers: Readonly<Record<string, (value: string) => void>> = {
  duration: parseCelDuration,
  timestamp: timestampFrom,
  matches: (value) => {
    const { problem } = goRegExp(value);
    if (problem !== undefined) throw new Error(problem);
  },
};

const isReadable = (read: (value: string) => void, value: string): boolean => {
  try {
    read(value);
    return true;
  } catch {
    return false;
  }
};

export function literalProblems(expression: Expression): readonly CelProblem[] {
  const inner = partsOf(expression).flatMap(literalProblems);
  if (expression.kind !== "call") return inner;
  const argument = expression.args.at(-1);
  const read = Object.hasOwn(readers, expression.name) ? readers[expression.name] : undefined;
  if (read === undefined || argument?.kind !== "constant" || typeof argument.value !== "string") return inner;
  return isReadable(read, argument.value)
    ? inner
    : [...inner, new CelProblem(argument.at, `invalid ${expression.name} argument`)];
}

function partsOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case "select":
      return [expression.of];
    case "call":
      return expression.target === undefined ? expression.args : [expression.target, ...expression.args];
    case "list":
      return expression.items.map(({ value }) => value);
    case "map":
      return expression.entries.flatMap(({ key, value }) => [key, value]);
    case "comprehension":
      return [expression.range, ...(expression.where === undefined ? [] : [expression.where]), expression.body];
    default:
      return [];
  }
}
