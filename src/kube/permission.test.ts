import assert from "node:assert/strict";
import { test } from "node:test";
import { createVirtualWorld } from "../../test/virtual-world.ts";
import { Fault } from "../base/fault.ts";
import { silent } from "../base/log.ts";
import type { PathAsker } from "./api.ts";
import { createPermission } from "./permission.ts";

test("what may be done is asked at the start and again and again, and is not allowed until the server says so", async () => {
  const world = createVirtualWorld();
  const asked: unknown[] = [];
  let answer: () => boolean = () => {
    throw new Fault("Unavailable", "no server");
  };
  const api: PathAsker = {
    postPath: async (_path: string, review: unknown) => {
      asked.push((review as { spec: unknown }).spec);
      return { status: { allowed: answer() } };
    },
  } as never;
  let granted = 0;
  const count = (): void => {
    granted += 1;
  };
  const permission = createPermission("VolumeSnapshot", "update", { api, world, log: silent, granted: count });
  const stop = new AbortController();
  const watching = permission.watch(stop.signal);
  await world.run(permission.known);
  assert.equal(permission.isGranted(), false);
  answer = () => true;
  await world.advance(2_000);
  assert.deepEqual([permission.isGranted(), granted], [true, 1]);
  await world.advance(61_000);
  assert.equal(granted, 1, "it was granted before");
  answer = () => false;
  await world.advance(61_000);
  assert.equal(permission.isGranted(), false);
  const attributes = { verb: "update", group: "snapshot.storage.k8s.io", resource: "volumesnapshots" };
  assert.deepEqual(asked[0], { resourceAttributes: attributes });
  stop.abort();
  await watching;
});
