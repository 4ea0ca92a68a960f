import assert from "node:assert/strict";
import { test } from "node:test";
import { keyIn } from "../base/brand.ts";
import { createStore } from "../kube/store.ts";
import type { Node, StorageClass } from "./types.ts";

const node: Node = {
  apiVersion: "v1",
  kind: "Node",
  metadata: {
    name: "worker-1",
    uid: "n-1",
    resourceVersion: "7",
    labels: { "topology.example.com/zone": "a" },
    annotations: { "node.alpha.kubernetes.io/ttl": "0" },
  },
  spec: { podCIDR: "10.0.0.0/24" },
  status: { images: [{ names: ["registry.example.com/large:1"], sizeBytes: 1 }] },
};

test("a cache keeps the name and labels of a Node, and reading anything else does not compile", () => {
  const store = createStore("Node");
  store.take({ kind: "put", object: node });
  const kept = store.get(keyIn(undefined, "worker-1"));
  assert.deepEqual(kept, {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "worker-1", uid: "n-1", resourceVersion: "7", labels: { "topology.example.com/zone": "a" } },
  });
  // @ts-expect-error: not kept.
  assert.equal(kept?.status?.images, undefined);
  // @ts-expect-error: not kept.
  assert.equal(kept?.spec?.podCIDR, undefined);
});

test("a kind without a projection is kept as it came", () => {
  const store = createStore("StorageClass");
  const object: StorageClass = {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name: "fast", uid: "s-1", resourceVersion: "8" },
    provisioner: "disk.example.com",
  };
  store.take({ kind: "put", object });
  assert.equal(store.get(keyIn(undefined, "fast")), object);
});
