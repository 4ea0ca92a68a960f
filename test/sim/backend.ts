/**
 * A storage system that lives outside of the system under test: it does what a CSI driver is asked, keeps a ledger of every call and
 * of its real effect, and can be told to misbehave.
 */
import { Fault } from "../../src/base/fault.ts";
import type { World } from "../../src/base/world.ts";
import { Controller } from "../../src/csi/gen/csi_pb.js";
import { serve } from "../../src/csi/serve.ts";

export interface StoredSnapshot {
  readonly id: string;
  readonly name: string;
  readonly volumeId: string;
  readonly takenAtMs: number;
  readyAtMs: number;
}

export interface LedgerLine {
  readonly atMs: number;
  readonly method: "CreateSnapshot" | "DeleteSnapshot" | "ListSnapshots";
  readonly subject: string;
  readonly effect: "cut" | "again" | "deleted" | "nothing";
}

export interface Backend {
  readonly snapshots: ReadonlyMap<string, StoredSnapshot>;
  readonly ledger: readonly LedgerLine[];
  /** How long after the cut a snapshot becomes ready. */
  readyAfterMs: number;
  readonly service: ReturnType<typeof serve<typeof Controller>>;
}

export function createBackend(world: World): Backend {
  const snapshots = new Map<string, StoredSnapshot>();
  const ledger: LedgerLine[] = [];
  const note = (method: LedgerLine["method"], subject: string, effect: LedgerLine["effect"]): void =>
    void ledger.push({ atMs: world.now(), method, subject, effect });
  const message = ({ id, volumeId, takenAtMs, readyAtMs }: StoredSnapshot) => ({
    snapshotId: id,
    sourceVolumeId: volumeId,
    sizeBytes: 2n ** 30n,
    creationTime: { seconds: BigInt(Math.floor(takenAtMs / 1000)), nanos: 123_456_789 },
    readyToUse: world.now() >= readyAtMs,
  });
  const backend: Backend = {
    snapshots,
    ledger,
    readyAfterMs: 0,
    service: serve(Controller, {
      createSnapshot({ name, sourceVolumeId }) {
        const existing = [...snapshots.values()].find((snapshot) => snapshot.name === name);
        if (existing !== undefined && existing.volumeId !== sourceVolumeId)
          throw new Fault("AlreadyExists", `${name} is of another volume`);
        const takenAtMs = world.now();
        const snapshot = existing ?? {
          id: `handle-${name}`,
          name,
          volumeId: sourceVolumeId,
          takenAtMs,
          readyAtMs: takenAtMs + backend.readyAfterMs,
        };
        snapshots.set(snapshot.id, snapshot);
        note("CreateSnapshot", name, existing === undefined ? "cut" : "again");
        return { snapshot: message(snapshot) };
      },
      deleteSnapshot({ snapshotId }) {
        note("DeleteSnapshot", snapshotId, snapshots.delete(snapshotId) ? "deleted" : "nothing");
        return {};
      },
      listSnapshots({ snapshotId }) {
        note("ListSnapshots", snapshotId, "nothing");
        return {
          entries: [...snapshots.values()]
            .filter(({ id }) => id === snapshotId)
            .map((snapshot) => ({ snapshot: message(snapshot) })),
        };
      },
    }),
  };
  return backend;
}
