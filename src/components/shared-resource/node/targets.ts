/** The folders where volumes are mounted: below the kubelet's folder of pods, and no symbolic link themselves. */
import { lstat, realpath, rmdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Fault } from "../../../base/fault.ts";
import { errorCodeOf } from "../../../base/fs-errors.ts";
import { withCode } from "../../../errors/codes.ts";
import { makeFolders } from "../../../node/folders.ts";
import { unlessMissing } from "../../../node/mounts.ts";

/** The folder itself must not be a symbolic link; where its parents lead is the kubelet's business, as long as it is a pod's folder. */
export async function makeTarget(path: string, kubeletFolder: string): Promise<string> {
  const pods = join(kubeletFolder, "pods");
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

/** Its real path, which the mount table has; undefined: there is no such folder. */
export async function targetAt(path: string): Promise<string | undefined> {
  const parent = await realpath(dirname(path)).catch(unlessMissing(undefined));
  if (parent === undefined) return undefined;
  const target = join(parent, basename(path));
  const found = await lstat(target).catch(unlessMissing(undefined));
  return found?.isDirectory() === true ? target : undefined;
}

/** Never with what is in it: should a mount have been missed, that would be somebody's data. */
export async function removeTarget(target: string): Promise<void> {
  await rmdir(target).catch((reason: unknown) => {
    const code = errorCodeOf(reason);
    if (code === "ENOENT") return;
    if (code === "ENOTEMPTY" || code === "EBUSY" || code === "EEXIST") throw occupied(target);
    throw reason;
  });
}

export const occupied = (target: string): Fault =>
  new Fault(
    "FailedPrecondition",
    withCode(`target_path ${target} holds something that is not this volume: unmount or remove it`, "SNAP-710"),
  );
