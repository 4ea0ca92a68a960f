import assert from "node:assert/strict";
import { test } from "node:test";
import type { CSIStorageCapacity } from "../../../api/types.ts";
import { capacityKey, classAndSegmentOf, keyOfCapacity, segmentText } from "./key.ts";

const about = (nodeTopology: CSIStorageCapacity["nodeTopology"]) =>
  keyOfCapacity({
    apiVersion: "storage.k8s.io/v1",
    kind: "CSIStorageCapacity",
    metadata: { name: "csisc-1", uid: "u", resourceVersion: "1" },
    storageClassName: "fast",
    ...(nodeTopology === undefined ? {} : { nodeTopology }),
  });

test("an object has the key of its class and segment, in whatever order the labels are", () => {
  const key = capacityKey("fast", segmentText({ zone: "a b", "example.com/rack": "1" }));
  assert.equal(about({ matchLabels: { "example.com/rack": "1", zone: "a b" } }), key);
  assert.deepEqual(classAndSegmentOf(key), { className: "fast", segment: '[["example.com/rack","1"],["zone","a b"]]' });
});

test("the server stores an empty segment without labels", () => {
  assert.equal(about({}), capacityKey("fast", segmentText({})));
});

for (const [what, topology] of [
  ["no topology", undefined],
  ["expressions", { matchExpressions: [{ key: "zone", operator: "Exists" }] }],
] as const)
  test(`an object with ${what} has the key of no segment`, () => {
    assert.notEqual(about(topology as CSIStorageCapacity["nodeTopology"]), capacityKey("fast", segmentText({})));
    assert.match(classAndSegmentOf(about(topology as CSIStorageCapacity["nodeTopology"])).segment, /^\?/);
  });
