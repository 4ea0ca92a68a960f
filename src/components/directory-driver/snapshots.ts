/** Taking and deleting snapshots. */
import { join } from "node:path";
import { Fault } from "../../base/fault.ts";
import { idFor } from "./ids.ts";
import type { Premises } from "./storage.ts";
import { dataFile, known, type Snapshot } from "./types.ts";

export interface SnapshotWork {
  takeSnapshot(name: string, volumeId: string): Promise<Snapshot>;
  deleteSnapshot(id: string): Promise<void>;
}

export const snapshotWork = ({
  volumes,
  snapshots,
  allSnapshots,
  holds,
  world,
  dataOf,
  copy,
}: Premises): SnapshotWork => ({
  async takeSnapshot(name, volumeId) {
    const id = idFor(name);
    holds.mustRest(`snapshot ${id}`);
    const existing = allSnapshots.get(id);
    if (existing !== undefined) return sameSnapshot(existing, name, volumeId);
    const volume = known(volumes, volumeId);
    const { mode, bytes } = volume;
    const snapshot: Snapshot = { id, name, volumeId, mode, bytes, takenAtMs: world.now() };
    await holds.during({ changes: `snapshot ${id}`, reads: `volume ${volumeId}` }, () =>
      snapshots.add(snapshot, (folder) => copy(dataOf(volume), join(folder, dataFile(mode)), mode)),
    );
    return snapshot;
  },
  async deleteSnapshot(id) {
    holds.mustRest(`snapshot ${id}`);
    const { groupId } = allSnapshots.get(id) ?? {};
    if (groupId !== undefined)
      throw new Fault("InvalidArgument", `snapshot ${id} is a member of group ${groupId}: delete the group`);
    await holds.during({ changes: `snapshot ${id}` }, () => snapshots.remove(id));
  },
});

function sameSnapshot(existing: Snapshot, name: string, volumeId: string): Snapshot {
  if (existing.volumeId === volumeId && existing.name === name) return existing;
  throw new Fault("AlreadyExists", `snapshot ${existing.id} exists already, of volume ${existing.volumeId}`);
}
