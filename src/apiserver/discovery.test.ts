import assert from "node:assert/strict";
import { test } from "node:test";
import { startApiServer } from "../../test/api-server.ts";
import { snapshotCrds } from "../api/crds/index.ts";
import { isObject, type JsonObject, type JsonValue } from "../base/json.ts";
import { compareVersions } from "./discovery.ts";

const start = () => startApiServer({ definitions: snapshotCrds(2, { serveV1beta1: true }) });
const aggregated = (version: string) => ({
  headers: { accept: `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList,application/json` },
});
const listIn = (value: JsonValue | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

test("aggregated discovery returns everything that is served", async () => {
  const server = start();
  for (const version of ["v2", "v2beta1"]) {
    const { headers, body } = await server.ask("GET", "/apis", undefined, aggregated(version));
    assert.equal(
      headers["content-type"],
      `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`,
    );
    assert.equal(body.apiVersion, `apidiscovery.k8s.io/${version}`);
    const groups = listIn(body.items).map(({ metadata }) => (isObject(metadata) ? metadata.name : undefined));
    assert.ok(groups.includes("snapshot.storage.k8s.io") && groups.includes("apps"));
  }
  const core = await server.ask("GET", "/api", undefined, aggregated("v2"));
  const [group] = listIn(core.body.items);
  const [version] = listIn(group?.versions);
  const claims = listIn(version?.resources).find(({ resource }) => resource === "persistentvolumeclaims");
  assert.deepEqual(claims?.shortNames, ["pvc"]);
  assert.deepEqual(claims?.scope, "Namespaced");
  assert.deepEqual(
    listIn(claims?.subresources).map(({ subresource }) => subresource),
    ["status"],
  );
});

test("discovery with a matching ETag gets 304 until something changes", async () => {
  const server = start();
  const { headers } = await server.ask("GET", "/apis", undefined, aggregated("v2"));
  const again = { headers: { ...aggregated("v2").headers, "if-none-match": headers.etag ?? "" } };
  assert.equal((await server.ask("GET", "/apis", undefined, again)).status, 304);
  const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  await server.ask("DELETE", `${definitions}/volumesnapshots.snapshot.storage.k8s.io`);
  await server.ask(
    "PATCH",
    `${definitions}/volumesnapshots.snapshot.storage.k8s.io/status`,
    { metadata: { finalizers: null } },
    { type: "merge" },
  );
  assert.equal((await server.ask("GET", "/apis", undefined, again)).status, 200);
});

test("unaggregated discovery is served, too", async () => {
  const server = start();
  assert.deepEqual((await server.ask("GET", "/api")).body.versions, ["v1"]);
  const { body } = await server.ask("GET", "/apis/snapshot.storage.k8s.io");
  assert.deepEqual(
    listIn(body.versions).map(({ version }) => version),
    ["v1", "v1beta1"],
  );
  const v1 = await server.ask("GET", "/apis/snapshot.storage.k8s.io/v1");
  const names = listIn(v1.body.resources).map(({ name }) => name);
  assert.ok(names.includes("volumesnapshots") && names.includes("volumesnapshots/status"));
  assert.equal((await server.ask("GET", "/apis/nothing.example.com/v1")).status, 404);
});

test("version and health answer", async () => {
  const server = start();
  assert.equal((await server.ask("GET", "/version")).body.gitVersion, "v1.36.4");
  assert.equal((await server.ask("GET", "/readyz")).text, "ok");
  assert.match((await server.ask("GET", "/livez?verbose")).text, /^\[\+\]ping ok\n[\s\S]*livez check passed\n$/);
});

test("stable versions come before betas, and newer before older", () => {
  const versions = ["v1beta1", "foo", "v1", "v2alpha1", "v10", "v1beta2", "bar"];
  assert.deepEqual(versions.sort(compareVersions), ["v10", "v1", "v1beta2", "v1beta1", "v2alpha1", "bar", "foo"]);
});
