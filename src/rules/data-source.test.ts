import assert from "node:assert/strict";
import { test } from "node:test";
import { aClaim } from "../../test/builders.ts";
import type { PersistentVolumeClaim, VolumeSnapshotLink } from "../api/types.ts";
import { grantToOf, linkedSource, sourceOf } from "./data-source.ts";

const local = (kind: string, name: string) => ({ kind, namespace: "team", name, referrer: undefined });
const claims = { group: "", kind: "PersistentVolumeClaim", namespace: "team" };
const snapshots = "snapshot.storage.k8s.io";
const sourceRows: readonly (readonly [
  given: string,
  spec: NonNullable<PersistentVolumeClaim["spec"]>,
  found: object,
])[] = [
  ["no source", {}, { kind: "none" }],
  ["a null source", { dataSource: null as never, dataSourceRef: null as never }, { kind: "none" }],
  [
    "a snapshot",
    { dataSource: { apiGroup: snapshots, kind: "VolumeSnapshot", name: "monday" } },
    local("snapshot", "monday"),
  ],
  [
    "a snapshot in dataSourceRef only",
    { dataSourceRef: { apiGroup: snapshots, kind: "VolumeSnapshot", name: "monday" } },
    local("snapshot", "monday"),
  ],
  [
    "a claim whose group is null",
    { dataSource: { apiGroup: null as never, kind: "PersistentVolumeClaim", name: "data" } },
    local("claim", "data"),
  ],
  [
    "a claim of a foreign group",
    { dataSource: { apiGroup: "example.com", kind: "PersistentVolumeClaim", name: "data" } },
    { kind: "foreign", group: "example.com", sourceKind: "PersistentVolumeClaim", name: "data" },
  ],
  [
    "a snapshot without its group",
    { dataSource: { kind: "VolumeSnapshot", name: "monday" } },
    { kind: "foreign", group: "", sourceKind: "VolumeSnapshot", name: "monday" },
  ],
  [
    "a source of another namespace",
    { dataSourceRef: { apiGroup: snapshots, kind: "VolumeSnapshot", name: "monday", namespace: "prod" } },
    { kind: "snapshot", namespace: "prod", name: "monday", referrer: claims },
  ],
  [
    "its own namespace written as an empty one",
    { dataSourceRef: { apiGroup: snapshots, kind: "VolumeSnapshot", name: "monday", namespace: "" } },
    local("snapshot", "monday"),
  ],
  [
    "its own namespace written out",
    { dataSourceRef: { apiGroup: snapshots, kind: "VolumeSnapshot", name: "monday", namespace: "team" } },
    { kind: "snapshot", namespace: "team", name: "monday", referrer: claims },
  ],
  [
    "a claim of another namespace",
    { dataSourceRef: { kind: "PersistentVolumeClaim", name: "data", namespace: "prod" } },
    { kind: "claim", namespace: "prod", name: "data", referrer: claims },
  ],
  [
    "a kind of a populator in another namespace",
    { dataSourceRef: { apiGroup: "example.com", kind: "Book", name: "b", namespace: "prod" } },
    { kind: "foreign", group: "example.com", sourceKind: "Book", name: "b" },
  ],
  [
    "a source in dataSourceRef2",
    { dataSourceRef2: { apiGroup: snapshots, kind: "VolumeSnapshot", name: "monday", namespace: "prod" } } as never,
    { kind: "snapshot", namespace: "prod", name: "monday", referrer: claims },
  ],
  [
    "a source in crossNamespaceDataSourceRef",
    {
      crossNamespaceDataSourceRef: { apiGroup: snapshots, kind: "VolumeSnapshot", name: "monday", namespace: "prod" },
    } as never,
    { kind: "snapshot", namespace: "prod", name: "monday", referrer: claims },
  ],
  [
    "a link",
    { dataSourceRef: { apiGroup: snapshots, kind: "VolumeSnapshotLink", name: "abroad" } },
    { kind: "link", namespace: "team", name: "abroad" },
  ],
  [
    "a link of another namespace, which no provisioner follows",
    { dataSourceRef: { apiGroup: snapshots, kind: "VolumeSnapshotLink", name: "abroad", namespace: "prod" } },
    { kind: "distant link", namespace: "prod", name: "abroad" },
  ],
  [
    "a source without a name",
    { dataSource: { apiGroup: snapshots, kind: "VolumeSnapshot", name: "" } },
    { kind: "nameless" },
  ],
];
for (const [given, spec, found] of sourceRows)
  test(`the source of a claim with ${given} is ${JSON.stringify(found)}`, () =>
    assert.deepEqual(sourceOf(aClaim({ spec })), found));

test("dataSource wins over dataSourceRef, namespace included", () => {
  const dataSource = { apiGroup: snapshots, kind: "VolumeSnapshot", name: "monday" };
  const spec = { dataSource, dataSourceRef: { ...dataSource, namespace: "prod" } };
  assert.deepEqual(sourceOf(aClaim({ spec })), local("snapshot", "monday"));
});

test("a grant names the kind of the source with its group, and without a version", () => {
  const source = { namespace: "prod", name: "monday" };
  assert.deepEqual(grantToOf({ kind: "snapshot", ...source }), {
    group: "snapshot.storage.k8s.io",
    kind: "VolumeSnapshot",
    ...source,
  });
  assert.deepEqual(grantToOf({ kind: "claim", ...source }), { group: "", kind: "PersistentVolumeClaim", ...source });
});

const links = { group: snapshots, kind: "VolumeSnapshotLink", namespace: "team" };
for (const [given, source, found] of [
  ["a name", { name: "monday" }, { namespace: "team", referrer: undefined }],
  ["a name and another namespace", { name: "monday", namespace: "prod" }, { namespace: "prod", referrer: links }],
  ["a name and its own namespace", { name: "monday", namespace: "team" }, { namespace: "team", referrer: links }],
  ["a name and an empty namespace", { name: "monday", namespace: "" }, { namespace: "team", referrer: undefined }],
  ["no name", { namespace: "prod" }, undefined],
  ["a name that is no text", { name: 7 as never }, undefined],
  ["nothing", undefined, undefined],
] as const)
  test(`a link with ${given} points at ${found === undefined ? "nothing" : `a snapshot of ${found.namespace}`}`, () => {
    const metadata = { name: "abroad", namespace: "team", uid: "u", resourceVersion: "1" };
    const link = { apiVersion: "x", kind: "VolumeSnapshotLink", metadata, spec: { source } } as VolumeSnapshotLink;
    const named = { kind: "snapshot", name: "monday", link: { name: "abroad", uid: "u" } };
    assert.deepEqual(linkedSource(link), found && { ...named, ...found });
  });
