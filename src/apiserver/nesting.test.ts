import assert from "node:assert/strict";
import { test } from "node:test";
import { eventsOf, startApiServer, type TestServer } from "../../test/api-server.ts";
import type { JsonValue } from "../base/json.ts";
import { nestingMax } from "./nesting.ts";

const things = "/apis/example.com/v1/things";
const anything = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
const names = { plural: "things", singular: "thing", kind: "Thing", listKind: "ThingList" };
const definition = {
  metadata: { name: "things.example.com" },
  spec: {
    group: "example.com",
    scope: "Cluster",
    names,
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: anything } }],
  },
};

async function started(): Promise<TestServer> {
  const server = startApiServer();
  await server.ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
  return server;
}

/** `depth` levels, the innermost of them empty. */
const nested = (depth: number): string => `${"[".repeat(depth)}${"]".repeat(depth)}`;
/** The object itself is the first level. */
const thing = (name: string, deep: string): string =>
  `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"${name}"},"deep":${deep}}`;
const deepest = thing("a", nested(nestingMax - 1));

test("an object of maximum depth can be written in every way, read, listed and watched", async () => {
  const server = await started();
  const watch = await server.open(`${things}?watch=true&resourceVersion=${server.store.version()}`);
  const statuses = [
    await server.ask("POST", things, deepest),
    await server.ask("PATCH", `${things}/a`, { b: 1 }, { type: "merge" }),
    await server.ask("PATCH", `${things}/a`, [{ op: "add", path: "/c", value: 1 }], { type: "json" }),
    await server.ask("PATCH", `${things}/a?fieldManager=me&force=true`, deepest, { type: "apply" }),
    await server.ask("GET", `${things}/a`),
    await server.ask("GET", things),
    await server.ask("GET", things, undefined, { headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" } }),
  ].map(({ status }) => status);
  assert.deepEqual(statuses, [201, 200, 200, 200, 200, 200, 200]);
  const events: readonly Readonly<Record<string, JsonValue | undefined>>[] = await eventsOf(watch, 4);
  assert.deepEqual(
    events.map(({ type }) => type),
    ["ADDED", "MODIFIED", "MODIFIED", "MODIFIED"],
  );
});

const tooDeep = nested(nestingMax);
const half = (core: string): string => `${"[".repeat(nestingMax / 2)}${core}${"]".repeat(nestingMax / 2)}`;
const aliased = `apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: b}\nhalf: &a ${half("")}\ndeep: ${half("*a")}\n`;
const intoItself = [
  { op: "copy", from: "/deep", path: "/copy" },
  { op: "move", from: "/copy", path: `/deep${"/0".repeat(nestingMax - 2)}` },
];
const refused: readonly (readonly [what: string, method: string, path: string, body: unknown, type: string])[] = [
  ["JSON", "POST", things, thing("b", tooDeep), "application/json"],
  ["JSON that calls itself YAML", "POST", things, thing("b", tooDeep), "application/yaml"],
  ["YAML with an alias", "POST", things, aliased, "application/yaml"],
  ["a merge patch", "PATCH", `${things}/a`, `{"deep":${tooDeep}}`, "merge"],
  ["a JSON patch that puts parts of the object below others", "PATCH", `${things}/a`, intoItself, "json"],
];
for (const [what, method, path, body, type] of refused)
  test(`${what} that is nested deeper is rejected, and nothing is changed`, async () => {
    const server = await started();
    await server.ask("POST", things, deepest);
    const version = server.store.version();
    const { status, text } = await server.ask(method, path, body, { type });
    assert.deepEqual([status, /exceeded max depth/.test(text)], [400, true], text.slice(0, 300));
    assert.equal(server.store.version(), version);
  });
