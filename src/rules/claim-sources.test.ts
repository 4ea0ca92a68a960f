import assert from "node:assert/strict";
import { test } from "node:test";
import {
  claimSource as claim,
  claimSourceTable,
  configMapSource as configMap,
  customSource as custom,
  snapshotSource as snapshot,
} from "../../test/claim-source-table.ts";
import type { JsonObject } from "../base/json.ts";
import { claimSourceViolations, sourceToCopy } from "./claim-sources.ts";

const aClaim = (spec: JsonObject): JsonObject => ({ kind: "PersistentVolumeClaim", metadata: { name: "new" }, spec });

const codesOf = (spec: JsonObject, anyVolumeDataSource: boolean, before?: JsonObject): readonly string[] =>
  claimSourceViolations(aClaim(spec), before === undefined ? undefined : aClaim(before), {
    anyVolumeDataSource,
    crossNamespace: false,
  }).map(({ code }) => code);

for (const { given, sources, on, off } of claimSourceTable)
  test(`given ${given}, the claim breaks ${on ?? "nothing"} with AnyVolumeDataSource and ${off ?? "nothing"} without`, () => {
    const listed = (code: string | undefined) => (code === undefined ? [] : [code]);
    assert.deepEqual(codesOf(sources, true), listed(on));
    assert.deepEqual(codesOf(sources, false), listed(off));
  });

test("a namespace is allowed where the API server keeps it", () => {
  const gates = { anyVolumeDataSource: true, crossNamespace: true };
  const spec = { dataSourceRef: { ...snapshot, namespace: "other" } };
  assert.deepEqual(claimSourceViolations(aClaim(spec), undefined, gates), []);
});

test("an unchanged data source is not validated again, and a changed one is", () => {
  assert.deepEqual(codesOf({ dataSource: configMap }, true, { dataSource: configMap }), []);
  assert.deepEqual(codesOf({ dataSource: configMap }, true, { dataSource: claim }), ["SNAP-131"]);
});

test("the message names the field, the given value, the supported values and the remedy", () => {
  const gates = { anyVolumeDataSource: true, crossNamespace: false };
  const [found] = claimSourceViolations(aClaim({ dataSource: configMap }), undefined, gates);
  assert.match(
    found?.message ?? "",
    /^spec\.dataSource: names a "ConfigMap" of the core group.*name a PersistentVolumeClaim, or a VolumeSnapshot.*remove the source.*\[SNAP-131\]$/,
  );
});

test("only a custom kind is copied to dataSourceRef, where that is empty and the gate is on", () => {
  const on = { anyVolumeDataSource: true, crossNamespace: false };
  assert.deepEqual(sourceToCopy(aClaim({ dataSource: custom }), on), custom);
  assert.equal(sourceToCopy(aClaim({ dataSource: snapshot }), on), undefined);
  assert.equal(sourceToCopy(aClaim({ dataSource: custom, dataSourceRef: custom }), on), undefined);
  assert.equal(sourceToCopy(aClaim({ dataSource: custom }), { ...on, anyVolumeDataSource: false }), undefined);
});
