/** What the driver does on its machine: one tmpfs per volume, its files, its record. The simulation has another one. */
import { lstat, realpath } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "../../../base/fault.ts";
import { errorCodeOf, fsErrorText } from "../../../base/fs-errors.ts";
import type { Log } from "../../../base/log.ts";
import { rfc3339 } from "../../../base/time.ts";
import type { World } from "../../../base/world.ts";
import { withCode } from "../../../errors/codes.ts";
import { type Mount, mountTable, unlessMissing } from "../../../node/mounts.ts";
import { asFault, type RunProgram, runProgram } from "../../../node/program.ts";
import type { FileSizes, TmpfsUse } from "./plan-memory.ts";
import { anchorOf, createRecords, type Records } from "./records.ts";
import { makeTarget, occupied, removeTarget, targetAt } from "./targets.ts";
import { createTmpfs } from "./tmpfs.ts";
import type { FileSet, VolumeSpec } from "./types.ts";
import { adoptFiles, takeBytes, wipeFiles, writeFiles } from "./volume-files.ts";
import { sizesIn, tmpfsUse } from "./volume-sizes.ts";

export interface VolumeHost {
  readonly records: Records;
  /** Mounts an empty tmpfs at the target. No mistake when it is there already, with whatever is in it. Returns whether it is new. */
  mount(spec: VolumeSpec, group?: number): Promise<boolean>;
  /** The ids of those that are mounted. */
  mounted(specs: readonly VolumeSpec[]): Promise<ReadonlySet<string>>;
  /** Targets where volumes of shares are mounted whose ids are not these, whichever driver has mounted them. */
  strays(known: ReadonlySet<string>): Promise<readonly string[]>;
  /** There is no folder for it any more. */
  isGone(target: string): Promise<boolean>;
  /**
   * Empties and unmounts what this driver has mounted at the target, and removes the folder. No mistake when nothing is there. A file that
   * cannot be removed does not keep the mount.
   */
  unmount(volume: MountedVolume): Promise<void>;
  /** Asks `mayShow` when all is ready and only the switch to the new set is left. False: it said no, and the old set stays. */
  write(target: string, files: FileSet, mayShow: () => boolean): Promise<boolean>;
  /** Takes all away, also from files that a pod has open or mounted by subPath. */
  wipe(target: string): Promise<void>;
  /** Names and sizes of the files in a mounted volume. */
  sizes(target: string): Promise<FileSizes>;
  /** What the kernel keeps for a mounted volume, removed files that are open among it; undefined: it does not say. */
  use(target: string): Promise<TmpfsUse | undefined>;
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

export function createHost(hostOptions: HostOptions): VolumeHost {
  const { recordFolder, kubeletFolder, world, log, run = runProgram, table = () => mountTable() } = hostOptions;
  const options = `mode=0755,size=${2 * hostOptions.volumeBytes},nosuid,nodev,noexec`;
  const tmpfs = createTmpfs({ run, log });
  const topAt = async (path: string): Promise<Mount | undefined> => (await table()).findLast(({ at }) => at === path);
  const label = (): string => {
    const drawn = Math.floor(world.random() * 2 ** 32).toString(16);
    return `${rfc3339(world.now()).replace(/[:.]/g, "_")}.${drawn}`;
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
  /** Its real path. Without its tmpfs, the folder is on a disk. */
  const mounted = async (path: string): Promise<string> => {
    const target = await targetAt(path);
    const top = target === undefined ? undefined : await topAt(target);
    if (target === undefined || top?.type !== "tmpfs")
      throw new Fault("FailedPrecondition", "no tmpfs is mounted there");
    return target;
  };
  return {
    records: createRecords(recordFolder),
    async mount(spec, group) {
      const target = await makeTarget(spec.target, kubeletFolder);
      const top = await topAt(target);
      if (top !== undefined && !isOurs(top, spec)) throw occupied(spec.target);
      if (top !== undefined) return false;
      await tmpfs.mount(anchorOf(spec), target, group === undefined ? options : `${options},gid=${group}`);
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
    async strays(known) {
      const pods = await realpath(join(kubeletFolder, "pods")).catch(unlessMissing(undefined));
      if (pods === undefined) return [];
      const isStray = (mount: Mount): boolean => {
        const [id = ""] = kubeletId.exec(mount.source) ?? [];
        return mount.at.startsWith(`${pods}/`) && isLikelyOurs(mount, id) && !known.has(id);
      };
      // What a pod has mounted by subPath has the same source.
      return [...new Map((await table()).filter(isStray).map(({ source, at }) => [source, at])).values()];
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
        await tmpfs.detach(target);
      }
      await removeTarget(target);
    },
    write: (path, files, mayShow) =>
      mounted(path)
        .then((target) => writeFiles(target, files, label(), mayShow))
        .catch(explained(path)),
    wipe: (path) => mounted(path).then(empty).catch(explained(path)),
    sizes: (target) => sizesIn(target),
    use: (target) => tmpfsUse(target),
    adopt: (target) => adoptFiles(target),
  };
}

/** A tmpfs of which the source names pod and volume, as upstream's does too. Nothing else is ever unmounted or emptied. */
const isOurs = ({ type, source }: Mount, spec: VolumeSpec): boolean => type === "tmpfs" && source === anchorOf(spec);

/** What the kubelet names a volume, at the end of the source of its mount. */
const kubeletId = /csi-[0-9a-f]{64}$/;

/** Without a record only the kubelet's own ids count: any other could be the end of a longer one. */
const isLikelyOurs = ({ type, source }: Mount, id: string): boolean =>
  type === "tmpfs" && kubeletId.exec(id)?.index === 0 && source.endsWith(`-${id}`);

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
