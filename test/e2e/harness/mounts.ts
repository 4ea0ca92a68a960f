/** The kernel's mount table, and taking down what lies under a folder. */
import { spawnSync } from "node:child_process";
import { readOrEmpty } from "../../../src/runtime/process-identity.ts";

/** Mount points at or under a folder, in the order they were mounted. */
export const mountsUnder = (folder: string): readonly string[] =>
  readOrEmpty("/proc/self/mountinfo")
    .split("\n")
    .flatMap((line) => line.split(" ")[4] ?? [])
    .map(unescaped)
    .filter((path) => path === folder || path.startsWith(`${folder}/`));

/** The kernel writes blanks and backslashes in octal. */
const unescaped = (path: string): string =>
  path.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));

/** Last mounted first; lazily, since a process that still looks at one must not keep all the others. */
export function unmountAllUnder(folder: string): void {
  for (const path of [...mountsUnder(folder)].reverse()) spawnSync("umount", ["-l", path], { stdio: "ignore" });
}
