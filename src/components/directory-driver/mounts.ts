/** What is mounted where, and binding a folder or a device to another place. */
import { readFile, realpath } from "node:fs/promises";
import { runProgram } from "./program.ts";

export interface Mount {
  /** Of the file system, as "major:minor". */
  readonly device: string;
  /** What of its file system is shown: a bound folder shows as its path there. */
  readonly root: string;
  readonly at: string;
  readonly readOnly: boolean;
}

/** In the order they were mounted: of two at one place the last is on top. */
export function parseMounts(table: string): readonly Mount[] {
  return table
    .split("\n")
    .map((line) => line.split(" "))
    .filter((fields) => fields.length > 5)
    .map(([, , device = "", root = "", at = "", options = ""]) => ({
      device,
      root: unescaped(root),
      at: unescaped(at),
      readOnly: options.split(",").includes("ro"),
    }));
}

/** The kernel writes blanks, tabs, newlines and backslashes in octal. */
const unescaped = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_match, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));

/** Only where there is no table is nothing mounted. One that cannot be read (too many open files) must not make a volume look unused. */
export const mountTable = async (path = "/proc/self/mountinfo"): Promise<readonly Mount[]> =>
  parseMounts(await readFile(path, "utf8").catch(unlessMissing("")));

/** What to take instead of something that is not there; every other trouble stays one. */
export const unlessMissing =
  <T>(otherwise: T) =>
  (reason: NodeJS.ErrnoException): T => {
    if (reason.code !== "ENOENT" && reason.code !== "ENOTDIR") throw reason;
    return otherwise;
  };

type Place = Pick<Mount, "device" | "root">;

const isBelow = (path: string, folder: string): boolean =>
  folder === "/" || path === folder || path.startsWith(`${folder}/`);

/** Where a path lies on its file system. The path must be a real one: the table knows no symbolic links. */
export function placeOf(mounts: readonly Mount[], path: string): Place | undefined {
  const around = mounts
    .filter(({ at }) => isBelow(path, at))
    .reduce<Mount | undefined>((best, mount) => (mount.at.length >= (best?.at.length ?? 0) ? mount : best), undefined);
  if (around === undefined) return undefined;
  const rest = around.at === "/" ? path : path.slice(around.at.length);
  return { device: around.device, root: around.root === "/" ? rest || "/" : `${around.root}${rest}` };
}

/** The mounts that show the path, or something below it, elsewhere. */
export function bindsIn(mounts: readonly Mount[], path: string): readonly Mount[] {
  const place = placeOf(mounts, path);
  if (place === undefined) return [];
  return mounts.filter(({ device, root, at }) => device === place.device && at !== path && isBelow(root, place.root));
}

export const bindsOf = async (path: string): Promise<readonly Mount[]> =>
  bindsIn(await mountTable(), await realpath(path).catch(unlessMissing(path)));

export type Standing = "nothing" | "other" | "read-only" | "writable";

/** What is mounted at a target, seen from what is wanted there. Both must be real paths. */
export function standingAt(mounts: readonly Mount[], target: string, source: string): Standing {
  const top = mounts.findLast(({ at }) => at === target);
  if (top === undefined) return "nothing";
  const place = placeOf(mounts, source);
  if (top.device !== place?.device || top.root !== place.root) return "other";
  return top.readOnly ? "read-only" : "writable";
}

export const standing = async (target: string, source: string): Promise<Standing> =>
  standingAt(await mountTable(), target, source);

export const bind = (from: string, to: string) => runProgram("mount", ["--bind", "--", from, to]);
export const makeReadOnly = (path: string) => runProgram("mount", ["-o", "remount,bind,ro", "--", path]);

/** Takes down all that lies over a place. It must be a real path. */
export async function unmount(path: string): Promise<void> {
  while ((await mountTable()).some(({ at }) => at === path)) await runProgram("umount", ["--", path]);
}
