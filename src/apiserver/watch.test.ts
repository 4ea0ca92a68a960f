import assert from "node:assert/strict";
import { test } from "node:test";
import { eventsOf, startApiServer, type TestServer } from "../../test/api-server.ts";
import { keyIn } from "../base/brand.ts";
import { isObject, type JsonObject, type JsonValue } from "../base/json.ts";

const maps = "/api/v1/namespaces/default/configmaps";
const create = (server: TestServer, name: string, labels: JsonObject = {}) =>
  server.ask("POST", maps, { metadata: { name, labels } });
const metadataOf = (value: JsonValue | undefined): JsonObject =>
  isObject(value) && isObject(value.metadata) ? value.metadata : {};
const seen = (events: readonly JsonObject[]): readonly string[] =>
  events.map(({ type, object }) => `${String(type)} ${String(metadataOf(object).name ?? "")}`.trim());

test("a watch from a version sends all events since that version, then new ones", async () => {
  const server = startApiServer();
  await create(server, "a");
  const version = server.store.version();
  await create(server, "b");
  const watch = await server.open(`${maps}?watch=true&resourceVersion=${version}`);
  await create(server, "c");
  await server.ask("DELETE", `${maps}/b`);
  assert.deepEqual(seen(await eventsOf(watch, 3)), ["ADDED b", "ADDED c", "DELETED b"]);
});

test("a watch without a version begins with the existing objects", async () => {
  const server = startApiServer();
  await create(server, "a");
  const watch = await server.open(`${maps}?watch=true`);
  await create(server, "b");
  assert.deepEqual(seen(await eventsOf(watch, 2)), ["ADDED a", "ADDED b"]);
});

test("a watch list ends the initial events with an annotated bookmark", async () => {
  const server = startApiServer();
  await create(server, "a");
  const query = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
  const events = await eventsOf(await server.open(`${maps}?${query}`), 2);
  assert.deepEqual(seen(events), ["ADDED a", "BOOKMARK"]);
  const bookmark = metadataOf(events[1]?.object);
  assert.deepEqual(bookmark.annotations, { "k8s.io/initial-events-end": "true" });
  assert.equal(bookmark.resourceVersion, String(server.store.version()));
});

test("with a selector an object is ADDED when it starts to match and DELETED when it stops", async () => {
  const server = startApiServer();
  await create(server, "a", { app: "x" });
  const watch = await server.open(`${maps}?watch=true&labelSelector=app%3Dx&resourceVersion=${server.store.version()}`);
  const label = (app: string) => server.ask("PATCH", `${maps}/a`, { metadata: { labels: { app } } }, { type: "merge" });
  await label("y");
  await label("x");
  await server.ask("PATCH", `${maps}/a`, { data: { k: "v" } }, { type: "merge" });
  const events = await eventsOf(watch, 3);
  assert.deepEqual(seen(events), ["DELETED a", "ADDED a", "MODIFIED a"]);
  assert.deepEqual(metadataOf(events[0]?.object).labels, { app: "x" }, "it is shown as it was when it still fitted");
});

test("a version that is no longer remembered ends the watch with 410", async () => {
  const server = startApiServer({ historyMax: 2 });
  const version = server.store.version();
  for (const name of ["a", "b", "c", "d", "e"]) await create(server, name);
  const [event] = await eventsOf(await server.open(`${maps}?watch=true&resourceVersion=${version}`), 9);
  assert.equal(event?.type, "ERROR");
  assert.deepEqual(isObject(event?.object) && [event.object.code, event.object.reason], [410, "Expired"]);
});

test("bookmarks are sent every minute and shortly before timeoutSeconds", async () => {
  const server = startApiServer();
  await create(server, "a");
  const version = server.store.version();
  const watch = await server.open(
    `${maps}?watch=true&allowWatchBookmarks=true&resourceVersion=${version}&timeoutSeconds=100`,
  );
  const all = eventsOf(watch, 99);
  await server.world.advance(101_000);
  assert.deepEqual(seen(await all), ["BOOKMARK", "BOOKMARK"]);
  assert.equal(server.watches(), 0);
});

test("the watch of a disconnected client is removed", async () => {
  const server = startApiServer();
  const gone = new AbortController();
  await server.open(`${maps}?watch=true`, gone.signal);
  assert.equal(server.watches(), 1);
  gone.abort();
  assert.equal(server.watches(), 0);
  assert.equal(server.world.sleepers(), 0);
});

test("a table watch sends its columns once", async () => {
  const server = startApiServer();
  await create(server, "a");
  await create(server, "b");
  const response = await server.handler({
    method: "GET",
    path: `${maps}?watch=true`,
    headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" },
  });
  const events = await eventsOf(response, 2);
  const columns = events.map(({ object }) => (isObject(object) ? object.columnDefinitions : undefined));
  assert.equal(Array.isArray(columns[0]), true);
  assert.equal(columns[1], null);
});

test("a watch that fails to encode an event ends, and other watches continue", async () => {
  const server = startApiServer();
  const [version, collection] = [server.store.version(), "configmaps"];
  const [all, labelled] = [
    await server.open(`${maps}?watch=true&resourceVersion=${version}`),
    await server.open(`${maps}?watch=true&resourceVersion=${version}&labelSelector=app`),
  ];
  const endless: JsonObject = {};
  endless.itself = endless;
  const metadata = { name: "a", namespace: "default" };
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata, data: endless };
  server.store.commit([{ kind: "put", collection, key: keyIn("default", "a"), object, expect: "absent" }]);
  await create(server, "b", { app: "x" });
  assert.deepEqual(seen(await eventsOf(all, 1)), []);
  assert.deepEqual(seen(await eventsOf(labelled, 1)), ["ADDED b"]);
});

test("timeoutSeconds=0 means the default timeout", async () => {
  const server = startApiServer();
  await server.open("/api/v1/configmaps?watch=true&timeoutSeconds=0");
  await server.world.advance(60_000);
  assert.equal(server.watches(), 1);
});
