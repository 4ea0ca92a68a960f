import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../base/json.ts";
import { messageOf } from "../../field-error.ts";
import { openApiErrors } from "./openapi.ts";
import { judgeRules } from "./rules.ts";

const properties: JsonObject = {
  name: { type: "string" },
  short: { type: "string", maxLength: 10 },
  words: { type: "array", items: { type: "string" } },
  few: { type: "array", maxItems: 10, items: { type: "string", maxLength: 10 } },
};

function judged(rules: readonly JsonObject[], more: JsonObject = {}): readonly string[] {
  const schema = {
    type: "object",
    properties: {
      spec: { type: "object", properties: { ...properties, ...more }, "x-kubernetes-validations": [...rules] },
    },
  };
  const { judge, total } = judgeRules(schema);
  return [...openApiErrors(schema, "schema", judge), ...total("schema")].map(messageOf);
}

const affordable: readonly string[] = [
  "self.name == 'a'",
  "self.short.matches('^[a-z]+$')",
  "self.few.all(w, self.few.exists_one(v, v == w))",
  "self.words.size() < 5",
];
for (const rule of affordable) test(`${rule} costs little enough`, () => assert.deepEqual(judged([{ rule }]), []));

const dear: readonly string[] = [
  "self.words.all(w, self.words.exists(v, v == w))",
  "self.words.all(w, w.matches('^[a-z]+$'))",
  "self.words.map(w, w + w).all(w, w.contains(self.name))",
];
for (const rule of dear)
  test(`${rule} may cost too much, and the remedy is named`, () => {
    const [first = ""] = judged([{ rule }]);
    assert.match(
      first,
      /^schema.properties\[spec\].x-kubernetes-validations\[0\].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x \(try simplifying the rule, or adding maxItems/,
    );
  });

test("rules that are affordable one by one may not be together", () => {
  const times = (length: number): readonly JsonObject[] =>
    Array.from({ length }, () => ({ rule: "self.name.matches('^[a-z]{1,20}[0-9]$')" }));
  assert.deepEqual(judged(times(40)), []);
  const many = judged(times(100));
  assert.equal(many.filter((message) => message.includes("contributed to")).length, 4);
  assert.match(
    many.at(-1) ?? "",
    /^schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget/,
  );
});

test("a message counts too", () => {
  const [first = ""] = judged([{ rule: "true", messageExpression: "self.words.map(w, w + w).join(self.name)" }]);
  assert.match(first, /messageExpression: Forbidden: estimated messageExpression cost exceeds budget/);
});

test("what stands in an unbounded list counts as often as there is room for it", () => {
  const inner = {
    type: "object",
    properties: {
      a: { type: "string", maxLength: 1000, "x-kubernetes-validations": [{ rule: "self.matches('^[a-z]+$')" }] },
    },
  };
  const bounded = judged([], { list: { type: "array", maxItems: 10, items: inner } });
  const unbounded = judged([], { list: { type: "array", items: inner } });
  assert.deepEqual([bounded.length, unbounded.length > 0], [0, true]);
});

test("a rule as long as it likes is judged, and one that is too deep is refused in words", () => {
  const nested = (levels: number): string => (levels === 0 ? "1" : `(${nested(levels - 1)}${"+1".repeat(200)})`);
  assert.deepEqual(judged([{ rule: `true${" && true".repeat(5_000)}` }]), []);
  for (const rule of [
    `1${"+1".repeat(5_000)} == 1`,
    `true${" ? true : true".repeat(5_000)}`,
    `self${".name".repeat(5_000)} == ''`,
    `${nested(200)} == 1`,
  ])
    assert.match(judged([{ rule }])[0] ?? "", /compilation failed: .*expression recursion limit exceeded: 250/s);
});
