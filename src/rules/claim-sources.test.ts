import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../base/json.ts";
import { claimSourceViolations, sourceToCopy } from "./claim-sources.ts";

const claim = { kind: "PersistentVolumeClaim", name: "c" };
const snapshot = { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "s" };
const custom = { apiGroup: "example.com", kind: "Tarball", name: "t" };
const configMap = { apiGroup: null, kind: "ConfigMap", name: "m" };
const versioned = { apiGroup: "snapshot.storage.k8s.io", kind: "volumesnapshot", name: "s" };

const aClaim = (spec: JsonObject): JsonObject => ({ kind: "PersistentVolumeClaim", metadata: { name: "new" }, spec });

/** With AnyVolumeDataSource on, then off. */
const table: readonly [string, JsonObject, readonly string[], readonly string[]][] = [
  ["no source", {}, [], []],
  ["a claim", { dataSource: claim }, [], []],
  ["a snapshot", { dataSource: snapshot }, [], []],
  ["a snapshot in dataSourceRef", { dataSourceRef: snapshot }, [], []],
  ["a ConfigMap", { dataSource: configMap }, ["SNAP-131"], ["SNAP-131"]],
  ["a ConfigMap in dataSourceRef", { dataSourceRef: configMap }, ["SNAP-131"], ["SNAP-131"]],
  ["a custom kind", { dataSource: custom }, [], ["SNAP-132"]],
  ["a custom kind in dataSourceRef", { dataSourceRef: custom }, [], ["SNAP-132"]],
  ["a kind in the wrong case", { dataSource: versioned }, [], ["SNAP-132"]],
  ["no kind", { dataSource: { name: "x" } }, ["SNAP-133"], ["SNAP-133"]],
  ["no name", { dataSource: { kind: "PersistentVolumeClaim" } }, ["SNAP-133"], ["SNAP-133"]],
  ["an empty source", { dataSource: {} }, ["SNAP-133"], ["SNAP-133"]],
  [
    "a snapshot of another namespace",
    { dataSourceRef: { ...snapshot, namespace: "other" } },
    ["SNAP-134"],
    ["SNAP-134"],
  ],
  [
    "a group with a version",
    { dataSource: { ...snapshot, apiGroup: "snapshot.storage.k8s.io/v1" } },
    ["SNAP-135"],
    ["SNAP-135"],
  ],
  ["a snapshot without its group", { dataSource: { kind: "VolumeSnapshot", name: "s" } }, ["SNAP-131"], ["SNAP-131"]],
  ["a source that is null", { dataSource: null }, [], []],
];

const codesOf = (spec: JsonObject, anyVolumeDataSource: boolean, before?: JsonObject): readonly string[] =>
  claimSourceViolations(aClaim(spec), before === undefined ? undefined : aClaim(before), {
    anyVolumeDataSource,
    crossNamespace: false,
  }).map(({ code }) => code);

for (const [given, spec, on, off] of table)
  test(`given ${given}, the claim breaks ${on.join() || "nothing"} with AnyVolumeDataSource and ${off.join() || "nothing"} without`, () => {
    assert.deepEqual(codesOf(spec, true), on);
    assert.deepEqual(codesOf(spec, false), off);
  });

test("a namespace is allowed where the API server keeps it", () => {
  const gates = { anyVolumeDataSource: true, crossNamespace: true };
  const spec = { dataSourceRef: { ...snapshot, namespace: "other" } };
  assert.deepEqual(claimSourceViolations(aClaim(spec), undefined, gates), []);
});

test("a source that is stored already is not judged again, and a new one is", () => {
  assert.deepEqual(codesOf({ dataSource: configMap }, true, { dataSource: configMap }), []);
  assert.deepEqual(codesOf({ dataSource: configMap }, true, { dataSource: claim }), ["SNAP-131"]);
});

test("the message names the field, what was given, what is supported, and the way out", () => {
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
