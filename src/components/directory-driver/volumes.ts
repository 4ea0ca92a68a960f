/** Making, growing and deleting volumes. */
import { chmod, mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "../../base/fault.ts";
import { asFault } from "../../node/program.ts";
import { idFor } from "./ids.ts";
import type { Premises } from "./storage.ts";
import { dataFile, known, type Volume, type VolumeRequest } from "./types.ts";

export interface VolumeWork {
  createVolume(request: VolumeRequest): Promise<Volume>;
  deleteVolume(id: string): Promise<void>;
  expandVolume(id: string, bytesMin: number): Promise<Volume>;
}

export const volumeWork = (premises: Premises): VolumeWork => {
  const { volumes, holds, dataOf, copy } = premises;
  return {
    async createVolume(wanted) {
      const id = idFor(wanted.name);
      holds.mustRest(`volume ${id}`);
      const existing = volumes.get(id);
      if (existing !== undefined) return sameVolume(existing, wanted);
      const source = sourceOf(wanted, premises);
      const bytes = sizeFor(wanted, source?.bytes);
      const { name, mode, origin, ephemeral = false } = wanted;
      const volume: Volume = { id, name, mode, bytes, origin, ephemeral };
      const fill = async (folder: string): Promise<void> => {
        const data = join(folder, dataFile(mode));
        if (source !== undefined) await copy(source.path, data, mode);
        else if (mode === "mount") await makeOpenFolder(data);
        if (mode === "block") await growTo(data, bytes);
      };
      await holds.during({ changes: `volume ${id}`, reads: source?.item }, () => volumes.add(volume, fill));
      return volume;
    },
    async deleteVolume(id) {
      holds.mustRest(`volume ${id}`);
      await holds.during({ changes: `volume ${id}` }, () => volumes.remove(id));
    },
    async expandVolume(id, bytesMin) {
      const volume = known(volumes, id);
      if (volume.bytes >= bytesMin) return volume;
      const grown = { ...volume, bytes: bytesMin };
      await holds.during({ changes: `volume ${id}` }, async () => {
        if (volume.mode === "block") await growTo(dataOf(volume), bytesMin);
        await volumes.update(grown);
      });
      return grown;
    },
  };
};

interface Source {
  /** The name under which it is locked against changes while it is copied. */
  readonly item: string;
  readonly path: string;
  readonly bytes: number;
}

function sourceOf({ origin, mode }: VolumeRequest, premises: Premises): Source | undefined {
  if (origin.kind === "empty") return undefined;
  const { volumes, allSnapshots, dataOf, snapshotDataOf } = premises;
  const source = origin.kind === "snapshot" ? allSnapshots.get(origin.id) : volumes.get(origin.id);
  if (source === undefined) throw new Fault("NotFound", `source ${origin.kind} ${origin.id} does not exist`);
  if (source.mode !== mode)
    throw new Fault(
      "InvalidArgument",
      `source ${origin.kind} ${origin.id} is a ${source.mode} volume, asked for is a ${mode} volume`,
    );
  const path = "takenAtMs" in source ? snapshotDataOf(source) : dataOf(source);
  return { item: `${origin.kind} ${origin.id}`, path, bytes: source.bytes };
}

function sameVolume(existing: Volume, wish: VolumeRequest): Volume {
  const { mode, bytesMin, bytesMax, origin, ephemeral = false } = wish;
  const sameOrigin =
    existing.origin.kind === origin.kind &&
    (origin.kind === "empty" || ("id" in existing.origin && existing.origin.id === origin.id));
  const differs: Readonly<Record<string, boolean>> = {
    size: existing.bytes < bytesMin || (bytesMax !== 0 && existing.bytes > bytesMax),
    source: !sameOrigin,
    mode: existing.mode !== mode,
    lifetime: existing.ephemeral !== ephemeral,
    name: existing.name !== wish.name,
  };
  const difference = Object.keys(differs).find((what) => differs[what]);
  if (difference === undefined) return existing;
  throw new Fault("AlreadyExists", `volume ${existing.id} exists already and differs in its ${difference}`);
}

const defaultBytes = 2 ** 30;

/** As large as its source, as asked for, or as the default, whichever is most; never above the limit. */
function sizeFor({ bytesMin, bytesMax }: VolumeRequest, sourceBytes: number | undefined): number {
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
  } catch (reason) {
    throw asFault(reason);
  } finally {
    await file.close();
  }
}

/** Pods run as any user; the umask reduces the mode given to mkdir. */
async function makeOpenFolder(path: string): Promise<void> {
  await mkdir(path);
  await chmod(path, 0o777);
}
