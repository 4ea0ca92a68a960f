/** What the driver does on its machine: one tmpfs per volume, its files, its record. The simulation has another one. */
import { lstat, realpath, rmdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Fault } from "../../../base/fault.ts";
import { errorCodeOf, fsErrorText } from "../../../base/fs-errors.ts";
import type { Log } from "../../../base/log.ts";
import { rfc3339 } from "../../../base/time.ts";
import type { World } from "../../../base/world.ts";
import { makeFolders } from "../../../node/folders.ts";
import { type Mount, mountTable, unlessMissing } from "../../../node/mounts.ts";
import { asFault, type RunProgram, runProgram } from "../../../node/program.ts";
import { withCode } from "../../../rules/error-codes.ts";
import type { FileSizes } from "./plan-memory.ts";
import { anchorOf, createRecords, type Records } from "./records.ts";
import type { FileSet, VolumeSpec } from "./types.ts";
import { adoptFiles, takeBytes, wipeFiles, writeFiles } from "./volume-files.ts";
import { sizesIn } from "./volume-sizes.ts";

export interface VolumeHost {
  readonly records: Records;
  /** Mounts an empty tmpfs at the target. No mistake when it is there already, with whatever is in it. Returns whether it is new. */
  mount(spec: VolumeSpec, group?: number): Promise<boolean>;
  /** The ids of those that are mounted. */
  mounted(specs: readonly VolumeSpec[]): Promise<ReadonlySet<string>>;
  /** There is no folder for it any more. */
  isGone(target: string): Promise<boolean>;
  /**
   * Empties and unmounts what this driver has mounted at the target, and removes the folder. No mistake when nothing is there. A file that
   * cannot be removed does not keep the mount.
   */
  unmount(volume: MountedVolume): Promise<void>;
  write(target: string, files: FileSet): Promise<void>;
  /** Takes all away, also from files that a pod has open or mounted by subPath. */
  wipe(target: string): Promise<void>;
  /** Names and sizes of the files in a mounted volume. */
  sizes(target: string): Promise<FileSizes>;
  /** The digest of what is in a mounted volume; undefined: it is empty. Repairs what a killed process left half done. */
  adopt(target: string): Promise<string | undefined>;
}

/** What an unpublish says, and what is known of the volume beside. */
export interface MountedVolume extends Pick<VolumeSpec, "id" | "target"> {
  /** Undefined: there is no record of it. */
  readonly spec: VolumeSpec | undefined;
}

export interface HostOptions {
  readonly recordFolder: string;
  /** Where the kubelet has the folders of its pods. Nothing is mounted elsewhere. */
  readonly kubeletFolder: string;
  /** What the files of one volume may take: the tmpfs holds two sets of them, because the old one is there until the new one is. */
  readonly volumeBytes: number;
  readonly world: Pick<World, "now" | "random">;
  readonly log: Log;
  readonly run?: RunProgram | undefined;
  readonly table?: (() => Promise<readonly Mount[]>) | undefined;
}

/** Linux 6.4 or newer: no byte of a Secret gets onto a disk. */
const noSwap = "noswap";

export function createHost(hostOptions: HostOptions): VolumeHost {
  const { recordFolder, kubeletFolder, world, log, run = runProgram, table = () => mountTable() } = hostOptions;
  const options = `mode=0755,size=${2 * hostOptions.volumeBytes},nosuid,nodev,noexec`;
  const topAt = async (path: string): Promise<Mount | undefined> => (await table()).findLast(({ at }) => at === path);
  const label = (): string => {
    const drawn = Math.floor(world.random() * 2 ** 32).toString(16);
    return `${rfc3339(world.now()).replace(/[:.]/g, "_")}.${drawn}`;
  };
  let hasNoSwap = true;
  const mountTmpfs = async (source: string, target: string, wanted: string): Promise<void> => {
    const withOptions = (all: string) => run("mount", ["-t", "tmpfs", "-o", all, "--", source, target]);
    if (hasNoSwap && (await withOptions(`${wanted},${noSwap}`).then(yes, no))) return;
    await withOptions(wanted);
    if (hasNoSwap) log.info("the kernel has no tmpfs option noswap: turn swap off, or use Linux 6.4 or newer");
    hasNoSwap = false;
  };
  /** Files that a pod has mounted by subPath stay where they are shown when they are removed here. */
  const emptyBinds = async (target: string): Promise<void> => {
    const mounts = await table();
    const device = mounts.findLast(({ at }) => at === target)?.device;
    const binds = mounts.filter((mount) => mount.device === device && mount.at !== target);
    const ends = await Promise.allSettled(binds.map(({ at }) => takeBytes(at).catch(unlessFolder)));
    for (const end of ends) if (end.status === "rejected") throw end.reason;
  };
  const empty = async (target: string): Promise<void> => {
    const ends = await Promise.allSettled([wipeFiles(target), emptyBinds(target)]);
    for (const end of ends) if (end.status === "rejected") throw end.reason;
  };
  const detach = async (target: string): Promise<void> => {
    if (await run("umount", ["--", target]).then(yes, no)) return;
    // Somebody looks into it, or has mounted something in it. It is empty, and its pod must be able to end.
    await run("umount", ["-l", "--", target]);
    log.info("a volume was in use when it was unmounted", { target });
  };
  /** Without its tmpfs, the folder is on a disk. */
  const mustBeMounted = async (target: string): Promise<void> => {
    if ((await topAt(target))?.type !== "tmpfs") throw new Fault("FailedPrecondition", "no tmpfs is mounted there");
  };
  return {
    records: createRecords(recordFolder),
    async mount(spec, group) {
      const target = await makeTarget(spec.target, join(kubeletFolder, podFolders));
      const top = await topAt(target);
      if (top !== undefined && !isOurs(top, spec)) throw occupied(spec.target);
      if (top !== undefined) return false;
      await mountTmpfs(anchorOf(spec), target, group === undefined ? options : `${options},gid=${group}`);
      return true;
    },
    async mounted(specs) {
      const tops = new Map((await table()).map((mount) => [mount.at, mount]));
      const found = new Set<string>();
      for (const spec of specs) {
        const top = tops.get((await targetAt(spec.target)) ?? "");
        if (top !== undefined && isOurs(top, spec)) found.add(spec.id);
      }
      return found;
    },
    isGone: async (target) => (await lstat(target).catch(unlessMissing(undefined))) === undefined,
    async unmount({ id, target: path, spec }) {
      const target = await targetAt(path);
      if (target === undefined) return;
      const isThis = (mount: Mount): boolean => (spec === undefined ? isLikelyOurs(mount, id) : isOurs(mount, spec));
      for (let top = await topAt(target); top !== undefined && isThis(top); top = await topAt(target)) {
        await empty(target).catch((reason: unknown) =>
          log.warn("files could not be removed before their volume was unmounted", {
            target,
            reason: fsErrorText(reason),
          }),
        );
        await detach(target);
      }
      await removeFolder(target);
    },
    write: (target, files) =>
      mustBeMounted(target)
        .then(() => writeFiles(target, files, label()))
        .catch(explained(target)),
    wipe: (target) =>
      mustBeMounted(target)
        .then(() => empty(target))
        .catch(explained(target)),
    sizes: (target) => sizesIn(target),
    adopt: (target) => adoptFiles(target),
  };
}

const yes = (): boolean => true;
const no = (): boolean => false;

/** A tmpfs of which the source names pod and volume, as upstream's does too. Nothing else is ever unmounted or emptied. */
const isOurs = ({ type, source }: Mount, spec: VolumeSpec): boolean => type === "tmpfs" && source === anchorOf(spec);

/** Without a record only the kubelet's own ids count: any other could be the end of a longer one. */
const isLikelyOurs = ({ type, source }: Mount, id: string): boolean =>
  type === "tmpfs" && /^csi-[0-9a-f]{64}$/.test(id) && source.endsWith(`-${id}`);

const occupied = (target: string): Fault =>
  new Fault(
    "FailedPrecondition",
    withCode(`target_path ${target} holds something that is not this volume: unmount or remove it`, "SNAP-710"),
  );

/** In the kubelet's folder, as the folders of its pods. */
const podFolders = "pods";

/** The folder itself must not be a symbolic link; where its parents lead is the kubelet's business, as long as it is a pod's folder. */
async function makeTarget(path: string, pods: string): Promise<string> {
  if (!path.startsWith(`${pods}/`)) throw outside(path, pods);
  await makeFolders(pods, 0o750);
  const root = await realpath(pods);
  if (!`${await nearestTo(path)}/`.startsWith(`${root}/`)) throw outside(path, pods);
  await makeFolders(path, 0o750);
  const target = await targetAt(path);
  if (target === undefined) throw occupied(path);
  return target;
}

/** The real path of the folder, or of the nearest one above it that exists. */
async function nearestTo(path: string): Promise<string> {
  const parent = dirname(path);
  return (await realpath(parent).catch(unlessMissing(undefined))) ?? nearestTo(parent);
}

const outside = (target: string, pods: string): Fault =>
  new Fault(
    "InvalidArgument",
    withCode(
      `target_path ${target} is not below ${pods}, where the kubelet has the folders of its pods: set --kubelet-folder to the kubelet's --root-dir`,
      "SNAP-701",
    ),
  );

async function targetAt(path: string): Promise<string | undefined> {
  const parent = await realpath(dirname(path)).catch(unlessMissing(undefined));
  if (parent === undefined) return undefined;
  const target = join(parent, basename(path));
  const found = await lstat(target).catch(unlessMissing(undefined));
  return found?.isDirectory() === true ? target : undefined;
}

/** Never with what is in it: should a mount have been missed, that would be somebody's data. */
async function removeFolder(target: string): Promise<void> {
  await rmdir(target).catch((reason: unknown) => {
    const code = errorCodeOf(reason);
    if (code === "ENOENT") return;
    if (code === "ENOTEMPTY" || code === "EBUSY" || code === "EEXIST") throw occupied(target);
    throw reason;
  });
}

/** A folder that is shown elsewhere holds nothing once its files are gone. */
const unlessFolder = (reason: unknown): void => {
  if (errorCodeOf(reason) !== "EISDIR") throw reason;
};

/** No content of a file is in such an error, only its name. */
const explained =
  (target: string) =>
  (reason: unknown): never => {
    const fault = asFault(reason);
    const code = fault instanceof Fault ? fault.code : "Internal";
    throw new Fault(code, withCode(`the files of ${target} cannot be written: ${fsErrorText(reason)}`, "SNAP-709"));
  };
