/** Which mutations `npm run mutate` makes of a piece of code. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { mutated, mutationsOf } from "../scripts/mutate/mutations.ts";

const all = (source: string): readonly string[] =>
  mutationsOf(source).map((mutation) => `${mutation.kind}: ${mutated(source, mutation)}`);

const cases: readonly { given: string; source: string; expected: readonly string[] }[] = [
  {
    given: "a comparison",
    source: "const a = b === c;",
    expected: ["operator: const a = b !== c;"],
  },
  {
    given: "types, comments and texts",
    source: 'const a: Map<string, 1 | 2> = f<X>("a === b", /a && b/, `c + d`); // a < b',
    expected: [],
  },
  {
    given: "an expression in a template",
    source: "const a = `${b - 1} - c`;",
    expected: ["operator: const a = `${b + 1} - c`;"],
  },
  {
    given: "a condition",
    source: "if (a && b) c();",
    expected: ["condition: if (!(a && b)) c();", "operator: if (a || b) c();"],
  },
  {
    given: "one comparison as a condition",
    source: "if (a < b) c();",
    expected: ["condition: if (!(a < b)) c();", "operator: if (a <= b) c();"],
  },
  { given: "a negation", source: "const a = !b;", expected: ["condition: const a = b;"] },
  {
    given: "a conditional expression",
    source: "const a = f(b, c(d) ? e : g);",
    expected: ["condition: const a = f(b, !(c(d)) ? e : g);"],
  },
  {
    given: "returned values",
    source: "const f = (a: number) => a.b; function g() { return true; } const h = () => 3;",
    expected: [
      "constant: const f = (a: number) => undefined; function g() { return true; } const h = () => 3;",
      "constant: const f = (a: number) => a.b; function g() { return false; } const h = () => 3;",
      "constant: const f = (a: number) => a.b; function g() { return true; } const h = () => 4;",
    ],
  },
  {
    given: "an array, and what only looks like one",
    source: "const [a, b] = [c(d, e), ...f]; g[0];",
    expected: ["element: const [a, b] = [ ...f]; g[0];", "element: const [a, b] = [c(d, e), ]; g[0];"],
  },
  {
    given: "an operator that cannot stand there",
    source: "const a = b ?? c || d;".replace("||", "+"),
    expected: ["operator: const a = b && c + d;", "operator: const a = b ?? c - d;"],
  },
];
for (const { given, source, expected } of cases)
  test(`mutations of ${given}`, () => assert.deepEqual(all(source), expected));
