/** What is mounted where, and binding a folder or a device to another place. */
import { readFile, realpath } from "node:fs/promises";
import type { Standing } from "./plan-publish.ts";
import type { RunProgram } from "./program.ts";

export interface Mount {
  /** The file system's device number, "major:minor". */
  readonly device: string;
  /** What of its file system is shown: a bound folder shows as its path there. */
  readonly root: string;
  readonly at: string;
  /** The options of this mount; its file system may have others. */
  readonly options: readonly string[];
  /** The kind of file system: "ext4", "tmpfs". */
  readonly type: string;
  /** The device, or the name that whoever mounted it has chosen. */
  readonly source: string;
}

/** In the order they were mounted: of two at one place the last is on top. */
export function parseMounts(table: string): readonly Mount[] {
  return table
    .split("\n")
    .map((line) => line.split(" "))
    .filter((fields) => fields.length > 5)
    .map(([, , device = "", root = "", at = "", options = "", ...rest]) => {
      // Any number of optional fields stands before the separator.
      const [type = "", source = ""] = rest.slice(rest.indexOf("-") + 1);
      return {
        device,
        root: unescaped(root),
        at: unescaped(at),
        options: options.split(","),
        type,
        source: unescaped(source),
      };
    });
}

/** The kernel writes blanks, tabs, newlines and backslashes in octal. */
const unescaped = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_match, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));

/** Only where there is no table is nothing mounted. One that cannot be read (too many open files) must not make a volume look unused. */
export const mountTable = async (path = "/proc/self/mountinfo"): Promise<readonly Mount[]> =>
  parseMounts(await readFile(path, "utf8").catch(unlessMissing("")));

/** The replacement for a missing file; every other error is thrown. */
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
export function mountedPlaceOf(mounts: readonly Mount[], path: string): Place | undefined {
  const around = mounts
    .filter(({ at }) => isBelow(path, at))
    .reduce<Mount | undefined>((best, mount) => (mount.at.length >= (best?.at.length ?? 0) ? mount : best), undefined);
  if (around === undefined) return undefined;
  const rest = around.at === "/" ? path : path.slice(around.at.length);
  return { device: around.device, root: around.root === "/" ? rest || "/" : `${around.root}${rest}` };
}

/** The mounts that show the path, or something below it, elsewhere. */
export function bindsIn(mounts: readonly Mount[], path: string): readonly Mount[] {
  const place = mountedPlaceOf(mounts, path);
  if (place === undefined) return [];
  return mounts.filter(({ device, root, at }) => device === place.device && at !== path && isBelow(root, place.root));
}

/** What is mounted at a target, seen from what is wanted there. Both must be real paths. */
export function standingAt(mounts: readonly Mount[], target: string, source: string): Standing {
  const top = mounts.findLast(({ at }) => at === target);
  if (top === undefined) return "nothing";
  const place = mountedPlaceOf(mounts, source);
  return top.device === place?.device && top.root === place.root ? { options: top.options } : "other";
}

export interface Mounts {
  /** The mounts that show the path, or something below it, elsewhere. */
  bindsOf(path: string): Promise<readonly Mount[]>;
  standing(target: string, source: string): Promise<Standing>;
  bind(from: string, to: string): Promise<void>;
  remount(path: string, options: readonly string[]): Promise<void>;
  /** Takes down all that lies over a place. It must be a real path. */
  unmount(path: string): Promise<void>;
}

export const createMounts = (run: RunProgram, table: () => Promise<readonly Mount[]>): Mounts => ({
  bindsOf: async (path) => bindsIn(await table(), await realpath(path).catch(unlessMissing(path))),
  standing: async (target, source) => standingAt(await table(), target, source),
  bind: async (from, to) => void (await run("mount", ["--bind", "--", from, to])),
  remount: async (path, options) =>
    void (await run("mount", ["-o", ["remount", "bind", ...options].join(","), "--", path])),
  async unmount(path) {
    while ((await table()).some(({ at }) => at === path)) await run("umount", ["--", path]);
  },
});
