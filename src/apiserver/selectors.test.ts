import assert from "node:assert/strict";
import { test } from "node:test";
import { parseFieldSelector, parseLabelSelector } from "./selectors.ts";

const labels = { app: "web", tier: "front", level: "3", in: "x" };
const matching: readonly (readonly [selector: string, matches: boolean])[] = [
  ["", true],
  ["app", true],
  ["!app", false],
  ["!other", true],
  ["app=web", true],
  ["app==web,tier=back", false],
  ["app!=db", true],
  ["other!=db", true],
  ["app in (db, web)", true],
  ["app notin (db,web)", false],
  ["other notin ()", true],
  ["level>2", true],
  ["level<3", false],
  ["app=", false],
  ["in in (x)", true],
  ["constructor", false],
];
for (const [selector, matches] of matching)
  test(`the labels are ${matches ? "" : "not "}selected by "${selector}"`, () => {
    assert.equal(parseLabelSelector(selector).matches(labels), matches);
  });

const refused: readonly (readonly [selector: string, message: string | RegExp])[] = [
  ["a=b=c", "found '=', expected: ',' or 'end of string'"],
  ["=a", "found '=', expected: !, identifier, or 'end of string'"],
  ["a,", "found '', expected: identifier after ','"],
  ["a in b", "unable to parse requirement: found 'b' expected: '('"],
  ["a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
  ["a in (b", "unable to parse requirement: found '', expected: ',' or ')'"],
  ["a>b", /for 'Gt', 'Lt' operators, the value must be an integer$/],
  ["-a=b", /^unable to parse requirement: <nil>: Invalid value: "-a": name part must consist/],
];
for (const [selector, message] of refused)
  test(`"${selector}" is rejected with Kubernetes' message`, () => {
    assert.throws(() => parseLabelSelector(selector), { message });
  });

test("a field selector compares for equality, with commas escaped", () => {
  const fields: Record<string, string> = { "metadata.name": "a,b", "status.phase": "Bound" };
  const selected = (text: string) => parseFieldSelector(text).matches((field) => fields[field] ?? "");
  assert.equal(selected("metadata.name=a\\,b"), true);
  assert.equal(selected("metadata.name=a\\,b,status.phase!=Bound"), false);
  assert.equal(selected("status.phase==Bound"), true);
  assert.throws(() => parseFieldSelector("a"), { message: "invalid selector: 'a'; can't understand 'a'" });
  assert.throws(() => parseFieldSelector("a=\\x"), { message: /invalid escape sequence: \\x$/ });
});
