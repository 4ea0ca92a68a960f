import assert from "node:assert/strict";
import { test } from "node:test";
import { createVirtualWorld } from "../virtual-world.ts";
import { aSnapshotOf, createCluster, furnish } from "./cluster.ts";

test("a snapshot is taken, becomes ready, and goes without a trace", async () => {
  const world = createVirtualWorld(1);
  const cluster = createCluster(world);
  await world.run(furnish(cluster));
  void cluster.startController();
  void cluster.startSidecar();
  await world.run(cluster.create("VolumeSnapshot", aSnapshotOf("monday")));
  await world.advance(5_000);
  const snapshot = await world.run(cluster.user.get({ kind: "VolumeSnapshot", namespace: "default", name: "monday" }));
  assert.equal(snapshot.status?.readyToUse, true, JSON.stringify(snapshot.status));
  assert.equal(cluster.backend.snapshots.size, 1);
  await world.run(cluster.user.delete({ kind: "VolumeSnapshot", namespace: "default", name: "monday" }));
  await world.advance(5_000);
  assert.equal(cluster.backend.snapshots.size, 0);
  for (const kind of ["VolumeSnapshot", "VolumeSnapshotContent"] as const)
    assert.deepEqual((await world.run(cluster.user.list(kind))).objects, []);
  const claim = await world.run(
    cluster.user.get({ kind: "PersistentVolumeClaim", namespace: "default", name: "data" }),
  );
  assert.deepEqual(claim.metadata.finalizers, ["kubernetes.io/pvc-protection"]);
  cluster.stop();
});
