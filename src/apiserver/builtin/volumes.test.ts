import assert from "node:assert/strict";
import { test } from "node:test";
import { aContext, created, updated } from "../../../test/strategy.ts";
import type { JsonObject } from "../../base/json.ts";
import type { ApiObject } from "../contracts.ts";
import { part } from "./check.ts";
import { volumeStrategy as strategy } from "./volumes.ts";

const csi = { driver: "hostpath.csi.k8s.io", volumeHandle: "h" };
const aVolume = (spec: JsonObject = {}): JsonObject => ({
  apiVersion: "v1",
  kind: "PersistentVolume",
  metadata: { name: "pv" },
  spec: { accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" }, csi, ...spec },
  status: { phase: "Released" },
});
const stored = (spec: JsonObject = {}): ApiObject => created(strategy, aVolume(spec)).object;

test("a new volume has phase Pending, Retain and volumeMode Filesystem", () => {
  const { object, says } = created(strategy, aVolume());
  assert.deepEqual(says, []);
  assert.deepEqual(object.status, { phase: "Pending", lastPhaseTransitionTime: "2025-06-15T15:06:40Z" });
  assert.equal(part(object, "spec").persistentVolumeReclaimPolicy, "Retain");
  assert.equal(part(object, "spec").volumeMode, "Filesystem");
});

const unset = { csi: null };
const affinity = (operator: string) => ({
  required: { nodeSelectorTerms: [{ matchExpressions: [{ key: "zone", operator, values: [] }] }] },
});
const invalid: readonly { given: string; spec: JsonObject; says: readonly string[] }[] = [
  { given: "no source", spec: unset, says: ["spec: Required value: must specify a volume type"] },
  {
    given: "two sources",
    spec: { hostPath: { path: "/x" } },
    says: ["spec.csi: Forbidden: may not specify more than 1 volume type"],
  },
  {
    given: "no capacity",
    spec: { capacity: {} },
    says: ["spec.capacity: Required value", 'spec.capacity: Unsupported value: null: supported values: "storage"'],
  },
  {
    given: "a negative capacity",
    spec: { capacity: { storage: "-1" } },
    says: [
      "spec.capacity[storage]: Invalid value: -1: must be a valid resource quantity",
      'spec.capacity[storage]: Invalid value: "-1": must be greater than zero',
    ],
  },
  { given: "no access mode", spec: { accessModes: [] }, says: ["spec.accessModes: Required value"] },
  {
    given: "a driver and a handle missing",
    spec: { csi: {} },
    says: ["spec.csi.driver: Required value", "spec.csi.volumeHandle: Required value"],
  },
  {
    given: "half a secret reference",
    spec: { csi: { ...csi, nodePublishSecretRef: { name: "s" } } },
    says: ["spec.csi.nodePublishSecretRef.namespace: Required value"],
  },
  {
    given: "a local path and no node",
    spec: { ...unset, local: { path: "/mnt/../x" } },
    says: [
      `spec.local.path: Invalid value: "/mnt/../x": must not contain '..'`,
      "spec.nodeAffinity: Required value: Local volume requires node affinity",
    ],
  },
  {
    given: "an unknown reclaim policy",
    spec: { persistentVolumeReclaimPolicy: "Burn" },
    says: [
      'spec.persistentVolumeReclaimPolicy: Unsupported value: "Burn": supported values: "Delete", "Recycle", "Retain"',
    ],
  },
  {
    given: "an affinity without values",
    spec: { nodeAffinity: affinity("In") },
    says: [
      "spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
    ],
  },
];

for (const { given, spec, says } of invalid)
  test(`a volume with ${given} is rejected`, () => assert.deepEqual(created(strategy, aVolume(spec)).says, says));

const spec = (object: JsonObject): JsonObject => object.spec as JsonObject;
const changes: readonly {
  given: string;
  from?: JsonObject;
  change: (spec: JsonObject) => void;
  says: readonly string[];
}[] = [
  {
    given: "its claim, its capacity and its reclaim policy",
    change: (spec) => {
      spec.claimRef = { name: "c", namespace: "n" };
      spec.capacity = { storage: "2Gi" };
      spec.persistentVolumeReclaimPolicy = "Delete";
    },
    says: [],
  },
  {
    given: "its handle",
    change: (spec) => {
      spec.csi = { ...csi, volumeHandle: "other" };
    },
    says: ["spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation\n"],
  },
  {
    given: "its expansion secret from nothing",
    change: (spec) => {
      spec.csi = { ...csi, controllerExpandSecretRef: { name: "s", namespace: "n" } };
    },
    says: [],
  },
  {
    given: "its mode",
    change: (spec) => {
      spec.volumeMode = "Block";
    },
    says: ['volumeMode: Invalid value: "Block": field is immutable'],
  },
];

for (const { given, from, change, says } of changes)
  test(`a volume that changes ${given} is ${says.length === 0 ? "accepted" : "rejected"}`, () =>
    assert.deepEqual(updated(strategy, stored(from), (object) => change(spec(object))).says, says));

test("the server sets lastPhaseTransitionTime, unless the client does", () => {
  const status = aContext({ subresource: "status" });
  const toPhase = (phase: string, time?: string) => (object: JsonObject) => {
    object.status = {
      ...part(object, "status"),
      phase,
      ...(time === undefined ? {} : { lastPhaseTransitionTime: time }),
    };
  };
  const old: ApiObject = { ...stored(), status: { phase: "Pending", lastPhaseTransitionTime: "2020-01-01T00:00:00Z" } };
  const timeAfter = (change: (object: JsonObject) => void) =>
    part(updated(strategy, old, change, status).object, "status").lastPhaseTransitionTime;
  assert.equal(timeAfter(toPhase("Available")), "2025-06-15T15:06:40Z");
  assert.equal(timeAfter(toPhase("Available", "2021-01-01T00:00:00Z")), "2021-01-01T00:00:00Z");
  assert.equal(timeAfter(toPhase("Pending")), "2020-01-01T00:00:00Z");
});
