import assert from "node:assert/strict";
import { test } from "node:test";
import { aClaim, aClass, aContent, aSnapshot, aVolume, driver } from "../../../test/builders.ts";
import { createVirtualWorld } from "../../../test/virtual-world.ts";
import type { VolumeSnapshotContent } from "../../api/types.ts";
import { keyIn } from "../../base/brand.ts";
import { createStores } from "../../kube/stores.ts";
import { anywhere } from "../../rules/node-affinity.ts";
import { createMetrics } from "../../runtime/metrics.ts";
import { countFailure, measureOperations, measureStates } from "./measure.ts";
import { snapshotMetrics } from "./metrics.ts";
import { storeTable } from "./triggers.ts";

function setUp(leading = () => true) {
  const world = createVirtualWorld(1);
  const stores = createStores(storeTable);
  const metrics = createMetrics();
  const instruments = metrics.instruments(snapshotMetrics);
  const measuring = { stores, instruments, world, leading };
  metrics.refresh(measureOperations(measuring));
  const lines = async (name: string): Promise<string[]> =>
    (await metrics.scrape()).text.split("\n").filter((line) => line.startsWith(name));
  return { world, stores, measuring, lines };
}
const at = (resourceVersion: number) => ({ resourceVersion: String(resourceVersion) });
const version = (resourceVersion: string) => ({ metadata: { resourceVersion } });
const ready = { readyToUse: true, creationTime: "2026-01-01T00:00:01Z" };

test("the metrics measure a snapshot from when it is seen until it is taken, and until it is ready", async () => {
  const { world, stores, lines } = setUp();
  stores.VolumeSnapshotContent.applyReply(aContent());
  stores.VolumeSnapshot.applyReply(aSnapshot(version("1")));
  assert.deepEqual(await lines("snapshot_controller_operations_in_flight"), [
    "snapshot_controller_operations_in_flight 2",
  ]);
  await world.advance(2_000);
  stores.VolumeSnapshot.applyReply(aSnapshot({ ...version("2"), status: ready }));
  const sums = await lines("snapshot_controller_operation_total_seconds_sum");
  const labels = (operation: string) =>
    `driver_name="${driver}",operation_name="${operation}",snapshot_type="dynamic",operation_status="success"`;
  assert.deepEqual(
    sums,
    ["CreateSnapshot", "CreateSnapshotAndReady"].map(
      (operation) => `snapshot_controller_operation_total_seconds_sum{${labels(operation)}} 2`,
    ),
  );
  assert.deepEqual(await lines("snapshot_controller_operations_in_flight"), [
    "snapshot_controller_operations_in_flight 0",
  ]);
});

test("a snapshot deleted before it is ready counts as one deletion and two cancelled creations, each measured from its own start", async () => {
  const { world, stores, lines } = setUp();
  stores.VolumeSnapshot.applyReply(aSnapshot(version("1")));
  await world.advance(60_000);
  stores.VolumeSnapshot.applyReply(
    aSnapshot({ metadata: { resourceVersion: "2", deletionTimestamp: "2026-01-01T00:00:01Z" } }),
  );
  await world.advance(2_000);
  stores.VolumeSnapshot.applyDeletion("team/monday" as never, "uid-snap");
  const sums = await lines("snapshot_controller_operation_total_seconds_sum");
  const secondsOf = (status: string) =>
    sums.filter((line) => line.includes(`operation_status="${status}"`)).map((line) => line.split(" ").at(-1));
  assert.deepEqual(
    { success: secondsOf("success"), cancel: secondsOf("cancel") },
    { success: ["2"], cancel: ["62", "62"] },
  );
  const counts = await lines("snapshot_controller_operation_total_seconds_count");
  assert.equal(counts.filter((line) => line.includes('operation_status="cancel"')).length, 2);
  assert.equal(
    counts.filter(
      (line) => line.includes('operation_name="DeleteSnapshot"') && line.includes('operation_status="success"'),
    ).length,
    1,
  );
});

test("a snapshot of a content is measured as pre-provisioned, and a snapshot without a content under the driver of its class", async () => {
  const { stores, lines } = setUp();
  stores.VolumeSnapshotClass.applyReply(aClass({ driver: "of-the-class" }));
  const of = (name: string, source: object) =>
    aSnapshot({ metadata: { name, uid: `uid-${name}` }, spec: { source, volumeSnapshotClassName: "fast" } });
  stores.VolumeSnapshot.applyReply(of("static", { volumeSnapshotContentName: "old" }));
  stores.VolumeSnapshot.applyReply(of("dynamic", { persistentVolumeClaimName: "data" }));
  for (const name of ["static", "dynamic"]) stores.VolumeSnapshot.applyDeletion(keyIn("team", name), `uid-${name}`);
  const counts = await lines("snapshot_controller_operation_total_seconds_count");
  const labelsOf = (type: string) => counts.filter((line) => line.includes(`snapshot_type="${type}"`));
  assert.deepEqual([labelsOf("pre-provisioned").length, labelsOf("dynamic").length], [2, 2]);
  assert.ok(counts.every((line) => line.includes('driver_name="of-the-class"')));
});

test("snapshots that were ready before the process started are not measured", async () => {
  const { stores, lines } = setUp();
  stores.VolumeSnapshot.applyReply(aSnapshot({ ...version("1"), status: ready }));
  assert.deepEqual(await lines("snapshot_controller_operation_total_seconds_count"), []);
});

test("snapshots that were taken before the process started are only measured until they are ready", async () => {
  const { world, stores, lines } = setUp();
  const { creationTime } = ready;
  stores.VolumeSnapshot.applyReply(aSnapshot({ ...version("1"), status: { creationTime, readyToUse: false } }));
  await world.advance(3_000);
  stores.VolumeSnapshot.applyReply(aSnapshot({ ...version("2"), status: ready }));
  const [sum, ...others] = await lines("snapshot_controller_operation_total_seconds_sum");
  assert.match(sum ?? "", /operation_name="CreateSnapshotAndReady".* 3$/);
  assert.deepEqual(others, []);
});

test("a standby counts nothing, and a new leader measures from when it first saw the request", async () => {
  let leads = false;
  const { world, stores, lines } = setUp(() => leads);
  const named = (name: string) => ({ name, uid: `uid-${name}` });
  for (const name of ["a", "b"])
    stores.VolumeSnapshot.applyReply(aSnapshot({ metadata: { ...named(name), ...at(1) } }));
  await world.advance(2_000);
  stores.VolumeSnapshot.applyReply(aSnapshot({ metadata: { ...named("a"), ...at(2) }, ...failed("x") }));
  stores.VolumeSnapshot.applyReply(aSnapshot({ metadata: { ...named("a"), ...at(3) }, status: ready }));
  for (const name of ["snapshot_controller_operation_total_seconds_count", errors])
    assert.deepEqual(await lines(name), []);
  const inFlight = "snapshot_controller_operations_in_flight";
  assert.deepEqual(await lines(inFlight), [`${inFlight} 0`]);
  leads = true;
  assert.deepEqual(await lines(inFlight), [`${inFlight} 2`]);
  stores.VolumeSnapshot.applyReply(aSnapshot({ metadata: { ...named("b"), ...at(2) }, status: ready }));
  const sums = await lines("snapshot_controller_operation_total_seconds_sum");
  assert.deepEqual(
    sums.map((line) => line.split(" ").at(-1)),
    ["2", "2"],
  );
});

const errors = "snapshot_controller_operation_errors_total";
const failed = (time: string, message = "no") => ({ status: { error: { message, time } } });

test("each rejection by the controller counts once, and rejections before its start do not count", async () => {
  const { stores, lines } = setUp();
  stores.VolumeSnapshotContent.applyReply(aContent());
  stores.VolumeSnapshot.applyReply(aSnapshot({ ...version("1"), ...failed("a") }));
  assert.deepEqual(await lines(errors), []);
  stores.VolumeSnapshot.applyReply(aSnapshot({ ...version("2"), ...failed("a") }));
  stores.VolumeSnapshot.applyReply(aSnapshot({ ...version("3"), ...failed("b") }));
  stores.VolumeSnapshot.applyReply(aSnapshot({ ...version("4"), ...failed("b", "no, again") }));
  assert.deepEqual(await lines(errors), [`${errors}{driver_name="${driver}",operation_name="CreateSnapshot"} 2`]);
});

test("the controller does not count errors that the sidecar has counted", async () => {
  const { stores, lines } = setUp();
  stores.VolumeSnapshot.applyReply(aSnapshot(version("1")));
  stores.VolumeSnapshotContent.applyReply(aContent(failed("a")));
  stores.VolumeSnapshot.applyReply(aSnapshot({ ...version("2"), ...failed("a") }));
  assert.deepEqual(await lines(errors), []);
});

test("the controller does not count an error of the sidecar that it repeats in a sentence with a code of its own", async () => {
  const { stores, lines } = setUp();
  stores.VolumeSnapshot.applyReply(aSnapshot(version("1")));
  stores.VolumeSnapshotContent.applyReply(aContent(failed("a", "it is in use [SNAP-503]")));
  const waiting = "Waiting for the content to be deleted: it is in use; it is tried again [SNAP-215]";
  stores.VolumeSnapshot.applyReply(aSnapshot({ ...version("2"), ...failed("b", waiting) }));
  assert.deepEqual(await lines(errors), []);
});

test("each failed reconcile counts once, for its driver and operation", async () => {
  const { stores, measuring, lines } = setUp();
  const leaving = { resourceVersion: "2", deletionTimestamp: "2026-01-01T00:00:01Z" };
  stores.VolumeSnapshot.applyReply(aSnapshot(version("1")));
  stores.VolumeSnapshotContent.applyReply(aContent());
  stores.PersistentVolumeClaim.applyReply(aClaim({ metadata: { deletionTimestamp: leaving.deletionTimestamp } }));
  stores.PersistentVolume.applyReply(aVolume());
  for (const kind of ["VolumeSnapshot", "VolumeSnapshot", "PersistentVolumeClaim", "VolumeSnapshotContent"] as const)
    for (const { metadata } of stores[kind].all())
      countFailure(measuring, kind, keyIn(metadata.namespace, metadata.name));
  stores.VolumeSnapshot.applyReply(aSnapshot({ metadata: leaving }));
  countFailure(measuring, "VolumeSnapshot", "team/monday" as never);
  countFailure(measuring, "VolumeSnapshot", "team/gone" as never);
  assert.deepEqual(await lines(errors), [
    `${errors}{driver_name="${driver}",operation_name="CreateSnapshot"} 4`,
    `${errors}{driver_name="${driver}",operation_name="DeleteSnapshot"} 1`,
    `${errors}{driver_name="unknown",operation_name="CreateSnapshot"} 1`,
  ]);
});

test("a failed reconcile of a content without a spec counts for an unknown driver", async () => {
  const { stores, measuring, lines } = setUp();
  const { spec: _spec, ...content } = aContent();
  stores.VolumeSnapshotContent.applyReply(content as VolumeSnapshotContent);
  for (const { metadata } of stores.VolumeSnapshotContent.all())
    countFailure(measuring, "VolumeSnapshotContent", keyIn(undefined, metadata.name));
  assert.deepEqual(await lines(errors), [`${errors}{driver_name="unknown",operation_name="CreateSnapshot"} 1`]);
});

test("gauges count snapshots by phase, the age of the oldest unready snapshot, and stuck deletions", async () => {
  const { world, stores, measuring, lines } = setUp();
  const at = (ms: number): string => new Date(world.now() + ms).toISOString();
  stores.VolumeSnapshot.applyReply(aSnapshot({ metadata: { name: "a", creationTimestamp: at(-60_000) } }));
  stores.VolumeSnapshot.applyReply(aSnapshot({ metadata: { name: "b", deletionTimestamp: at(-700_000) } }));
  stores.VolumeSnapshot.applyReply(
    aSnapshot({ metadata: { name: "c", uid: "uid-c", deletionTimestamp: at(-500_000) } }),
  );
  const old = { name: "d", uid: "uid-d", creationTimestamp: at(-900_000) };
  const ref = { namespace: "team", name: "d", uid: "uid-d" };
  stores.VolumeSnapshotContent.applyReply(
    aContent({ metadata: { name: "snapcontent-uid-d" }, spec: { volumeSnapshotRef: ref } }),
  );
  stores.VolumeSnapshot.applyReply(aSnapshot({ metadata: old, status: ready }));
  measureStates(measuring, { preventVolumeModeConversion: true, placeOf: () => anywhere });
  assert.ok(
    (await lines("snapshot_controller_snapshots")).includes('snapshot_controller_snapshots{phase="invalid"} 1'),
  );
  assert.deepEqual(await lines("snapshot_controller_oldest_unready"), [
    "snapshot_controller_oldest_unready_snapshot_seconds 60",
  ]);
  assert.deepEqual(await lines("snapshot_controller_stuck"), ["snapshot_controller_stuck_deletions 1"]);
});

test("a scrape matches nodes only for snapshots without a content", async () => {
  const { stores, measuring } = setUp();
  const volumeOf = (name: string) => aVolume({ metadata: { name }, spec: { claimRef: { namespace: "team", name } } });
  for (const name of ["cut", "untaken"]) {
    stores.PersistentVolume.applyReply(volumeOf(name));
    stores.PersistentVolumeClaim.applyReply(aClaim({ metadata: { name }, spec: { volumeName: name } }));
    const source = { persistentVolumeClaimName: name };
    stores.VolumeSnapshot.applyReply(aSnapshot({ metadata: { name, uid: `uid-${name}` }, spec: { source } }));
  }
  stores.VolumeSnapshotContent.applyReply(aContent({ metadata: { name: "snapcontent-uid-cut" } }));
  const asked: string[] = [];
  const placeOf = (volume: { metadata: { name: string } }) => {
    asked.push(volume.metadata.name);
    return anywhere;
  };
  measureStates(measuring, { preventVolumeModeConversion: true, placeOf });
  assert.deepEqual(asked, ["untaken"]);
});
