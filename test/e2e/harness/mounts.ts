/** The kernel's mount table, and taking down what lies under a folder. */
import { spawnSync } from "node:child_process";
import { readOrEmpty } from "../../../src/runtime/process-identity.ts";

/** Lines of the mount table at or under a folder, in the order they were mounted; each begins with a number that no other mount has. */
export const mountLinesUnder = (folder: string): readonly string[] =>
  readOrEmpty("/proc/self/mountinfo")
    .split("\n")
    .filter((line) => line !== "" && `${pointOf(line)}/`.startsWith(`${folder}/`));

const pointOf = (line: string): string => unescaped(line.split(" ")[4] ?? "");

/** Mount points at or under a folder, in the order they were mounted. */
export const mountsUnder = (folder: string): readonly string[] => mountLinesUnder(folder).map(pointOf);

/** The kernel writes blanks and backslashes in octal. */
const unescaped = (path: string): string =>
  path.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));

/** Last mounted first; lazily, since a process that still looks at one must not keep all the others. */
export function unmountAllUnder(folder: string): void {
  for (const path of [...mountsUnder(folder)].reverse()) spawnSync("umount", ["-l", path], { stdio: "ignore" });
}
