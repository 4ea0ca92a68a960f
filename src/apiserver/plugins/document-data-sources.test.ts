import assert from "node:assert/strict";
import { test } from "node:test";
import { claimSourceTable, configMapSource, customSource, snapshotSource } from "../../../test/claim-source-table.ts";
import { createVirtualWorld } from "../../../test/virtual-world.ts";
import type { JsonObject } from "../../base/json.ts";
import { createApiServer } from "../index.ts";
import { type ClaimRules, claimRulesPlugins } from "./claim-rules.ts";

const claims = "/api/v1/namespaces/default/persistentvolumeclaims";

function setUp(anyVolumeDataSource: boolean, rules: ClaimRules = "documents") {
  const featureGates = { AnyVolumeDataSource: anyVolumeDataSource };
  const { handler } = createApiServer({
    world: createVirtualWorld(),
    plugins: [claimRulesPlugins[rules]],
    featureGates,
  });
  const send = async (method: string, path: string, object?: JsonObject) => {
    const { status, body } = await handler({
      method,
      path,
      headers: { "content-type": "application/json" },
      ...(object === undefined ? {} : { body: JSON.stringify(object) }),
    });
    return { status, object: JSON.parse(String(body)) };
  };
  return send;
}

const aClaim = (sources: JsonObject): JsonObject => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name: "new" },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Mi" } }, ...sources },
});

for (const [rules, gate] of [
  ["documents", "on"],
  ["documents", "off"],
  ["strict", "on"],
  ["strict", "off"],
] as const)
  for (const { given, sources, [gate]: refused } of claimSourceTable)
    test(`the embedded server by rules ${rules}, with AnyVolumeDataSource ${gate}: ${given} is ${refused ?? "allowed"}`, async () => {
      const send = setUp(gate === "on", rules);
      for (const query of ["?dryRun=All", ""]) {
        const { status, object } = await send("POST", `${claims}${query}`, aClaim(sources));
        assert.equal(status, refused === undefined ? 201 : 422, JSON.stringify(object));
        const source = sources.dataSource ?? sources.dataSourceRef ?? undefined;
        if (refused !== undefined) assert.match(object.message, new RegExp(`\\[${refused}\\]$`));
        else assert.deepEqual([object.spec.dataSource, object.spec.dataSourceRef], [source, source]);
      }
    });

test("a rejection names the field once, the given value and the remedy", async () => {
  const { object } = await setUp(true)("POST", claims, aClaim({ dataSource: configMapSource }));
  assert.match(
    object.message,
    /spec\.dataSource: Invalid value: .*: names a "ConfigMap" of the core group, .*or remove the source for an empty volume \[SNAP-131\]$/,
  );
  assert.equal(object.message.match(/SNAP-/g).length, 1);
});

test("without --claim-rules=documents the server behaves like Kubernetes, for any gate", async () => {
  const { handler } = createApiServer({ world: createVirtualWorld(), featureGates: { AnyVolumeDataSource: false } });
  const body = JSON.stringify(aClaim({ dataSource: configMapSource }));
  const headers = { "content-type": "application/json" };
  const answer = await handler({ method: "POST", path: claims, headers, body });
  assert.equal(answer.status, 201);
  assert.equal(JSON.parse(String(answer.body)).spec.dataSource, undefined);
});

test("other fields of a claim with a source can change, and its source cannot become invalid", async () => {
  const send = setUp(true);
  const { object } = await send("POST", claims, aClaim({ dataSource: customSource }));
  const labelled = { ...object, metadata: { ...object.metadata, labels: { a: "b" } } };
  const changed = await send("PUT", `${claims}/new`, labelled);
  assert.equal(changed.status, 200, JSON.stringify(changed.object));
  const spec = { ...object.spec, dataSource: configMapSource, dataSourceRef: snapshotSource };
  const refused = await send("PUT", `${claims}/new`, { ...changed.object, spec });
  assert.equal(refused.status, 422);
  assert.match(refused.object.message, /\[SNAP-131\]/);
});
