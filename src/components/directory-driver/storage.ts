/** Volumes and snapshots on plain directories: what the driver promises, without the protocol around it. */
import { statfs } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Fault } from "../../base/fault.ts";
import { fsErrorText } from "../../base/fs-errors.ts";
import type { Log } from "../../base/log.ts";
import type { World } from "../../base/world.ts";
import { makeFolders, removeEmpty } from "../../node/folders.ts";
import type { Mode } from "../../node/mounting.ts";
import { createMounting, type Mounting } from "../../node/mounting.ts";
import { createOperationLocks, type OperationLocks } from "../../node/operation-locks.ts";
import { copyFaithfully } from "./copy.ts";
import { type DirectoryStore, openDirectoryStore, storeFolders } from "./directory-store.ts";
import { type GroupWork, groupIdIn, groupWork, memberFolder } from "./groups.ts";
import { lockRoot } from "./root-lock.ts";
import { type SnapshotWork, snapshotWork } from "./snapshots.ts";
import { dataFile, type Group, type Snapshot, type Volume } from "./types.ts";
import { type VolumeWork, volumeWork } from "./volumes.ts";

/** Every change goes on when its caller has given up waiting: else what takes long would never be done. */
export interface Storage extends VolumeWork, SnapshotWork, GroupWork {
  readonly volumes: Pick<DirectoryStore<Volume>, "get" | "all">;
  /** Members of groups are among them. */
  readonly snapshots: Pick<DirectoryStore<Snapshot>, "get" | "all">;
  readonly groups: Pick<DirectoryStore<Group>, "get" | "all">;
  /** The folder or image of a volume, to be mounted or looked at. */
  dataOf(volume: Volume): string;
  snapshotDataOf(snapshot: Snapshot): string;
  freeBytes(): Promise<bigint>;
  /** Aborts running copies, which leave nothing behind, and unlocks the root. */
  close(): Promise<void>;
  /** After a start that failed elsewhere: removes a root that was new, and is empty. To be called after `close`. */
  discard(): Promise<void>;
}

/** What the work on volumes and on snapshots has in common. */
export interface Premises extends Pick<Storage, "dataOf" | "snapshotDataOf"> {
  readonly volumes: DirectoryStore<Volume>;
  /** Those that were taken singly. */
  readonly snapshots: DirectoryStore<Snapshot>;
  readonly groups: DirectoryStore<Group>;
  /** Any snapshot, also a member of a group. */
  readonly allSnapshots: Storage["snapshots"];
  readonly holds: OperationLocks;
  readonly world: World;
  copy(from: string, to: string, mode: Mode): Promise<void>;
}

async function openRoot(root: string, world: World, log: Log) {
  const made = await makeFolders(root, 0o750);
  /** What a start has made and never used. Nothing that holds anything is removed. */
  const discard = async (): Promise<void> => {
    if (made.length > 0)
      await removeEmpty([
        ...made,
        ...storeFolders(root, "volumes"),
        ...storeFolders(root, "snapshots"),
        ...storeFolders(root, "groups"),
      ]);
  };
  try {
    const unlock = await lockRoot(root);
    const stores = await openStores(root, world, log).catch(async (reason: unknown) => {
      await unlock();
      throw reason;
    });
    return { unlock, discard, ...stores };
  } catch (reason) {
    await discard();
    throw reason;
  }
}

export async function openStorage(
  folder: string,
  world: World,
  log: Log,
  { flushLoops }: Pick<Mounting, "flushLoops"> = createMounting(),
): Promise<Storage> {
  const root = resolve(folder);
  const { unlock, discard, volumes, snapshots, groups } = await openRoot(root, world, log).catch((reason: unknown) => {
    if (reason instanceof Fault) throw reason;
    const path = (reason as { readonly path?: string }).path ?? root;
    const problem = `volumes cannot be kept at ${path}: ${fsErrorText(reason)}; choose another --root`;
    throw new Fault("FailedPrecondition", problem, { cause: reason });
  });
  const holds = createOperationLocks();
  const closing = new AbortController();
  const membersOf = (id: string): readonly Snapshot[] => groups.get(id)?.members ?? [];
  const allSnapshots: Storage["snapshots"] = {
    get: (id) => snapshots.get(id) ?? membersOf(groupIdIn(id)).find((member) => member.id === id),
    all: () =>
      [...snapshots.all(), ...groups.all().flatMap(({ members }) => members)].sort((a, b) => (a.id < b.id ? -1 : 1)),
  };
  const premises: Premises = {
    volumes,
    snapshots,
    groups,
    allSnapshots,
    holds,
    world,
    dataOf: ({ id, mode }) => join(volumes.folder(id), dataFile(mode)),
    snapshotDataOf: ({ id, mode, groupId }) =>
      groupId === undefined
        ? join(snapshots.folder(id), dataFile(mode))
        : join(memberFolder(groups.folder(groupId), id), dataFile(mode)),
    async copy(from, to, mode) {
      if (mode === "block") await flushLoops(from);
      const gone = await copyFaithfully(from, to, closing.signal);
      if (gone > 0) log.info("files disappeared during the copy", { from, gone });
    },
  };
  return {
    ...volumeWork(premises),
    ...snapshotWork(premises),
    ...groupWork(premises, log),
    volumes,
    snapshots: allSnapshots,
    groups,
    dataOf: premises.dataOf,
    snapshotDataOf: premises.snapshotDataOf,
    async freeBytes() {
      const { bavail, bsize } = await statfs(root, { bigint: true });
      return bavail * bsize;
    },
    async close() {
      closing.abort(new Fault("Unavailable", "the driver is shutting down"));
      await holds.settled();
      await unlock();
    },
    discard,
  };
}

const openStores = async (root: string, world: World, log: Log) => ({
  volumes: await openDirectoryStore<Volume>({ root, name: "volumes", world, log }),
  snapshots: await openDirectoryStore<Snapshot>({ root, name: "snapshots", world, log }),
  groups: await openDirectoryStore<Group>({ root, name: "groups", world, log }),
});
