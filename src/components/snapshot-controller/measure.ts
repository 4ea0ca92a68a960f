/**
 * Operations measured by changes in the caches, so that measuring cannot disturb the work: an operation begins when a snapshot first
 * requests it and ends when the snapshot shows its result. Operations that ended before this process started are not measured; those
 * that began before are measured from the first event that this process received.
 */
import type { VolumeSnapshot, VolumeSnapshotContent } from "../../api/types.ts";
import { keyOf } from "../../api/types.ts";
import type { Key, Millis } from "../../base/brand.ts";
import { keyIn } from "../../base/brand.ts";
import type { World } from "../../base/world.ts";
import { withoutCode } from "../../errors/codes.ts";
import { anywhere } from "../../rules/node-affinity.ts";
import { contentNameOf, sourceOf } from "../../rules/snapshot-source.ts";
import type { Instruments } from "../../runtime/metrics.ts";
import { noMemory } from "./memory.ts";
import type { snapshotMetrics } from "./metrics.ts";
import { observeSnapshot, type SnapshotOptions } from "./observe.ts";
import { phaseOf, type SnapshotPhase, snapshotPhases } from "./phase.ts";
import { isLabelledInvalid } from "./plan-label.ts";
import type { SnapshotStores } from "./triggers.ts";

type Operation = "CreateSnapshot" | "CreateSnapshotAndReady" | "DeleteSnapshot";
type Status = "success" | "cancel";

interface Measuring {
  readonly stores: SnapshotStores;
  readonly instruments: Instruments<typeof snapshotMetrics>;
  readonly world: World;
  /** A standby sees the same events as the leader and counts none of them, so that sums over replicas are correct. */
  leading(): boolean;
}

const creations = ["CreateSnapshot", "CreateSnapshotAndReady"] as const;

/** Returns the function to call before a scrape: a new leader has operations in flight of which no event has told it. */
export function measureOperations({ stores, instruments, world, leading }: Measuring): () => void {
  const startedAt = new Map<string, Millis>();
  const show = (): void => instruments.inFlight.set({}, leading() ? startedAt.size : 0);
  const keyFor = (operation: Operation, uid: string): string => `${operation} ${uid}`;
  const begin = (operation: Operation, { metadata }: VolumeSnapshot): void => {
    const key = keyFor(operation, metadata.uid);
    if (!startedAt.has(key)) startedAt.set(key, world.elapsed());
    show();
  };
  const end = (operation: Operation, snapshot: VolumeSnapshot, operation_status: Status): void => {
    const key = keyFor(operation, snapshot.metadata.uid);
    const since = startedAt.get(key);
    if (since === undefined) return;
    startedAt.delete(key);
    show();
    const labels = {
      driver_name: driverOf(stores, snapshot),
      operation_name: operation,
      snapshot_type: typeOf(snapshot),
      operation_status,
    };
    if (leading()) instruments.operations.observe(labels, (world.elapsed() - since) / 1000);
  };

  const gone = (snapshot: VolumeSnapshot): void => {
    end("DeleteSnapshot", snapshot, "success");
    for (const operation of creations) end(operation, snapshot, "cancel");
  };
  const seen = (before: VolumeSnapshot | undefined, after: VolumeSnapshot): void => {
    const { status, metadata } = after;
    if (metadata.deletionTimestamp !== undefined) begin("DeleteSnapshot", after);
    else if (before === undefined && status?.readyToUse !== true) {
      if (status?.creationTime === undefined) begin("CreateSnapshot", after);
      begin("CreateSnapshotAndReady", after);
    }
    if (status?.creationTime !== undefined) end("CreateSnapshot", after, "success");
    if (status?.readyToUse === true) end("CreateSnapshotAndReady", after, "success");
    if (before !== undefined && leading() && isNewError(before, after) && !isReported(stores, after))
      instruments.errors.add({ driver_name: driverOf(stores, after), operation_name: "CreateSnapshot" });
  };

  stores.VolumeSnapshot.onChange((before, after) => {
    if (after !== undefined) seen(before, after);
    else if (before !== undefined) gone(before);
  });
  return show;
}

const isNewError = (before: VolumeSnapshot, after: VolumeSnapshot): boolean => {
  const [old, now] = [before.status?.error, after.status?.error];
  return now !== undefined && (old?.message !== now.message || old?.time !== now.time);
};
/** An error that a sidecar reports was counted by the sidecar. A message that repeats it ends in a code of its own. */
function isReported(stores: SnapshotStores, snapshot: VolumeSnapshot): boolean {
  const said = contentOf(stores, snapshot)?.status?.error?.message;
  return said !== undefined && snapshot.status?.error?.message?.includes(withoutCode(said)) === true;
}

/** A failed reconcile is a failed attempt; an error in the object itself is reported in its status. */
export function countFailure({ stores, instruments }: Measuring, kind: keyof typeof driverFor, key: Key): void {
  const isLeaving = stores[kind].get(key)?.metadata.deletionTimestamp !== undefined;
  // A claim is written only for a snapshot that is to be taken.
  const operation_name = isLeaving && kind !== "PersistentVolumeClaim" ? "DeleteSnapshot" : "CreateSnapshot";
  instruments.errors.add({ driver_name: driverFor[kind](stores, key) ?? "unknown", operation_name });
}

const driverFor = {
  VolumeSnapshot: (stores: SnapshotStores, key: Key) => {
    const snapshot = stores.VolumeSnapshot.get(key);
    return snapshot && driverOf(stores, snapshot);
  },
  PersistentVolumeClaim: (stores: SnapshotStores, key: Key) => {
    const volumeName = stores.PersistentVolumeClaim.get(key)?.spec?.volumeName ?? "";
    return stores.PersistentVolume.get(keyIn(undefined, volumeName))?.spec?.csi?.driver;
  },
  VolumeSnapshotContent: (stores: SnapshotStores, key: Key) => {
    // CRDs without a schema let a content without a spec through.
    const content: Partial<VolumeSnapshotContent> | undefined = stores.VolumeSnapshotContent.get(key);
    return content?.spec?.driver;
  },
};

const typeOf = (snapshot: VolumeSnapshot): string =>
  sourceOf(snapshot).kind === "content" ? "pre-provisioned" : "dynamic";

const contentOf = (stores: SnapshotStores, snapshot: VolumeSnapshot) =>
  stores.VolumeSnapshotContent.get(keyIn(undefined, contentNameOf(snapshot)));

function driverOf(stores: SnapshotStores, snapshot: VolumeSnapshot): string {
  const content = contentOf(stores, snapshot);
  const named = stores.VolumeSnapshotClass.get(keyIn(undefined, snapshot.spec.volumeSnapshotClassName ?? ""));
  return content?.spec.driver ?? named?.driver ?? "unknown";
}

const stuckAfterMs = 600_000;

/** Counted at each scrape: that is cheaper than updating a count with every change. */
export function measureStates({ stores, instruments, world }: Measuring, options: SnapshotOptions): void {
  const nowMs = world.now();
  const counts = new Map<SnapshotPhase, number>(snapshotPhases.map((phase) => [phase, 0]));
  let oldestMs = 0;
  let stuck = 0;
  // The place of a volume matters only until there is a content; finding it compares all nodes, too slow for all snapshots.
  const settled: SnapshotOptions = { ...options, placeOf: () => anywhere };
  for (const snapshot of stores.VolumeSnapshot.all()) {
    const relevant = contentOf(stores, snapshot) === undefined ? options : settled;
    const view = observeSnapshot(stores, { options: relevant, memory: noMemory, nowMs }, keyOf(snapshot));
    if (view === undefined) continue;
    const phase = phaseOf(view.facts);
    counts.set(phase, (counts.get(phase) ?? 0) + 1);
    if (phase === "deleting") stuck += ageMs(snapshot.metadata.deletionTimestamp, nowMs) > stuckAfterMs ? 1 : 0;
    else if (phase !== "ready") oldestMs = Math.max(oldestMs, ageMs(snapshot.metadata.creationTimestamp, nowMs));
  }
  for (const [phase, count] of counts) instruments.phases.set({ phase }, count);
  instruments.oldestUnready.set({}, oldestMs / 1000);
  instruments.stuckDeletions.set({}, stuck);
  for (const kind of ["VolumeSnapshot", "VolumeSnapshotContent"] as const)
    instruments.invalid.set({ kind }, countOf(stores[kind].all(), isLabelledInvalid));
}

function countOf<T>(items: Iterable<T>, isCounted: (item: T) => boolean): number {
  let count = 0;
  for (const item of items) if (isCounted(item)) count += 1;
  return count;
}

const ageMs = (since: string | undefined, nowMs: Millis): Millis =>
  since === undefined ? 0 : Math.max(0, nowMs - Date.parse(since));
