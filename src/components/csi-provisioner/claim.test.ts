import assert from "node:assert/strict";
import { test } from "node:test";
import { aClaim } from "../../../test/builders.ts";
import { aPendingClaim } from "../../../test/volume-plans.ts";
import { provisioning } from "../../api/names.ts";
import type { PersistentVolumeClaim } from "../../api/types.ts";
import {
  attributesClassOf,
  classNameOf,
  provisionerOf,
  requestedBytes,
  selectedNodeOf,
  sourceOf,
  volumeNameFor,
} from "./claim.ts";

test("the provisioner is read from the annotation of today, then from that of before", () => {
  const both = { [provisioning.storageProvisioner]: "new", [provisioning.betaStorageProvisioner]: "old" };
  assert.equal(provisionerOf(aClaim({ metadata: { annotations: both } })), "new");
  const old = { [provisioning.betaStorageProvisioner]: "old" };
  assert.equal(provisionerOf(aClaim({ metadata: { annotations: old } })), "old");
  assert.equal(provisionerOf(aClaim()), undefined);
});

test("the annotation of the class wins over the field", () => {
  assert.equal(classNameOf(aPendingClaim()), "fast");
  const annotated = aPendingClaim({ metadata: { annotations: { [provisioning.betaStorageClass]: "slow" } } });
  assert.equal(classNameOf(annotated), "slow");
  assert.equal(classNameOf(aClaim({ spec: {} })), "");
});

test("a VolumeAttributesClass counts where the gate is on, and an empty name is none", () => {
  const named = (name: string, usesAttributesClasses: boolean) =>
    attributesClassOf({ usesAttributesClasses }, aClaim({ spec: { volumeAttributesClassName: name } }));
  assert.deepEqual([named("gold", true), named("", true), named("gold", false)], ["gold", undefined, undefined]);
});

test("an empty annotation selects no node", () => {
  const on = (node: string) =>
    selectedNodeOf(aClaim({ metadata: { annotations: { [provisioning.selectedNode]: node } } }));
  assert.deepEqual([on("node-1"), on(""), selectedNodeOf(aClaim())], ["node-1", undefined, undefined]);
});

for (const [storage, bytes] of [
  ["1Mi", 1_048_576n],
  ["1500m", 2n],
  ["0", 0n],
  ["12e6", 12_000_000n],
  ["lots", undefined],
  [undefined, undefined],
] as const)
  test(`a request of ${storage} is ${bytes} bytes`, () => {
    const resources = storage === undefined ? {} : { requests: { storage } };
    assert.equal(requestedBytes(aClaim({ spec: { resources } })), bytes);
  });

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
    { kind: "snapshot", namespace: "team", name: "monday" },
  ],
  [
    "a snapshot in dataSourceRef only",
    { dataSourceRef: { apiGroup: snapshots, kind: "VolumeSnapshot", name: "monday" } },
    { kind: "snapshot", namespace: "team", name: "monday" },
  ],
  [
    "a claim whose group is null",
    { dataSource: { apiGroup: null as never, kind: "PersistentVolumeClaim", name: "data" } },
    { kind: "claim", namespace: "team", name: "data" },
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
    { kind: "otherNamespace", namespace: "prod" },
  ],
  [
    "its own namespace written as an empty one",
    { dataSourceRef: { apiGroup: snapshots, kind: "VolumeSnapshot", name: "monday", namespace: "" } },
    { kind: "snapshot", namespace: "team", name: "monday" },
  ],
  [
    "its own namespace written out",
    { dataSourceRef: { apiGroup: snapshots, kind: "VolumeSnapshot", name: "monday", namespace: "team" } },
    { kind: "snapshot", namespace: "team", name: "monday" },
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
  assert.deepEqual(sourceOf(aClaim({ spec })), { kind: "snapshot", namespace: "team", name: "monday" });
});

test("the volume is named after the uid of the claim, whole or in part", () => {
  const uid = "0a1b2c3d-0000-4000-8000-00000000abcd";
  assert.equal(volumeNameFor({ volumeNamePrefix: "pvc", volumeNameUuidLength: -1 }, uid), `pvc-${uid}`);
  assert.equal(volumeNameFor({ volumeNamePrefix: "disk", volumeNameUuidLength: 10 }, uid), "disk-0a1b2c3d00");
});
