import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ago,
  type ClusterObject,
  content,
  dataClaim,
  ofClaim,
  ready,
  snapshot,
  taken,
  volume,
} from "../../../test/explain/cluster.ts";
import type { KubeObject } from "../../api/types.ts";
import type { DriverCall } from "./driver.ts";
import { effectBetween } from "./effect.ts";
import { predict, type Rest } from "./predict.ts";
import { splitBy } from "./related.ts";

const asStored = (objects: readonly ClusterObject[]) => objects as unknown as readonly KubeObject[];
const rest = (objects: readonly ClusterObject[], calls: readonly DriverCall[] = []): Rest => ({
  objects: asStored(objects),
  calls,
  isAtRest: true,
  nowMs: 0,
});
const driver = "disk.example.com";
const monday = snapshot(ofClaim, { status: ready });
const itsContent = content(taken);
const call = (method: DriverCall["method"], subject: string): DriverCall => ({ driver, method, subject });
const effect = (without: Rest, after: Rest) =>
  effectBetween({ before: without.objects, without, after, refused: undefined });

test("what the driver deletes is lost, and is named by the objects that knew it", () => {
  const found = effect(rest([monday, itsContent]), rest([], [call("DeleteSnapshot", "snap-77")]));
  assert.deepEqual(
    found.touched.map(({ object, what }) => `${object.kind} ${what}`),
    ["VolumeSnapshot deleted", "VolumeSnapshotContent deleted"],
  );
  assert.deepEqual(
    found.lost.map(({ handle, known }) => [handle, ...known.map(({ kind, name }) => `${kind} ${name}`)]),
    [["snap-77", `VolumeSnapshotContent ${itsContent.metadata.name}`, "VolumeSnapshot monday"]],
  );
  assert.deepEqual(found.unnamed, []);
});

test("data whose last object goes without a call is not lost, and nothing names it any more", () => {
  const found = effect(rest([monday, itsContent]), rest([]));
  assert.deepEqual([found.lost, found.unnamed.map(({ handle }) => handle)], [[], ["snap-77"]]);
});

test("what happens without the change as well is no effect of it, and what no longer happens is one", () => {
  const create = call("CreateSnapshot", "snapshot-1");
  const found = effect(rest([itsContent], [create, create]), rest([itsContent], [create]));
  assert.deepEqual([found.touched, found.calls, found.callsSaved], [[], [], [create]]);
});

test("dates and versions make no difference, other fields are named", () => {
  const later = {
    ...itsContent,
    metadata: { ...itsContent.metadata, creationTimestamp: ago(1), resourceVersion: "9" },
  };
  assert.deepEqual(effect(rest([itsContent]), rest([later])).touched, []);
  const retained = content(taken, {}, { deletionPolicy: "Retain" });
  assert.deepEqual(
    effect(rest([itsContent]), rest([retained])).touched.map(({ what, fields }) => [what, ...fields]),
    [["changed", "spec.deletionPolicy"]],
  );
});

test("an object that stays although its deletion is asked is terminating", () => {
  const deleting = snapshot(ofClaim, { status: ready }, { deletionTimestamp: ago(1) });
  assert.deepEqual(
    effect(rest([monday]), rest([deleting])).touched.map(({ what }) => what),
    ["terminating"],
  );
});

test("of a cluster only what a change can reach is run: along sources, contents, volumes, restores and classes", () => {
  const far = {
    ...snapshot({ source: { persistentVolumeClaimName: "another" } }),
    metadata: { namespace: "far", name: "away" },
  };
  const objects = asStored([monday, itsContent, dataClaim(), volume(), far as ClusterObject]);
  const related = (kind: KubeObject["kind"], name: string, namespace?: string) =>
    splitBy(objects, { kind: "delete", ref: { kind: kind as never, namespace, name } }).related.map(
      (object) => object.kind,
    );
  const all = ["VolumeSnapshot", "VolumeSnapshotContent", "PersistentVolumeClaim", "PersistentVolume"];
  assert.deepEqual(related("VolumeSnapshot", "monday", "team"), all);
  assert.deepEqual(related("PersistentVolume", "pv-1"), all);
  assert.deepEqual(related("VolumeSnapshotClass", "fast"), all);
  assert.deepEqual(related("Namespace", "far"), ["VolumeSnapshot"]);
});

test("a run of the copy ends when its caller stops", async () => {
  const objects = asStored([monday, itsContent, dataClaim(), volume()]);
  const change = { kind: "delete", ref: { kind: "VolumeSnapshot", namespace: "team", name: "monday" } } as const;
  await assert.rejects(predict(objects, change, 0, AbortSignal.abort()), { code: "Cancelled" });
});
