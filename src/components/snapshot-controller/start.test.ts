import assert from "node:assert/strict";
import { test } from "node:test";
import { aClaim, aClass, aSnapshot, aVolume, driver } from "../../../test/builders.ts";
import { createFakeKube } from "../../../test/fake-kube.ts";
import { createVirtualWorld } from "../../../test/virtual-world.ts";
import { Fault } from "../../base/fault.ts";
import { silent } from "../../base/log.ts";
import type { ComponentContext } from "../../runtime/component.ts";
import { createLocalContext } from "../../runtime/context.ts";
import { start } from "./start.ts";

const csi = { driver, volumeHandle: "vol-1" };
const claimRef = { namespace: "team", name: "data" };
const options = { enableDistributedSnapshotting: false, preventVolumeModeConversion: true };

/** ReferenceGrants are not served: the component works without them. */
const noSuchGroup = (path: string) => Promise.reject(new Fault("NotFound", `the server has no ${path}`));
const findVersion = async () => undefined;

async function setUp() {
  const world = createVirtualWorld();
  const kube = createFakeKube();
  const objects = [aClaim(), aVolume({ spec: { csi, claimRef } }), aClass(), aSnapshot()];
  for (const object of objects) await kube.create(object.kind as never, object as never);
  const stop = new AbortController();
  const context = createLocalContext({
    name: "snapshot-controller",
    api: { ...kube, getPath: noSuchGroup, postPath: noSuchGroup, findVersion } as ComponentContext["api"],
    world,
    log: silent,
    signal: stop.signal,
    workers: 4,
    backoff: { startMs: 1_000, maxMs: 60_000 },
  });
  return { world, kube, stop, context };
}

test("without a command line the controller creates contents and counts its operations all the same", async () => {
  const { world, kube, stop, context } = await setUp();
  const component = await start(context, options);
  assert.equal(component.leaseName, "snapshot-controller-leader");
  assert.match(component.ready?.() ?? "", /VolumeSnapshot/);
  const running = Promise.all([component.watch?.(stop.signal), component.run(stop.signal)]);
  await world.advance(1_000);
  assert.equal(component.ready?.(), undefined);
  assert.equal(kube.stored("VolumeSnapshotContent").length, 1);
  const { text } = await context.metrics.scrape();
  assert.match(text, /snapshot_controller_operations_in_flight 2\n/);
  assert.match(text, /snapshot_controller_snapshots\{phase="waiting"\} 1\n/);
  assert.match(text, /workqueue_adds_total\{name="snapshot-controller-snapshot"\} [1-9]/);
  stop.abort();
  await world.run(running);
});
