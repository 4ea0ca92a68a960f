/** What the driver does on its machine: one tmpfs per volume, its files, its record. The simulation has another one. */
import { lstat, realpath, rmdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Fault } from "../../../base/fault.ts";
import { errorCodeOf, fsErrorText } from "../../../base/fs-errors.ts";
import { rfc3339 } from "../../../base/time.ts";
import type { World } from "../../../base/world.ts";
import { makeFolders } from "../../../node/folders.ts";
import { type Mount, mountTable, unlessMissing } from "../../../node/mounts.ts";
import { asFault, type RunProgram, runProgram } from "../../../node/program.ts";
import { withCode } from "../../../rules/error-codes.ts";
import { nodeLimits } from "./limits.ts";
import { isVolumeId } from "./plan-request.ts";
import { anchorOf, createRecords, type Records } from "./records.ts";
import type { FileSet, VolumeSpec } from "./types.ts";
import { adoptFiles, wipeFiles, writeFiles } from "./volume-files.ts";

export interface VolumeHost {
  readonly records: Records;
  /** Mounts an empty tmpfs at the target. No mistake when it is there already, with whatever is in it. Returns whether it is new. */
  mount(spec: VolumeSpec, group?: number): Promise<boolean>;
  /** The ids of those that are mounted. */
  mounted(specs: readonly VolumeSpec[]): Promise<ReadonlySet<string>>;
  /** There is no folder for it any more. */
  isGone(target: string): Promise<boolean>;
  /** Empties and unmounts what this driver has mounted at the target, and removes the folder. No mistake when nothing is there. */
  unmount(id: string, target: string): Promise<void>;
  write(target: string, files: FileSet): Promise<void>;
  wipe(target: string): Promise<void>;
  /** The digest of what is in a mounted volume; undefined: it is empty. Repairs what a killed process left half done. */
  adopt(target: string): Promise<string | undefined>;
}

export interface HostOptions {
  readonly recordFolder: string;
  readonly world: Pick<World, "now" | "random">;
  readonly run?: RunProgram | undefined;
  readonly table?: (() => Promise<readonly Mount[]>) | undefined;
}

const options = `mode=0755,size=${nodeLimits.volumeBytesMax},nosuid,nodev,noexec`;

export function createHost({
  recordFolder,
  world,
  run = runProgram,
  table = () => mountTable(),
}: HostOptions): VolumeHost {
  const topAt = async (path: string): Promise<Mount | undefined> => (await table()).findLast(({ at }) => at === path);
  const label = (): string => {
    const drawn = Math.floor(world.random() * 2 ** 32).toString(16);
    return `${rfc3339(world.now()).replace(/[:.]/g, "_")}.${drawn}`;
  };
  return {
    records: createRecords(recordFolder),
    async mount(spec, group) {
      const target = await makeTarget(spec.target);
      const top = await topAt(target);
      if (top !== undefined && !isOurs(top, spec.id)) throw occupied(spec.target);
      if (top !== undefined) return false;
      const all = group === undefined ? options : `${options},gid=${group}`;
      await run("mount", ["-t", "tmpfs", "-o", all, "--", anchorOf(spec), target]);
      return true;
    },
    async mounted(specs) {
      const tops = new Map((await table()).map((mount) => [mount.at, mount]));
      const found = new Set<string>();
      for (const { id, target } of specs) {
        const top = tops.get((await targetAt(target)) ?? "");
        if (top !== undefined && isOurs(top, id)) found.add(id);
      }
      return found;
    },
    isGone: async (target) => (await lstat(target).catch(unlessMissing(undefined))) === undefined,
    async unmount(id, path) {
      const target = await targetAt(path);
      if (target === undefined) return;
      for (let top = await topAt(target); top !== undefined && isOurs(top, id); top = await topAt(target)) {
        await wipeFiles(target);
        await run("umount", ["--", target]);
      }
      await removeFolder(target);
    },
    write: (target, files) => writeFiles(target, files, label()).catch(explained(target)),
    wipe: (target) => wipeFiles(target).catch(explained(target)),
    adopt: (target) => adoptFiles(target),
  };
}

/** A tmpfs whose source ends in the volume's id, as upstream's does too. Nothing else is ever unmounted or emptied. */
const isOurs = ({ type, source }: Mount, id: string): boolean =>
  type === "tmpfs" && isVolumeId(id) && source.endsWith(`-${id}`);

const occupied = (target: string): Fault =>
  new Fault(
    "FailedPrecondition",
    withCode(`target_path ${target} holds something that is not this volume: unmount or remove it`, "SNAP-710"),
  );

/** The folder itself must not be a symbolic link; where its parents lead is the kubelet's business. */
async function makeTarget(path: string): Promise<string> {
  await makeFolders(path, 0o750);
  const target = await targetAt(path);
  if (target === undefined) throw occupied(path);
  return target;
}

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

/** No content of a file is in such an error, only its name. */
const explained =
  (target: string) =>
  (reason: unknown): never => {
    const fault = asFault(reason);
    const code = fault instanceof Fault ? fault.code : "Internal";
    throw new Fault(code, withCode(`the files of ${target} cannot be written: ${fsErrorText(reason)}`, "SNAP-709"));
  };
