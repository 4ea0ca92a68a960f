/**
 * The variables of one admission policy: each value that its rules look at, under a name. The server evaluates a variable once, and only when it
 * is asked for.
 */
import type { Names, Side } from "./condition.ts";
import type { PolicyVariable } from "./policy-objects.ts";

export interface Variables {
  /** For a rule that is asked of this object: what it calls the object is that one. */
  names(object: Side): Names;
  /** Gives an expression a name; returns how it is mentioned. */
  define(name: string, expression: string): string;
  /** A variable may mention those before it. */
  all(): PolicyVariable[];
}

export function createVariables(): Variables {
  const defined = new Map<string, string>();
  const define = (name: string, expression: string): string => {
    if (!defined.has(name)) defined.set(name, expression);
    return `variables.${name}`;
  };
  const text = (path: string, side: Side): string =>
    define(`${side === "object" ? "the" : "old"}${inCamelCase(path)}`, `${optionalAt(side, path)}.orValue('')`);
  const shown = (path: string, side: Side): string => {
    const [value, isThere] = [text(path, side), `${optionalAt(side, path)}.hasValue()`];
    return define(
      `shown${side === "object" ? "" : "Old"}${inCamelCase(path)}`,
      `!${isThere} ? 'nothing' : ${isPlain(value)} ? '"' + ${value} + '"' : 'another text'`,
    );
  };
  return {
    names: (object) => {
      const of = (side: Side): Side => (side === "object" ? object : side);
      return {
        text: (path, side) => text(path, of(side)),
        optional: (path, side) => optionalAt(of(side), path),
        shown: (path, side) => shown(path, of(side)),
      };
    },
    define,
    all: () => [...defined].map(([name, expression]) => ({ name, expression })),
  };
}

/** Only such text is repeated: what a user writes can be long, and can obey a terminal. */
export const isPlain = (value: string): string => `size(${value}) <= ${shownMax} && ${value}.matches('${plain}')`;
const shownMax = 253;
/** Nothing that a quoted text would have to escape. */
const plain = '^[^"\\\\\\\\[:cntrl:]]*$';
/** Every member on the way may be absent. */
const optionalAt = (side: Side, path: string): string => [side, ...path.split(".")].join(".?");
const inCamelCase = (path: string): string =>
  path
    .replace(/^spec\./, "")
    .split(".")
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join("");
