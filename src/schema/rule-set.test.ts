import assert from "node:assert/strict";
import { test } from "node:test";
import { quickly } from "../../test/quickly.ts";
import type { JsonObject } from "../base/json.ts";
import { correlate } from "./correlate.ts";
import { messageOf } from "./field-error.ts";
import { readSchema } from "./node.ts";
import { createRuleSet } from "./rule-set.ts";

const schema = readSchema({
  type: "object",
  properties: {
    spec: {
      type: "object",
      "x-kubernetes-validations": [
        { rule: "has(self.a) != has(self.b)", message: "exactly one of a and b must be set" },
        { rule: "self.limit <= 10", messageExpression: "'limit ' + string(self.limit) + ' is above 10'" },
      ],
      properties: {
        a: { type: "string", "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "a is immutable" }] },
        b: { type: "string" },
        limit: { type: "integer", default: 1 },
        mode: {
          type: "string",
          "x-kubernetes-validations": [
            { rule: "self != 'bad'" },
            {
              rule: "!oldSelf.hasValue() || self.size() >= oldSelf.value().size()",
              optionalOldSelf: true,
              message: "must not shrink",
            },
          ],
        },
        entries: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["k"],
          items: {
            type: "object",
            properties: {
              k: { type: "string" },
              v: {
                type: "integer",
                "x-kubernetes-validations": [
                  { rule: "self >= oldSelf", message: "only grows", reason: "FieldValueForbidden" },
                ],
              },
            },
          },
        },
        nested: {
          type: "object",
          properties: { x: { type: "object", properties: { y: { type: "integer" } } } },
          "x-kubernetes-validations": [
            { rule: "self.x.y > 0", fieldPath: ".x.y", reason: "FieldValueRequired", message: "set y" },
          ],
        },
      },
    },
  },
});
const rules = createRuleSet(schema);

const warned: string[] = [];
const check = (spec: JsonObject, old?: JsonObject): readonly string[] =>
  told({ a: "x", limit: 1, ...spec }, old === undefined ? undefined : { a: "x", limit: 1, ...old });

function told(spec: JsonObject, old: JsonObject | undefined): readonly string[] {
  const [now, before] = [{ spec }, old === undefined ? undefined : { spec: old }];
  const relation = before === undefined ? undefined : correlate(schema, now, before);
  return (rules?.check(now, before, relation, (text) => warned.push(text)) ?? []).map(messageOf);
}

const rows: readonly { given: string; spec: JsonObject; old?: JsonObject; says: readonly string[] }[] = [
  { given: "everything in order", spec: {}, says: [] },
  {
    given: "a rule of an object broken",
    spec: { b: "y" },
    says: ["spec: Invalid value: exactly one of a and b must be set"],
  },
  { given: "a message that is computed", spec: { limit: 11 }, says: ["spec: Invalid value: limit 11 is above 10"] },
  {
    given: "a scalar's rule without a message",
    spec: { mode: "bad" },
    says: [`spec.mode: Invalid value: "bad": failed rule: self != 'bad'`],
  },
  { given: "a transition rule on create", spec: { a: "new" }, says: [] },
  {
    given: "a transition rule on update",
    spec: { a: "new" },
    old: {},
    says: ['spec.a: Invalid value: "new": a is immutable'],
  },
  {
    given: "an optional old value that is there",
    spec: { mode: "x" },
    old: { mode: "xx" },
    says: ['spec.mode: Invalid value: "x": must not shrink'],
  },
  { given: "an optional old value that is not there", spec: { mode: "x" }, says: [] },
  {
    given: "an entry that is found by its key",
    spec: {
      entries: [
        { k: "new", v: 0 },
        { k: "a", v: 1 },
      ],
    },
    old: { entries: [{ k: "a", v: 2 }] },
    says: ["spec.entries[1].v: Forbidden: only grows"],
  },
  { given: "a path and a reason", spec: { nested: { x: { y: 0 } } }, says: ["spec.nested.x.y: Required value: set y"] },
  {
    given: "a value that is not there",
    spec: { nested: {} },
    says: ['spec.nested: Invalid value: "object": no such key: x evaluating rule: set y'],
  },
  {
    given: "a broken rule on what did not change",
    spec: { mode: "bad", a: "x", b: "y" },
    old: { mode: "bad", b: "y" },
    says: [],
  },
  {
    given: "a broken rule next to a change",
    spec: { mode: "bad", limit: 2, b: "y" },
    old: { mode: "bad", b: "y" },
    says: ["spec: Invalid value: exactly one of a and b must be set"],
  },
];

for (const { given, spec, old, says } of rows)
  test(`given ${given}, the rules report ${says.join(" and ") || "nothing"}`, () =>
    assert.deepEqual(check(spec, old), says));

test("a tolerated failure is a warning", () => {
  warned.length = 0;
  assert.deepEqual(check({ mode: "bad", limit: 2 }, { mode: "bad" }), []);
  assert.deepEqual(warned, [`spec.mode: Invalid value: "bad": failed rule: self != 'bad'`]);
});

test("a stored violation is a warning each time, not only the first", () => {
  const spec = { a: "x", limit: 1, mode: "bad" };
  for (const _ of [1, 2]) {
    warned.length = 0;
    assert.deepEqual(told(spec, spec), []);
    assert.deepEqual(warned, [`spec.mode: Invalid value: "bad": failed rule: self != 'bad'`]);
  }
});

test("an unchanged invalid value is validated again once it changes", () => {
  const spec = { a: "x", limit: 1 };
  for (const _ of [1, 2]) assert.deepEqual(told(spec, spec), []);
  assert.deepEqual(told(spec, { a: "y", limit: 1 }), ['spec.a: Invalid value: "x": a is immutable']);
});

test("a transition rule that requires a change fails each time nothing changes", () => {
  const moving = readSchema({
    type: "object",
    properties: { spec: { type: "object", "x-kubernetes-validations": [{ rule: "self != oldSelf" }] } },
  });
  const rules = createRuleSet(moving);
  const object = { spec: {} };
  for (const _ of [1, 2])
    assert.equal(rules?.check(object, object, correlate(moving, object, object), () => undefined).length, 1);
});

test("a schema without rules evaluates nothing", () =>
  assert.equal(createRuleSet(readSchema({ type: "object" })), undefined));

test("thousands of list entries are compared with their old entries quickly", () => {
  const entries = (by: number): JsonObject[] => Array.from({ length: 5_000 }, (_, k) => ({ k: `k${k}`, v: k + by }));
  const of = (by: number): JsonObject => ({ spec: { a: "x", limit: 1, entries: entries(by) } });
  const judged = (now: JsonObject, old: JsonObject) =>
    createRuleSet(schema)?.check(now, old, correlate(schema, now, old), () => undefined) ?? [];
  assert.equal(quickly(() => judged(of(1), of(0))).length, 0);
  assert.equal(quickly(() => judged(of(0), of(1))).length, 5_000);
});
