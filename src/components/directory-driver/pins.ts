/**
 * Files held by a handle. A pod can rename a folder and put a symbolic link in its place at any moment, so no path inside a volume is
 * looked up twice: each step is taken from the handle of the folder it starts in, and never through a link. Linux only.
 */
import { constants } from "node:fs";
import { type FileHandle, open, readdir } from "node:fs/promises";
import { errorCodeOf } from "../../base/fs-errors.ts";

/** A path as the kernel has it, with one character for each byte: file names need not be UTF-8. */
export type BytePath = string;
export const bytePath = (text: string): BytePath => Buffer.from(text).toString("latin1");
export const bytesOfPath = (path: BytePath): Buffer => Buffer.from(path, "latin1");
export const readable = (path: BytePath): string => bytesOfPath(path).toString();
export const below = (folder: BytePath, name: BytePath): BytePath => (folder === "" ? name : `${folder}/${name}`);
export const splitLast = (path: BytePath) => ({
  folder: path.slice(0, Math.max(path.lastIndexOf("/"), 0)),
  name: path.slice(path.lastIndexOf("/") + 1),
});

/** O_PATH, which Node has no name for: the file is held without being opened, so no pipe blocks and no device notices. */
const pathOnly = 0o10000000;
const { O_DIRECTORY, O_NOFOLLOW } = constants;

/** Holds whatever has that name, a symbolic link itself included. Only the last part of the path is safe from links. */
export const pin = (path: BytePath): Promise<FileHandle> => open(bytesOfPath(path), pathOnly | O_NOFOLLOW);

/** The kernel resolves the number to the held folder itself, wherever it has been moved meanwhile. */
export const inside = ({ fd }: FileHandle, name: BytePath): BytePath => `/proc/self/fd/${fd}/${name}`;

export const namesIn = async ({ fd }: FileHandle): Promise<readonly BytePath[]> => [
  ...new Set(await readdir(`/proc/self/fd/${fd}`, { encoding: "latin1" })),
];

/** What is said of a name that went, or stands for something else, since its folder was read. */
export const hasGone = (reason: unknown): boolean =>
  ["ENOENT", "ENOTDIR", "ELOOP", "EINVAL"].includes(errorCodeOf(reason));

/** Holds the folders from the root of a tree down to the one last asked for. */
export interface Chain {
  at(path: BytePath): Promise<FileHandle>;
  close(): Promise<void>;
}

export function chainFrom(root: FileHandle): Chain {
  const links: { readonly name: BytePath; readonly handle: FileHandle }[] = [];
  const shorten = async (length: number): Promise<void> => {
    for (const { handle } of links.splice(length)) await handle.close();
  };
  return {
    async at(path) {
      const names = path === "" ? [] : path.split("/");
      const differs = names.findIndex((name, index) => links[index]?.name !== name);
      const kept = differs === -1 ? names.length : differs;
      await shorten(kept);
      for (const name of names.slice(kept)) {
        const parent = links.at(-1)?.handle ?? root;
        const handle = await open(bytesOfPath(inside(parent, name)), pathOnly | O_DIRECTORY | O_NOFOLLOW);
        links.push({ name, handle });
      }
      return links.at(-1)?.handle ?? root;
    },
    close: () => shorten(0),
  };
}
