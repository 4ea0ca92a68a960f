/** The two fields that the document about other namespaces proposes for claims, case by case. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { configMapSource, snapshotSource } from "../../../test/claim-source-table.ts";
import { createVirtualWorld } from "../../../test/virtual-world.ts";
import type { JsonObject } from "../../base/json.ts";
import { createApiServer } from "../index.ts";
import { type ClaimRules, claimRulesPlugins } from "./claim-rules.ts";

const path = "/api/v1/namespaces/default/persistentvolumeclaims";
const elsewhere = { ...snapshotSource, namespace: "prod" };
const other = { ...snapshotSource, name: "other" };

async function create(rules: ClaimRules, sources: JsonObject, gate = true) {
  const { handler } = createApiServer({
    world: createVirtualWorld(),
    plugins: [claimRulesPlugins[rules]],
    featureGates: { AnyVolumeDataSource: true, CrossNamespaceVolumeDataSource: gate },
  });
  const send = async (method: string, at: string, object: JsonObject) => {
    const headers = { "content-type": "application/json" };
    const { status, body } = await handler({ method, path: at, headers, body: JSON.stringify(object) });
    return { status, object: JSON.parse(String(body)) };
  };
  const created = await send("POST", `${path}?fieldValidation=Strict`, {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: "new" },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Mi" } }, ...sources },
  });
  return { ...created, send };
}

const names = ["dataSource", "dataSourceRef", "dataSourceRef2", "crossNamespaceDataSourceRef"] as const;
const sourcesIn = (spec: JsonObject): JsonObject =>
  Object.fromEntries(names.flatMap((name) => (spec[name] === undefined ? [] : [[name, spec[name]]]))) as JsonObject;
const allThree = { dataSource: snapshotSource, dataSourceRef: snapshotSource, dataSourceRef2: snapshotSource };

const second: readonly (readonly [given: string, sources: JsonObject, expected: JsonObject | RegExp])[] = [
  ["neither field", {}, {}],
  ["dataSourceRef alone", { dataSourceRef: snapshotSource }, allThree],
  ["both, the same", { dataSourceRef: snapshotSource, dataSourceRef2: snapshotSource }, allThree],
  [
    "both, different",
    { dataSourceRef: snapshotSource, dataSourceRef2: other },
    /dataSourceRef2.*must match dataSourceRef/,
  ],
  [
    "both, one with a namespace",
    { dataSourceRef: snapshotSource, dataSourceRef2: elsewhere },
    /must match dataSourceRef/,
  ],
  ["dataSourceRef2 alone", { dataSourceRef2: snapshotSource }, allThree],
  ["dataSourceRef2 alone, with a namespace", { dataSourceRef2: elsewhere }, { dataSourceRef2: elsewhere }],
  ["dataSource alone", { dataSource: snapshotSource }, allThree],
  [
    "dataSource, and dataSourceRef2 with a namespace",
    { dataSource: snapshotSource, dataSourceRef2: elsewhere },
    /must match dataSourceRef/,
  ],
  ["dataSourceRef2 of a core kind", { dataSourceRef2: configMapSource }, /spec\.dataSourceRef2.*\[SNAP-131\]/],
  [
    "a version in the group of dataSourceRef2, as the document writes it",
    { dataSourceRef2: { ...elsewhere, apiGroup: "snapshot.storage.k8s.io/v1" } },
    /spec\.dataSourceRef2\.apiGroup.*write "snapshot\.storage\.k8s\.io" \[SNAP-135\]/,
  ],
  [
    "an impossible namespace",
    { dataSourceRef2: { ...elsewhere, namespace: "No_Where" } },
    /spec\.dataSourceRef2\.namespace/,
  ],
  ["a field that references do not have", { dataSourceRef2: { ...elsewhere, uid: "x" } }, /unknown field/],
  ["the field of the other proposal", { crossNamespaceDataSourceRef: elsewhere }, /unknown field/],
];
for (const [given, sources, expected] of second)
  test(`dataSourceRef2: ${given} ${expected instanceof RegExp ? "is refused" : `becomes ${Object.keys(expected).join(", ") || "nothing"}`}`, async () => {
    const { status, object } = await create("documents", sources);
    if (expected instanceof RegExp) {
      assert.ok(status >= 400, JSON.stringify(object));
      assert.match(object.message, expected);
    } else assert.deepEqual([status, sourcesIn(object.spec)], [201, expected]);
  });

const exclusive: readonly (readonly [given: string, sources: JsonObject, expected: JsonObject | RegExp])[] = [
  ["no source", {}, {}],
  [
    "a source of another namespace",
    { crossNamespaceDataSourceRef: elsewhere },
    { crossNamespaceDataSourceRef: elsewhere },
  ],
  [
    "dataSource and dataSourceRef, which Kubernetes itself sets both",
    { dataSource: snapshotSource, dataSourceRef: snapshotSource },
    { dataSource: snapshotSource, dataSourceRef: snapshotSource },
  ],
  [
    "dataSourceRef beside it",
    { dataSourceRef: snapshotSource, crossNamespaceDataSourceRef: elsewhere },
    /may not be specified when dataSource or dataSourceRef is specified/,
  ],
  [
    "dataSource beside it",
    { dataSource: snapshotSource, crossNamespaceDataSourceRef: elsewhere },
    /may not be specified when dataSource or dataSourceRef is specified/,
  ],
  ["a core kind", { crossNamespaceDataSourceRef: configMapSource }, /\[SNAP-131\]/],
];
for (const [given, sources, expected] of exclusive)
  test(`crossNamespaceDataSourceRef: ${given} ${expected instanceof RegExp ? "is refused" : "is stored"}`, async () => {
    const { status, object } = await create("documents-exclusive", sources);
    if (expected instanceof RegExp) assert.match(object.message, expected);
    else assert.deepEqual([status, sourcesIn(object.spec)], [201, expected]);
  });

for (const [rules, field] of [
  ["documents", "dataSourceRef2"],
  ["documents-exclusive", "crossNamespaceDataSourceRef"],
] as const) {
  test(`with the gate off, a namespace in ${field} is refused`, async () => {
    const { status, object } = await create(rules, { [field]: elsewhere }, false);
    assert.equal(status, 422);
    assert.match(object.message, /CrossNamespaceVolumeDataSource is off.*\[SNAP-134\]/);
  });

  test(`${field} is immutable, and other fields of its claim are not`, async () => {
    const { object, send } = await create(rules, { [field]: elsewhere });
    const labelled = await send("PUT", `${path}/new`, {
      ...object,
      metadata: { ...object.metadata, labels: { a: "b" } },
    });
    assert.equal(labelled.status, 200, JSON.stringify(labelled.object));
    const spec = { ...labelled.object.spec, [field]: { ...elsewhere, name: "other" } };
    const changed = await send("PUT", `${path}/new`, { ...labelled.object, spec });
    assert.equal(changed.status, 422);
    assert.match(changed.object.message, new RegExp(`changed: ${field}`));
  });
}

for (const rules of ["kubernetes", "strict"] as const)
  test(`rules ${rules} have neither field, and write none`, async () => {
    for (const field of ["dataSourceRef2", "crossNamespaceDataSourceRef"]) {
      const { status, object } = await create(rules, { [field]: elsewhere });
      assert.equal(status, 400);
      assert.match(object.message, /unknown field/);
    }
    const both = { dataSource: snapshotSource, dataSourceRef: snapshotSource };
    for (const [sources, expected] of [
      [{ dataSource: snapshotSource }, both],
      [{ dataSourceRef: snapshotSource }, both],
      [{ dataSourceRef: elsewhere }, { dataSourceRef: elsewhere }],
    ] as const) {
      const { object } = await create(rules, sources);
      assert.deepEqual(sourcesIn(object.spec), expected);
    }
  });
