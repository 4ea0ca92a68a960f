import assert from "node:assert/strict";
import { test } from "node:test";
import { startApiServer, type TestServer } from "../../test/api-server.ts";
import { numberOutOfRange } from "./number-range.ts";

const cases: readonly (readonly [text: string, found: string | undefined])[] = [
  ['{"a":1e308}', undefined],
  ['{"a":1e309}', "1e309"],
  ['{"a":[1,-1E+400]}', "-1E+400"],
  ['{"a":1e-400}', undefined],
  [`{"a":${"9".repeat(310)}}`, "9".repeat(310)],
  ['{"a":"1e400","b":"\\"1e400"}', undefined],
  ['{"1e400":1e400}', "1e400"],
];
for (const [text, found] of cases)
  test(`${found === undefined ? "finds no number" : "finds a number"} out of range in ${text.slice(0, 40)}`, () =>
    assert.equal(numberOutOfRange(text), found));

const things = "/apis/example.com/v1/things";
const thing = (more: string): string =>
  `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a"}${more === "" ? "" : `,${more}`}}`;
const maps = "/api/v1/namespaces/default/configmaps";

async function started(): Promise<TestServer> {
  const server = startApiServer();
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  await server.ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
    metadata: { name: "things.example.com" },
    spec: {
      group: "example.com",
      scope: "Cluster",
      names: { plural: "things", singular: "thing", kind: "Thing", listKind: "ThingList" },
      versions: [{ name: "v1", served: true, storage: true, schema }],
    },
  });
  assert.equal((await server.ask("POST", things, thing("").replace('"a"', '"b"'))).status, 201);
  return server;
}

const number = "json: cannot unmarshal number 1e400 into Go";
const refused: readonly (readonly [method: string, path: string, body: string, type: string, says: string])[] = [
  ["POST", things, thing('"n":1e400'), "application/json", `cannot be handled as a Thing: ${number} value`],
  ["PATCH", `${things}/b`, '{"n":1e400}', "merge", `error decoding patch: ${number} value`],
  [
    "PATCH",
    `${things}/b`,
    '[{"op":"add","path":"/n","value":1e400}]',
    "json",
    `error decoding patch: ${number} struct field jsonPatchOp.value`,
  ],
  ["PATCH", `${maps}/b`, '{"metadata":{"generation":1e400}}', "strategic", `"${number} value`],
  ["POST", maps, '{"metadata":{"name":"a","generation":1e400}}', "application/json", "json: cannot unmarshal number"],
  ["POST", things, thing("").replace("}}", "}, n: .inf}"), "application/yaml", "json: unsupported value: +Inf"],
];
for (const [method, path, body, type, says] of refused)
  test(`refuses ${body} as ${type}`, async () => {
    const server = await started();
    await server.ask("POST", maps, { metadata: { name: "b" } });
    const version = server.store.version();
    const { status, text } = await server.ask(method, path, body, { type });
    assert.equal(status, 400, text);
    assert.ok(text.includes(says), text);
    assert.equal(server.store.version(), version);
  });

test("a YAML number that no float64 can represent stays text, as in Go's parser", async () => {
  const server = await started();
  for (const [path, type] of [
    [things, "application/yaml"],
    [`${things}/a?fieldManager=me`, "apply"],
  ] as const) {
    const { body, text } = await server.ask(type === "apply" ? "PATCH" : "POST", path, thing('"n":1e400'), { type });
    assert.equal(body.n, "1e400", text);
  }
});
