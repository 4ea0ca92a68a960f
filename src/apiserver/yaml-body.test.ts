import assert from "node:assert/strict";
import { test } from "node:test";
import { startApiServer } from "../../test/api-server.ts";
import { readYaml } from "./yaml-body.ts";

const maps = "/api/v1/namespaces/default/configmaps";
const yaml = { type: "application/yaml" };

const cases: readonly (readonly [text: string, repeated: readonly string[]])[] = [
  ["a: 1\nb: {a: 2}\n", []],
  ["a: 1\na: 2\n", ['line 2: key "a" already set in map']],
  ["a: 1\na:\n  b: 2\n", ['line 3: key "a" already set in map']],
  ["a: 1\na: {b: 1, b: 2}\n", ['line 2: key "b" already set in map', 'line 2: key "a" already set in map']],
  [
    "- {1: a, 1: b}\n- {true: a, true: b}\n",
    ["line 1: key 1 already set in map", "line 2: key true already set in map"],
  ],
  ['1: a\n"1": b\n', []],
  ["", []],
];
for (const [text, repeated] of cases)
  test(`names the repeated keys of ${JSON.stringify(text)}`, () =>
    assert.deepEqual(readYaml(text).repeatedKeys(), repeated));

test("keeps integers beyond 2^53 of a YAML body digit for digit", () =>
  assert.deepEqual(readYaml("a: 1700000000123456789\nb: 7\n").value, { a: 1_700_000_000_123_456_789n, b: 7 }));

test("repeated keys of a YAML body follow fieldValidation", async () => {
  const server = startApiServer();
  const body = (name: string): string => `metadata:\n  name: ${name}\ndata:\n  a: one\n  a: two\n`;
  const complaint = 'line 5: key "a" already set in map';
  const warned = await server.ask("POST", maps, body("warned"), yaml);
  assert.deepEqual([warned.status, warned.headers.warning], [201, `299 - ${JSON.stringify(complaint)}`]);
  assert.deepEqual(warned.body.data, { a: "two" });
  const ignored = await server.ask("POST", `${maps}?fieldValidation=Ignore`, body("ignored"), yaml);
  assert.deepEqual([ignored.status, ignored.headers.warning], [201, undefined]);
  const strict = await server.ask("POST", `${maps}?fieldValidation=Strict`, body("strict"), yaml);
  assert.equal(strict.status, 400);
  assert.match(strict.text, /strict decoding error: yaml: unmarshal errors:\\n {2}line 5: key/);
});

test("names repeated keys of an applied body", async () => {
  const server = startApiServer();
  const body = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a":"1","a":"2"}}';
  const path = (validation: string): string => `${maps}/x?fieldManager=me&fieldValidation=${validation}`;
  const strict = await server.ask("PATCH", path("Strict"), body, { type: "apply" });
  assert.equal(strict.status, 400);
  assert.match(strict.text, /error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:/);
  const warned = await server.ask("PATCH", path("Warn"), body, { type: "apply" });
  assert.equal(warned.headers.warning, `299 - ${JSON.stringify('line 1: key "a" already set in map')}`);
});

test("reads sixteen times as many keys with less than 64 times the work", () => {
  const keys = (count: number): string => Array.from({ length: count }, (_, index) => `key${index}: v\n`).join("");
  // Processor time, because a busy machine does not change it. Comparing each key with every other would take 256 times as much.
  const leastWork = (text: string): number =>
    Math.min(
      ...[1, 2, 3].map(() => {
        const before = process.cpuUsage();
        readYaml(text).repeatedKeys();
        const { user, system } = process.cpuUsage(before);
        return user + system;
      }),
    );
  const [few, many] = [keys(1_000), keys(16_000)];
  leastWork(few);
  const growth = leastWork(many) / leastWork(few);
  assert.ok(growth < 64, `16,000 keys took ${growth.toFixed(1)} times as much work as 1,000`);
});
