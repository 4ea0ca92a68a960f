import assert from "node:assert/strict";
import { test } from "node:test";
import { createVirtualWorld } from "../../../../test/virtual-world.ts";
import { volumeName } from "../identity.ts";
import { createLateVolumes } from "./late-volumes.ts";

test("a PersistentVolume may be stored for a minute after the request was given up, and others are not waited for", async () => {
  const world = createVirtualWorld();
  const late = createLateVolumes(world);
  late.expect(volumeName("pvc-1"));
  assert.deepEqual([late.leftMs(volumeName("pvc-1")), late.leftMs(volumeName("pvc-2"))], [60_000, 0]);
  await world.advance(59_000);
  assert.equal(late.leftMs(volumeName("pvc-1")), 1_000);
  late.expect(volumeName("pvc-1"));
  await world.advance(60_000);
  assert.equal(late.leftMs(volumeName("pvc-1")), 0);
});
