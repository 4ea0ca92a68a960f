import assert from "node:assert/strict";
import { test } from "node:test";
import { printable, printableLines } from "./printable.ts";

const cases: readonly (readonly [given: string, shown: string])[] = [
  ["VolumeSnapshot team/monday: Größe „1Gi“ 日本", "VolumeSnapshot team/monday: Größe „1Gi“ 日本"],
  ["\u001b[2Jcleared", "\\u001b[2Jcleared"],
  ["\u009b2Jcleared", "\\u009b2Jcleared"],
  ["a\rb", "a\\u000db"],
  ["name\n::error file=x::fake", "name\\n::error file=x::fake"],
  ["::error::fake", "\\u003a:error::fake"],
  ["  ::error::fake", "  \\u003a:error::fake"],
  ["x ##[error]fake", "x #\\u0023[error]fake"],
  ["x ##vso[task.setvariable]y", "x #\\u0023vso[task.setvariable]y"],
  ["user\u202egnp.exe", "user\\u202egnp.exe"],
  ["a\u2028b", "a\\u2028b"],
  ["\ud800", "\\ud800"],
  ["\u{e0041}", "\\udb40\\udc41"],
  ["namespace::name, a tab\tand # [one]", "namespace::name, a tab\tand # [one]"],
];

test("what a terminal or a CI job would obey is shown and not done", () => {
  for (const [given, shown] of cases) assert.equal(printable(given), shown);
});

test("line breaks of a report stay, and JSON with unsafe characters stays the same JSON", () => {
  assert.equal(printableLines("a\nb\u0007\n"), "a\nb\\u0007\n");
  const value = { name: "\u009b2J ##[error] \u202e\n" };
  assert.deepEqual(JSON.parse(printableLines(JSON.stringify(value))), value);
});
