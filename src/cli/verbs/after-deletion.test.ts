import assert from "node:assert/strict";
import { test } from "node:test";
import type { VolumeSnapshot, VolumeSnapshotContent } from "../../api/types.ts";
import { afterDeletion } from "./after-deletion.ts";

const bound = { status: { boundVolumeSnapshotContentName: "c" } } as VolumeSnapshot;
const content = (deletionPolicy: "Delete" | "Retain", status: object = {}) =>
  ({ spec: { driver: "d", deletionPolicy, source: {} }, status }) as unknown as VolumeSnapshotContent;

test("the line says whether the data goes or stays, and by which handle it is found", () => {
  const taken = { snapshotHandle: "h" };
  const rows: readonly (readonly [VolumeSnapshot, VolumeSnapshotContent | undefined, RegExp])[] = [
    [{} as VolumeSnapshot, undefined, /^it has no VolumeSnapshotContent yet/],
    [bound, undefined, /^VolumeSnapshotContent c decides .*; you may not read it$/],
    [bound, content("Delete", taken), /^snapshot h of driver d is deleted with it/],
    [bound, content("Retain", taken), /^snapshot h of driver d is kept, and so is VolumeSnapshotContent c/],
    [bound, content("Delete"), /^what the driver has taken is deleted with it/],
  ];
  for (const [snapshot, read, expected] of rows) assert.match(afterDeletion(snapshot, read), expected);
});
