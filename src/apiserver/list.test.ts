import assert from "node:assert/strict";
import { test } from "node:test";
import { startApiServer, type TestAnswer, type TestServer } from "../../test/api-server.ts";
import { isObject, type JsonObject } from "../base/json.ts";

const maps = "/api/v1/namespaces/default/configmaps";
async function withMaps(...names: readonly string[]): Promise<TestServer> {
  const server = startApiServer();
  for (const name of names) await server.ask("POST", maps, { metadata: { name, labels: { first: name.slice(0, 1) } } });
  return server;
}
const metadataOf = (object: JsonObject): JsonObject => (isObject(object.metadata) ? object.metadata : {});
const names = ({ body }: TestAnswer): readonly unknown[] =>
  (Array.isArray(body.items) ? body.items : []).map((item) => (isObject(item) ? metadataOf(item).name : undefined));

test("pages show one state of the collection, with any changes in between", async () => {
  const server = await withMaps("a", "b", "c", "d");
  const first = await server.ask("GET", `${maps}?limit=2`);
  assert.deepEqual(names(first), ["a", "b"]);
  assert.equal(metadataOf(first.body).remainingItemCount, 2);
  await server.ask("DELETE", `${maps}/c`);
  await server.ask("POST", maps, { metadata: { name: "bb" } });
  const second = await server.ask("GET", `${maps}?limit=2&continue=${String(metadataOf(first.body).continue)}`);
  assert.deepEqual(names(second), ["c", "d"]);
  assert.equal(metadataOf(second.body).continue, undefined);
  assert.equal(metadataOf(second.body).resourceVersion, metadataOf(first.body).resourceVersion);
});

test("a list at an exact version shows that version", async () => {
  const server = await withMaps("a", "b");
  const version = server.store.version();
  await server.ask("DELETE", `${maps}/a`);
  assert.deepEqual(names(await server.ask("GET", `${maps}?resourceVersion=${version}&resourceVersionMatch=Exact`)), [
    "a",
    "b",
  ]);
  assert.deepEqual(
    names(await server.ask("GET", `${maps}?resourceVersion=${version}&resourceVersionMatch=NotOlderThan`)),
    ["b"],
  );
  assert.deepEqual(names(await server.ask("GET", `${maps}?resourceVersion=0`)), ["b"]);
});

test("an old continue token gets 410", async () => {
  const server = startApiServer({ historyMax: 2 });
  for (const name of ["a", "b", "c"]) await server.ask("POST", maps, { metadata: { name } });
  const { body } = await server.ask("GET", `${maps}?limit=1`);
  for (const name of ["d", "e", "f", "g"]) await server.ask("POST", maps, { metadata: { name } });
  const gone = await server.ask("GET", `${maps}?limit=1&continue=${String(metadataOf(body).continue)}`);
  assert.equal(gone.status, 410);
  assert.match(String(gone.body.message), /or use the continue token in this response to retrieve the remainder/);
  // With the token in the answer the rest comes as it is now.
  const rest = await server.ask("GET", `${maps}?limit=3&continue=${String(metadataOf(gone.body).continue)}`);
  assert.deepEqual([rest.status, names(rest)], [200, ["b", "c", "d"]]);
  assert.equal(metadataOf(rest.body).resourceVersion, String(server.store.version()));
  const last = await server.ask("GET", `${maps}?continue=${String(metadataOf(rest.body).continue)}`);
  assert.deepEqual(names(last), ["e", "f", "g"]);
});

test("an old exact version gets 410, without a continue token", async () => {
  const server = startApiServer({ historyMax: 2 });
  for (const name of ["a", "b", "c", "d", "e", "f"]) await server.ask("POST", maps, { metadata: { name } });
  const { status, body } = await server.ask("GET", `${maps}?resourceVersion=2&resourceVersionMatch=Exact`);
  assert.deepEqual([status, body.message], [410, "The resourceVersion for the provided list is too old."]);
  assert.deepEqual(body.metadata, {});
});

test("an invalid continue token is rejected", async () => {
  const server = await withMaps("a", "b");
  const ask = async (token: unknown) => {
    const text = Buffer.from(JSON.stringify(token)).toString("base64url");
    return (await server.ask("GET", `${maps}?continue=${text}`)).status;
  };
  const made = { v: "meta.k8s.io/v1", rv: server.store.version(), start: "/default/a\u0000" };
  assert.equal(await ask(made), 200);
  for (const change of [{ v: "v2" }, { rv: 0 }, { rv: 1.5 }, { rv: "3" }, { start: "" }, { start: 5 }])
    assert.equal(await ask({ ...made, ...change }), 400);
  assert.equal(await ask({ ...made, rv: made.rv + 1 }), 504);
});

test("labels and fields select", async () => {
  const server = await withMaps("a1", "a2", "b1");
  assert.deepEqual(names(await server.ask("GET", `${maps}?labelSelector=first%3Da`)), ["a1", "a2"]);
  assert.deepEqual(names(await server.ask("GET", `${maps}?fieldSelector=metadata.name%3Da2`)), ["a2"]);
  assert.deepEqual(names(await server.ask("GET", "/api/v1/configmaps?fieldSelector=metadata.namespace%3Dother")), []);
});

test("items of built-in kinds do not repeat kind and version", async () => {
  const { body } = await (await withMaps("a")).ask("GET", maps);
  assert.deepEqual([body.kind, body.apiVersion], ["ConfigMapList", "v1"]);
  assert.deepEqual(Object.keys((body.items as JsonObject[])[0] ?? {}), ["metadata"]);
});

test("PartialObjectMetadata and Table are returned on request", async () => {
  const server = await withMaps("a");
  const as = (form: string) => ({ headers: { accept: `application/json;as=${form};v=v1;g=meta.k8s.io` } });
  const partial = await server.ask("GET", maps, undefined, as("PartialObjectMetadataList"));
  assert.equal(partial.body.kind, "PartialObjectMetadataList");
  assert.equal((partial.body.items as JsonObject[])[0]?.kind, "PartialObjectMetadata");
  const table = await server.ask("GET", maps, undefined, as("Table"));
  assert.equal(table.body.kind, "Table");
  const [row] = table.body.rows as JsonObject[];
  assert.deepEqual(isObject(row) && Array.isArray(row.cells) && row.cells[0], "a");
  assert.equal((await server.ask("GET", maps, undefined, as("PartialObjectMetadata"))).status, 406);
  const fallback = { headers: { accept: "application/vnd.kubernetes.protobuf, */*" } };
  assert.equal((await server.ask("GET", maps, undefined, fallback)).body.kind, "ConfigMapList");
  const protobufOnly = { headers: { accept: "application/vnd.kubernetes.protobuf" } };
  assert.equal((await server.ask("GET", maps, undefined, protobufOnly)).status, 406);
});
