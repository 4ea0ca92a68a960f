import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../base/json.ts";
import { messageOf } from "../../../schema/field-error.ts";
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
  return openApiErrors(schema, "schema", judgeRules(schema)).map(messageOf);
}

test("a long rule is accepted, and a too deeply nested one is rejected with a message", () => {
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
