/** The checks before a restore and before a clone, row by row and in their order. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { aClaim, aVolume, driver } from "../../test/builders.ts";
import { aPendingClaim, aReadyContent, aReadySnapshot, permitted } from "../../test/volume-plans.ts";
import { annotations } from "../api/names.ts";
import { type Clone, cloneSource, type Restore, restoreSource } from "./restore-rules.ts";

const restore = (change: Partial<Restore> = {}): Restore => ({
  claim: aPendingClaim(),
  access: permitted("snapshot").access,
  requestedBytes: 1_048_576n,
  driver,
  snapshotKey: "team/monday",
  snapshot: aReadySnapshot(),
  content: aReadyContent(),
  isStarted: false,
  preventsModeChange: true,
  ...change,
});
const created = (creationTimestamp: string) => aPendingClaim({ metadata: { creationTimestamp } });
const abroad = { namespace: "abroad" };
const deleted = aReadySnapshot({ deletionTimestamp: "2026-01-01T01:00:00Z" });
const allowing = (value: string) =>
  aReadyContent({ sourceVolumeMode: "Block" }, { [annotations.allowVolumeModeChange]: value });
const block = aReadyContent({ sourceVolumeMode: "Block" });

const restores: readonly (readonly [given: string, change: Partial<Restore>, expected: string | RegExp])[] = [
  ["a ready snapshot of the same size", {}, "s-1"],
  ["a larger claim", { requestedBytes: 5_000_000n }, "s-1"],
  ["no snapshot", { snapshot: undefined, content: undefined }, /VolumeSnapshot team\/monday does not exist.*SNAP-301/],
  [
    "a snapshot deleted before the claim came",
    { snapshot: deleted, claim: created("2026-01-01T02:00:00Z") },
    /SNAP-302/,
  ],
  ["a snapshot deleted after the claim came", { snapshot: deleted, claim: created("2026-01-01T00:30:00Z") }, "s-1"],
  [
    "a snapshot deleted in the second in which the claim came",
    { snapshot: deleted, claim: created("2026-01-01T01:00:00Z") },
    "s-1",
  ],
  [
    "a snapshot deleted before the claim came, and a restore that has started",
    { snapshot: deleted, claim: created("2026-01-01T02:00:00Z"), isStarted: true },
    "s-1",
  ],
  [
    "a snapshot deleted after a claim of another namespace came",
    { snapshot: deleted, claim: aPendingClaim({ metadata: { ...abroad, creationTimestamp: "2026-01-01T00:30:00Z" } }) },
    /SNAP-302/,
  ],
  [
    "the same, and its restore has started",
    {
      snapshot: deleted,
      claim: aPendingClaim({ metadata: { ...abroad, creationTimestamp: "2026-01-01T00:30:00Z" } }),
      isStarted: true,
    },
    "s-1",
  ],
  ["an unbound snapshot", { snapshot: aReadySnapshot({}, { boundVolumeSnapshotContentName: undefined }) }, /SNAP-303/],
  ["a missing content", { content: undefined }, /VolumeSnapshotContent snapcontent-uid-snap .*SNAP-304/],
  [
    "a content bound to another uid",
    { content: aReadyContent({ volumeSnapshotRef: { namespace: "team", name: "monday", uid: "other" } }) },
    /SNAP-305/,
  ],
  [
    "a content bound to no uid",
    { content: aReadyContent({ volumeSnapshotRef: { namespace: "team", name: "monday" } }) },
    /SNAP-305/,
  ],
  [
    "a content bound to another name",
    { content: aReadyContent({ volumeSnapshotRef: { namespace: "team", name: "tuesday", uid: "uid-snap" } }) },
    /SNAP-305/,
  ],
  [
    "a content bound to another namespace",
    { content: aReadyContent({ volumeSnapshotRef: { namespace: "prod", name: "monday", uid: "uid-snap" } }) },
    /SNAP-305/,
  ],
  [
    "a snapshot of another driver",
    { content: aReadyContent({ driver: "tape.example.com" }) },
    /use a StorageClass of tape\.example\.com.*SNAP-306/,
  ],
  ["a snapshot that is not ready", { snapshot: aReadySnapshot({}, { readyToUse: false }) }, /SNAP-307/],
  [
    "a snapshot that does not say whether it is ready",
    { snapshot: aReadySnapshot({}, { readyToUse: undefined }) },
    /SNAP-307/,
  ],
  ["a content without a handle", { content: { ...aReadyContent(), status: {} } }, /SNAP-308/],
  ["a content without a status", { content: { ...aReadyContent(), status: undefined as never } }, /SNAP-308/],
  ["a smaller claim", { requestedBytes: 1_048_575n }, /1048575 bytes.*needs 1048576.*at least 1Mi.*SNAP-136/],
  [
    "a snapshot without a size",
    { snapshot: aReadySnapshot({}, { restoreSize: undefined }), requestedBytes: 1n },
    "s-1",
  ],
  ["a snapshot of size 0", { snapshot: aReadySnapshot({}, { restoreSize: "0" }), requestedBytes: 1n }, "s-1"],
  ["another volume mode", { content: block }, /SNAP-309/],
  ["another volume mode, allowed", { content: allowing("true") }, "s-1"],
  ["another volume mode, allowed in Go's shortest way", { content: allowing("t") }, "s-1"],
  ["another volume mode, disallowed", { content: allowing("false") }, /SNAP-309/],
  ["another volume mode, allowed by an unreadable word", { content: allowing("yes") }, /SNAP-309/],
  ["another volume mode, unguarded", { content: block, preventsModeChange: false }, "s-1"],
  [
    "a claim without a volume mode",
    { content: block, claim: aPendingClaim({ spec: { volumeMode: undefined as never } }) },
    "s-1",
  ],
];
for (const [given, change, expected] of restores)
  test(`given ${given}, the restore ${typeof expected === "string" ? "starts" : "is refused"}`, () => {
    const found = restoreSource(restore(change));
    if (typeof expected === "string") assert.deepEqual(found, { kind: "snapshot", handle: expected });
    else assert.match(found.kind === "wrong" ? found.message : "", expected);
  });

const source = aClaim({
  metadata: { name: "data", uid: "uid-claim" },
  spec: { volumeName: "pv-1", storageClassName: "fast", resources: { requests: { storage: "1Mi" } } },
});
const volume = { ...aVolume(), status: { phase: "Bound" } };
const clone = (change: Partial<Clone> = {}): Clone => ({
  claim: aPendingClaim(),
  access: permitted("snapshot").access,
  requestedBytes: 1_048_576n,
  driver,
  sourceKey: "team/data",
  source,
  volume,
  isStarted: false,
  ...change,
});
const boundTo = (claimRef: object) => ({ ...volume, spec: { ...volume.spec, claimRef } });
const leaving = { ...source, metadata: { ...source.metadata, deletionTimestamp: "2026-01-01T01:00:00Z" } };
const clones: readonly (readonly [given: string, change: Partial<Clone>, expected: string | RegExp])[] = [
  ["a bound claim of the same size", {}, "vol-1"],
  ["a larger claim", { requestedBytes: 5_000_000n }, "vol-1"],
  ["no source", { source: undefined }, /SNAP-321/],
  ["a source that is being deleted", { source: leaving }, /SNAP-322/],
  ["a source that is being deleted after the clone has started", { source: leaving, isStarted: true }, "vol-1"],
  ["a pending source", { source: { ...source, status: { phase: "Pending" } } }, /SNAP-323/],
  ["a lost source", { source: { ...source, status: { phase: "Lost" } } }, /SNAP-323/],
  ["a source without a volume", { source: { ...source, spec: {} } }, /SNAP-323/],
  ["a smaller claim", { requestedBytes: 1n }, /SNAP-324/],
  ["a volume that does not exist", { volume: undefined }, /SNAP-325/],
  ["a volume that is not of a CSI driver", { volume: { ...volume, spec: {} } }, /SNAP-325/],
  ["a volume of another driver", { driver: "tape.example.com" }, /SNAP-325/],
  [
    "a volume bound to another claim",
    { volume: boundTo({ namespace: "team", name: "data", uid: "other" }) },
    /SNAP-325/,
  ],
  ["a released volume", { volume: { ...volume, status: { phase: "Released" } } }, /SNAP-325/],
  ["another volume mode", { claim: aPendingClaim({ spec: { volumeMode: "Block" } }) }, /SNAP-326/],
  [
    "no volume modes, which are those of file systems",
    { source: { ...source, spec: { ...source.spec, volumeMode: undefined as never } } },
    "vol-1",
  ],
];
for (const [given, change, expected] of clones)
  test(`given ${given}, the clone ${typeof expected === "string" ? "starts" : "is refused"}`, () => {
    const found = cloneSource(clone(change));
    if (typeof expected === "string") assert.deepEqual(found, { kind: "volume", handle: expected });
    else assert.match(found.kind === "wrong" ? found.message : "", expected);
  });
