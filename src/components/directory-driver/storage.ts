/** Volumes and snapshots on plain directories: what the driver promises, without the protocol around it. */
import { mkdir, open, statfs } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "../../base/fault.ts";
import type { Log } from "../../base/log.ts";
import type { World } from "../../base/world.ts";
import { idFor, isId } from "./ids.ts";
import { openShelf, type Shelf } from "./shelf.ts";
import { copyFaithfully } from "./system.ts";

/** A tree of files, or one file that stands for a block device. */
export type Mode = "mount" | "block";
export type Origin = { readonly kind: "empty" } | { readonly kind: "snapshot" | "volume"; readonly id: string };

export interface Volume {
  readonly id: string;
  readonly name: string;
  readonly mode: Mode;
  readonly bytes: number;
  readonly origin: Origin;
  /** Lives and dies with a pod. */
  readonly ephemeral: boolean;
}

export interface Snapshot {
  readonly id: string;
  readonly name: string;
  readonly volumeId: string;
  readonly mode: Mode;
  readonly bytes: number;
  readonly takenAtMs: number;
}

export interface VolumeWish extends Pick<Volume, "name" | "mode" | "origin"> {
  readonly ephemeral?: boolean;
  readonly bytesMin: number;
  /** 0: no limit. */
  readonly bytesMax: number;
}

export interface Storage {
  readonly volumes: Pick<Shelf<Volume>, "get" | "all">;
  readonly snapshots: Pick<Shelf<Snapshot>, "get" | "all">;
  /** The folder or image of a volume, to be mounted or looked at. */
  dataOf(volume: Volume): string;
  snapshotDataOf(snapshot: Snapshot): string;
  createVolume(wish: VolumeWish, signal?: AbortSignal): Promise<Volume>;
  deleteVolume(id: string): Promise<void>;
  expandVolume(id: string, bytesMin: number): Promise<Volume>;
  takeSnapshot(name: string, volumeId: string, signal?: AbortSignal): Promise<Snapshot>;
  deleteSnapshot(id: string): Promise<void>;
  freeBytes(): Promise<bigint>;
}

const defaultBytes = 2 ** 30;

export async function openStorage(root: string, world: World, log: Log): Promise<Storage> {
  await mkdir(root, { recursive: true, mode: 0o750 });
  const volumes = await openShelf<Volume>(root, "volumes", log);
  const snapshots = await openShelf<Snapshot>(root, "snapshots", log);
  const dataOf = ({ id, mode }: Volume): string => join(volumes.folder(id), fileOf(mode));
  const snapshotDataOf = ({ id, mode }: Snapshot): string => join(snapshots.folder(id), fileOf(mode));

  const sourceOf = ({ origin, mode }: VolumeWish): { readonly path: string; readonly bytes: number } | undefined => {
    if (origin.kind === "empty") return undefined;
    const source = origin.kind === "snapshot" ? snapshots.get(origin.id) : volumes.get(origin.id);
    if (source === undefined) throw new Fault("NotFound", `source ${origin.kind} ${origin.id} does not exist`);
    if (source.mode !== mode)
      throw new Fault(
        "InvalidArgument",
        `source ${origin.kind} ${origin.id} is a ${source.mode} volume, asked for is a ${mode} volume`,
      );
    return { path: "takenAtMs" in source ? snapshotDataOf(source) : dataOf(source), bytes: source.bytes };
  };

  return {
    volumes,
    snapshots,
    dataOf,
    snapshotDataOf,
    async createVolume(wish, signal) {
      const id = idFor(wish.name);
      const existing = volumes.get(id);
      if (existing !== undefined) return sameVolume(existing, wish);
      const source = sourceOf(wish);
      const bytes = sizeFor(wish, source?.bytes);
      const { name, mode, origin, ephemeral = false } = wish;
      const volume: Volume = { id, name, mode, bytes, origin, ephemeral };
      await volumes.add(volume, async (folder) => {
        const data = join(folder, fileOf(mode));
        if (source !== undefined) await copyFaithfully(source.path, data, signal);
        else if (mode === "mount") await mkdir(data, { mode: 0o777 });
        if (mode === "block") await growTo(data, bytes);
        else if (source === undefined) await openToAll(data);
      });
      return volume;
    },
    async deleteVolume(id) {
      if (isId(id) && volumes.get(id) !== undefined) await volumes.remove(id);
    },
    async expandVolume(id, bytesMin) {
      const volume = volumes.get(id);
      if (volume === undefined) throw new Fault("NotFound", `volume ${id} does not exist`);
      if (volume.bytes >= bytesMin) return volume;
      if (volume.mode === "block") await growTo(dataOf(volume), bytesMin);
      const grown = { ...volume, bytes: bytesMin };
      await volumes.update(grown);
      return grown;
    },
    async takeSnapshot(name, volumeId, signal) {
      const id = idFor(name);
      const existing = snapshots.get(id);
      if (existing !== undefined && existing.volumeId !== volumeId)
        throw new Fault("AlreadyExists", `snapshot ${id} exists already, of volume ${existing.volumeId}`);
      if (existing !== undefined) return existing;
      const volume = volumes.get(volumeId);
      if (volume === undefined) throw new Fault("NotFound", `volume ${volumeId} does not exist`);
      const snapshot: Snapshot = { id, name, volumeId, mode: volume.mode, bytes: volume.bytes, takenAtMs: world.now() };
      await snapshots.add(
        snapshot,
        async (folder) => void (await copyFaithfully(dataOf(volume), join(folder, fileOf(volume.mode)), signal)),
      );
      return snapshot;
    },
    async deleteSnapshot(id) {
      if (isId(id) && snapshots.get(id) !== undefined) await snapshots.remove(id);
    },
    async freeBytes() {
      const { bavail, bsize } = await statfs(root, { bigint: true });
      return bavail * bsize;
    },
  };
}

const fileOf = (mode: Mode): string => (mode === "mount" ? "data" : "image");

function sameVolume(existing: Volume, { mode, bytesMin, bytesMax, origin }: VolumeWish): Volume {
  const fits = existing.bytes >= bytesMin && (bytesMax === 0 || existing.bytes <= bytesMax);
  const sameOrigin =
    existing.origin.kind === origin.kind &&
    (origin.kind === "empty" || ("id" in existing.origin && existing.origin.id === origin.id));
  if (fits && sameOrigin && existing.mode === mode) return existing;
  throw new Fault(
    "AlreadyExists",
    `volume ${existing.id} exists already and differs in ${fits ? (sameOrigin ? "mode" : "source") : "size"}`,
  );
}

/** As large as its source, as asked for, or as the default, whichever is most; never above the limit. */
function sizeFor({ bytesMin, bytesMax }: VolumeWish, sourceBytes: number | undefined): number {
  if (bytesMax !== 0 && bytesMin > bytesMax)
    throw new Fault("InvalidArgument", `required_bytes ${bytesMin} is more than limit_bytes ${bytesMax}`);
  const least =
    Math.max(bytesMin, sourceBytes ?? 0) || (bytesMax === 0 ? defaultBytes : Math.min(defaultBytes, bytesMax));
  if (bytesMax !== 0 && least > bytesMax)
    throw new Fault("OutOfRange", `the source needs ${least} bytes, the limit is ${bytesMax}`);
  return least;
}

/** The image is as long as the volume is large, and takes no room until it is written to. */
async function growTo(path: string, bytes: number): Promise<void> {
  const file = await open(path, "a", 0o660);
  try {
    if ((await file.stat()).size < bytes) await file.truncate(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Pods run as any user; the mode given to mkdir is cut by the umask. */
async function openToAll(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.chmod(0o777);
  } finally {
    await folder.close();
  }
}
