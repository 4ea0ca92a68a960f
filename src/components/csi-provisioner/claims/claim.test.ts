import assert from "node:assert/strict";
import { test } from "node:test";
import { aClaim } from "../../../../test/builders.ts";
import { aPendingClaim } from "../../../../test/volume-plans.ts";
import { provisioning } from "../../../api/names.ts";
import {
  attributesClassOf,
  classNameOf,
  provisionerOf,
  requestedBytes,
  selectedNodeOf,
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

test("the volume is named after the uid of the claim, whole or in part", () => {
  const uid = "0a1b2c3d-0000-4000-8000-00000000abcd";
  assert.equal(volumeNameFor({ volumeNamePrefix: "pvc", volumeNameUuidLength: -1 }, uid), `pvc-${uid}`);
  assert.equal(volumeNameFor({ volumeNamePrefix: "disk", volumeNameUuidLength: 10 }, uid), "disk-0a1b2c3d00");
});
