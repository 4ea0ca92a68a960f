import assert from "node:assert/strict";
import { test } from "node:test";
import { driver } from "../../../../test/builders.ts";
import {
  aCreateCall,
  aCsiNode,
  aNode,
  aPendingClaim,
  aStorageClass,
  driverWith,
  provisionerOptions,
} from "../../../../test/volume-plans.ts";
import { provisioning } from "../../../api/names.ts";
import { withCode } from "../../../errors/codes.ts";
import { prepareCreate, type Wanted } from "./prepare.ts";

const wanted = (change: Partial<Wanted> = {}): Wanted => ({
  claim: aPendingClaim(),
  storageClass: aStorageClass(),
  source: { kind: "none" },
  driver: driverWith(),
  options: provisionerOptions,
  nodes: [],
  csiNodes: [],
  ...change,
});
const callFor = (change: Partial<Wanted>) => {
  const prepared = prepareCreate(wanted(change));
  assert.equal(prepared.kind, "call", JSON.stringify(prepared));
  return prepared.kind === "call" ? prepared.call : aCreateCall();
};

test("a plain claim becomes a call with its name, size and access mode", () =>
  assert.deepEqual(callFor({}), aCreateCall()));

test("a claim asks for what its class and source say", () => {
  const storageClass = aStorageClass({
    parameters: {
      tier: "gold",
      "csi.storage.k8s.io/fstype": "xfs",
      "csi.storage.k8s.io/provisioner-secret-name": "key",
      "csi.storage.k8s.io/provisioner-secret-namespace": "vault",
    },
    mountOptions: ["noatime"],
  });
  assert.deepEqual(
    callFor({
      storageClass,
      source: { kind: "snapshot", handle: "s-1" },
      options: { ...provisionerOptions, extraCreateMetadata: true },
    }),
    aCreateCall({
      capabilities: [{ mode: "SINGLE_NODE_WRITER", mount: { fsType: "xfs", flags: ["noatime"] } }],
      parameters: {
        tier: "gold",
        "csi.storage.k8s.io/pvc/name": "new",
        "csi.storage.k8s.io/pvc/namespace": "team",
        "csi.storage.k8s.io/pv/name": "pvc-u-new",
      },
      source: { kind: "snapshot", handle: "s-1" },
      secret: { name: "key", namespace: "vault" },
    }),
  );
});

for (const [mode, plain, distinguishing] of [
  ["ReadWriteOnce", "SINGLE_NODE_WRITER", "SINGLE_NODE_MULTI_WRITER"],
  ["ReadWriteOncePod", "SINGLE_NODE_WRITER", "SINGLE_NODE_SINGLE_WRITER"],
  ["ReadOnlyMany", "MULTI_NODE_READER_ONLY", "MULTI_NODE_READER_ONLY"],
  ["ReadWriteMany", "MULTI_NODE_MULTI_WRITER", "MULTI_NODE_MULTI_WRITER"],
] as const)
  test(`${mode} is ${plain}, and ${distinguishing} for drivers that distinguish writers`, () => {
    const claim = aPendingClaim({ spec: { accessModes: [mode] } });
    assert.equal(callFor({ claim }).capabilities[0]?.mode, plain);
    const distinguishes = driverWith(["SINGLE_NODE_MULTI_WRITER"]);
    assert.equal(callFor({ claim, driver: distinguishes }).capabilities[0]?.mode, distinguishing);
  });

test("each access mode is a capability, and a block volume has no file system", () => {
  const claim = aPendingClaim({ spec: { accessModes: ["ReadWriteOnce", "ReadOnlyMany"], volumeMode: "Block" } });
  assert.deepEqual(callFor({ claim }).capabilities, [
    { mode: "SINGLE_NODE_WRITER" },
    { mode: "MULTI_NODE_READER_ONLY" },
  ]);
});

test("topology is asked for only where the driver has it", () => {
  const topology = { nodes: [aNode("n1", { zone: "a" })], csiNodes: [aCsiNode("n1", ["zone"])] };
  assert.equal(callFor(topology).topology, undefined);
  const segments = [{ zone: "a" }];
  assert.deepEqual(callFor({ ...topology, driver: driverWith([], ["VOLUME_ACCESSIBILITY_CONSTRAINTS"]) }).topology, {
    requisite: segments,
    preferred: segments,
  });
});

const gold = { kind: "class", driverName: driver, parameters: { iops: "100" } } as const;
const modifying = driverWith(["MODIFY_VOLUME"]);
test("the parameters of a VolumeAttributesClass are those that can be changed later", () =>
  assert.deepEqual(callFor({ attributes: gold, driver: modifying }).mutableParameters, { iops: "100" }));

const without = (capability: string) => ({
  ...driverWith(),
  controller: new Set([...driverWith().controller].filter((name) => name !== capability)),
});
const storage = (size: string) => aPendingClaim({ spec: { resources: { requests: { storage: size } } } });
const wrongRows: readonly (readonly [given: string, change: Partial<Wanted>, message: RegExp])[] = [
  ["a driver that creates no volumes", { driver: without("CREATE_DELETE_VOLUME") }, /SNAP-333/],
  [
    "a snapshot and a driver without snapshots",
    { source: { kind: "snapshot", handle: "s" }, driver: without("CREATE_DELETE_SNAPSHOT") },
    /SNAP-333/,
  ],
  [
    "a clone and a driver without clones",
    { source: { kind: "volume", handle: "v" }, driver: without("CLONE_VOLUME") },
    /SNAP-333/,
  ],
  ["a VolumeAttributesClass and a driver that cannot modify volumes", { attributes: gold }, /MODIFY_VOLUME.*SNAP-333/],
  ["a missing VolumeAttributesClass", { attributes: { kind: "missing" }, driver: modifying }, /create it.*SNAP-339/],
  [
    "a VolumeAttributesClass of another driver",
    { attributes: { ...gold, driverName: "tape.example.com" }, driver: modifying },
    /belongs to driver tape\.example\.com.*SNAP-339/,
  ],
  ["a selector", { claim: aPendingClaim({ spec: { selector: {} } }) }, /SNAP-334/],
  ["an unreadable size", { claim: storage("lots") }, /SNAP-335/],
  ["a size of nothing", { claim: storage("0") }, /SNAP-335/],
  ["a size beyond 63 bits", { claim: storage("100E") }, /SNAP-335/],
  ["two file systems", { storageClass: aStorageClass({ parameters: { fstype: "a", FSTYPE: "b" } }) }, /SNAP-332/],
  [
    "a misspelt parameter",
    { storageClass: aStorageClass({ parameters: { "csi.storage.k8s.io/provisioner-secret": "key" } }) },
    /unknown parameters csi.storage.k8s.io\/provisioner-secret.*SNAP-332/,
  ],
  [
    "half a secret",
    { storageClass: aStorageClass({ parameters: { "csi.storage.k8s.io/node-stage-secret-name": "key" } }) },
    /StorageClass fast.*SNAP-231/,
  ],
  [
    "a source that is wrong",
    { source: { kind: "wrong", code: "SNAP-307", message: withCode("not ready", "SNAP-307") } },
    /SNAP-307/,
  ],
  [
    "a selected node outside of the allowed topologies",
    {
      driver: driverWith([], ["VOLUME_ACCESSIBILITY_CONSTRAINTS"]),
      claim: aPendingClaim({ metadata: { annotations: { [provisioning.selectedNode]: "n1" } } }),
      nodes: [aNode("n1", { zone: "a" })],
      csiNodes: [aCsiNode("n1", ["zone"])],
      storageClass: aStorageClass({
        allowedTopologies: [{ matchLabelExpressions: [{ key: "zone", values: ["b"] }] }],
      }),
    },
    /SNAP-337/,
  ],
];
for (const [given, change, message] of wrongRows)
  test(`given ${given}, there is no call`, () => {
    const prepared = prepareCreate(wanted(change));
    assert.equal(prepared.kind, "wrong");
    assert.match(prepared.kind === "wrong" ? prepared.message : "", message);
  });

test("given a selected node that is gone, the scheduler has to choose again", () => {
  const prepared = prepareCreate(
    wanted({
      driver: driverWith([], ["VOLUME_ACCESSIBILITY_CONSTRAINTS"]),
      claim: aPendingClaim({ metadata: { annotations: { [provisioning.selectedNode]: "n1" } } }),
    }),
  );
  assert.equal(prepared.kind, "reschedule");
});
