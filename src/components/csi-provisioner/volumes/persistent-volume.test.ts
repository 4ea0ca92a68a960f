import assert from "node:assert/strict";
import { test } from "node:test";
import { driver } from "../../../../test/builders.ts";
import { aCreateCall, aPendingClaim } from "../../../../test/volume-plans.ts";
import { provisioning } from "../../../api/names.ts";
import { persistentVolumeOf, type VolumeToStore } from "./persistent-volume.ts";

const given = (change: Partial<VolumeToStore> = {}) =>
  persistentVolumeOf({
    claim: aPendingClaim(),
    storageClass: { reclaimPolicy: "Delete" },
    driver,
    identity: "me",
    call: aCreateCall(),
    created: { id: "vol-9", bytes: 1_048_576n, context: {}, topology: [] },
    secrets: {},
    controllerPublishReadonly: false,
    ...change,
  });

test("a plain volume is stored with all fields that external-provisioner writes, and no others", () =>
  assert.deepEqual(given(), {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: {
      name: "pvc-u-new",
      finalizers: [provisioning.volumeFinalizer],
      annotations: {
        [provisioning.provisionedBy]: driver,
        [provisioning.deletionSecretName]: "",
        [provisioning.deletionSecretNamespace]: "",
      },
    },
    spec: {
      accessModes: ["ReadWriteOnce"],
      volumeMode: "Filesystem",
      capacity: { storage: "1Mi" },
      persistentVolumeReclaimPolicy: "Delete",
      storageClassName: "fast",
      claimRef: {
        apiVersion: "v1",
        kind: "PersistentVolumeClaim",
        namespace: "team",
        name: "new",
        uid: "u-new",
        resourceVersion: "1",
      },
      csi: { driver, volumeHandle: "vol-9", volumeAttributes: { [provisioning.identityAttribute]: "me" } },
    },
  }));

test("secrets are named by role, those of deletion and modification in annotations", () => {
  const secret = (name: string) => ({ name, namespace: "vault" });
  const { metadata, spec } = given({
    secrets: {
      provisioner: secret("p"),
      "controller-publish": secret("cp"),
      "node-stage": secret("ns"),
      "node-publish": secret("np"),
      "controller-expand": secret("ce"),
      "node-expand": secret("ne"),
      "controller-modify": secret("cm"),
    },
  });
  assert.equal(metadata.annotations?.[provisioning.deletionSecretName], "p");
  assert.equal(metadata.annotations?.[provisioning.modifySecretName], "cm");
  assert.equal(metadata.annotations?.[provisioning.modifySecretNamespace], "vault");
  const { controllerPublishSecretRef, nodeStageSecretRef, nodePublishSecretRef } = spec?.csi ?? {};
  const { controllerExpandSecretRef, nodeExpandSecretRef } = spec?.csi ?? {};
  assert.deepEqual(
    [
      controllerPublishSecretRef,
      nodeStageSecretRef,
      nodePublishSecretRef,
      controllerExpandSecretRef,
      nodeExpandSecretRef,
    ].map((ref) => ref?.name),
    ["cp", "ns", "np", "ce", "ne"],
  );
});

test("the size is the driver's, or the requested one where the driver says nothing", () => {
  const capacityOf = (bytes: bigint) =>
    given({ created: { id: "v", bytes, context: {}, topology: [] } }).spec?.capacity?.storage;
  assert.deepEqual([capacityOf(0n), capacityOf(2_097_152n), capacityOf(1_048_577n)], ["1Mi", "2Mi", "1048577"]);
});

test("each topology is a term of the node affinity; empty ones are none", () => {
  const { spec } = given({ created: { id: "v", bytes: 0n, context: {}, topology: [{ zone: "a", rack: "1" }, {}] } });
  assert.deepEqual(spec?.nodeAffinity?.required?.nodeSelectorTerms, [
    {
      matchExpressions: [
        { key: "zone", operator: "In", values: ["a"] },
        { key: "rack", operator: "In", values: ["1"] },
      ],
    },
  ]);
});

test("the driver's context wins over our own attribute", () => {
  const context = { [provisioning.identityAttribute]: "driver", kind: "fast" };
  assert.deepEqual(
    given({ created: { id: "v", bytes: 0n, context, topology: [] } }).spec?.csi?.volumeAttributes,
    context,
  );
});

test("a volume is read-only only if it is asked for and ReadOnlyMany is its only mode", () => {
  const readers = { mode: "MULTI_NODE_READER_ONLY" } as const;
  const isReadOnly = (
    controllerPublishReadonly: boolean,
    ...capabilities: ReturnType<typeof aCreateCall>["capabilities"]
  ) => given({ controllerPublishReadonly, call: aCreateCall({ capabilities }) }).spec?.csi?.readOnly;
  assert.equal(isReadOnly(true, readers), true);
  assert.equal(isReadOnly(false, readers), undefined);
  assert.equal(isReadOnly(true, readers, { mode: "SINGLE_NODE_WRITER" }), undefined);
});

test("a block volume has no file system, and mount options are those of the class", () => {
  const { spec } = given({
    call: aCreateCall({ capabilities: [{ mode: "SINGLE_NODE_WRITER" }] }),
    storageClass: { reclaimPolicy: "Retain", mountOptions: ["noatime"] },
  });
  assert.equal(spec?.csi?.fsType, undefined);
  assert.deepEqual(spec?.mountOptions, ["noatime"]);
  assert.equal(spec?.persistentVolumeReclaimPolicy, "Retain");
});
