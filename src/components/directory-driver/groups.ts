/**
 * Taking and deleting groups of snapshots. A group is one folder, which appears by one rename when all members are copied: a crash in
 * the middle leaves nothing. The members are copied one after the other, so they are not of one moment: plain directories cannot be
 * frozen.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "../../base/fault.ts";
import type { Log } from "../../base/log.ts";
import { idFor } from "./ids.ts";
import type { Premises } from "./storage.ts";
import { dataFile, type Group, known, type Snapshot } from "./types.ts";

export interface GroupWork {
  takeGroup(name: string, volumeIds: readonly string[]): Promise<Group>;
  deleteGroup(id: string): Promise<void>;
}

const separator = ".m";
const memberId = (groupId: string, index: number): string => `${groupId}${separator}${index}`;
/** The group that a snapshot of this id would be a member of. */
export const groupIdIn = (snapshotId: string): string =>
  snapshotId.slice(0, Math.max(0, snapshotId.lastIndexOf(separator)));
export const memberFolder = (groupFolder: string, snapshotId: string): string => join(groupFolder, snapshotId);

export const groupWork = (
  { volumes, snapshots, groups, holds, world, dataOf, copy }: Premises,
  log: Log,
): GroupWork => ({
  async takeGroup(name, volumeIds) {
    const id = idFor(name);
    holds.mustRest(`group ${id}`);
    const existing = groups.get(id);
    if (existing !== undefined) return sameGroup(existing, name, volumeIds);
    const sources = volumeIds.map((volumeId) => known(volumes, volumeId));
    const members: readonly Snapshot[] = sources.map(({ id: volumeId, mode, bytes }, index) => {
      const member = memberId(id, index);
      if (snapshots.get(member) !== undefined)
        throw new Fault("AlreadyExists", `snapshot ${member} exists already, and is no member of group ${id}`);
      return { id: member, name: member, volumeId, mode, bytes, takenAtMs: world.now(), groupId: id };
    });
    const group: Group = { id, name, members };
    const reads = volumeIds.map((volumeId) => `volume ${volumeId}`);
    await holds.during({ changes: `group ${id}`, reads }, () =>
      groups.add(group, async (folder) => {
        for (const [index, source] of sources.entries()) {
          const place = memberFolder(folder, memberId(id, index));
          await mkdir(place, { mode: 0o750 });
          await copy(dataOf(source), join(place, dataFile(source.mode)), source.mode);
        }
      }),
    );
    log.info("group snapshot taken: its members were copied one after the other and are not of one moment", {
      group: id,
      members: members.length,
    });
    return group;
  },
  async deleteGroup(id) {
    holds.mustRest(`group ${id}`);
    // A member that is being restored is held, and so is the group then.
    const steps = [`group ${id}`, ...(groups.get(id)?.members ?? []).map((member) => `snapshot ${member.id}`)];
    await steps.reduceRight<() => Promise<void>>(
      (next, changes) => () => holds.during({ changes }, next),
      () => groups.remove(id),
    )();
  },
});

function sameGroup(existing: Group, name: string, volumeIds: readonly string[]): Group {
  const taken = new Set(existing.members.map(({ volumeId }) => volumeId));
  const isSame = taken.size === volumeIds.length && volumeIds.every((id) => taken.has(id));
  if (isSame && existing.name === name) return existing;
  throw new Fault("AlreadyExists", `group ${existing.id} exists already, of volumes ${[...taken].join(", ")}`);
}
