/** The few programs of the system that do what Node has no call for: faithful copies, mounts, loop devices. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { Fault } from "../../base/fault.ts";

const run = promisify(execFile);

async function call(program: string, args: readonly string[], signal?: AbortSignal): Promise<string> {
  try {
    const { stdout } = await run(program, [...args], { signal, env: { ...pathOnly, LC_ALL: "C" } });
    return stdout.trim();
  } catch (reason) {
    if (signal?.aborted) throw Fault.from(signal.reason);
    const { stderr, code } = reason as { stderr?: string; code?: string | number };
    if (code === "ENOENT")
      throw new Fault("FailedPrecondition", `${program} is not installed: it comes with coreutils and util-linux`);
    const text = (stderr ?? String(reason)).trim();
    throw new Fault(/no space left/i.test(text) ? "ResourceExhausted" : "Internal", `${program}: ${text}`, {
      cause: reason,
    });
  }
}
const pathOnly = { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" };

/**
 * Copies a file or a tree with modes, owners, times, links and extended attributes. Where the file system can share blocks
 * nothing is copied at all; elsewhere holes stay holes.
 */
export const copyFaithfully = (from: string, to: string, signal?: AbortSignal): Promise<string> =>
  call("cp", ["-a", "--reflink=auto", "--sparse=auto", "--", from, to], signal);

export const bindMount = async (from: string, to: string, readOnly: boolean): Promise<void> => {
  await call("mount", ["--bind", "--", from, to]);
  if (readOnly) await call("mount", ["-o", "remount,bind,ro", "--", to]);
};
export const unmount = (path: string): Promise<string> => call("umount", ["--", path]);

/** One row of the mount table: what is mounted, seen from its file system's root, and where. */
async function mounts(): Promise<readonly { readonly from: string; readonly at: string }[]> {
  const table = await readFile("/proc/self/mountinfo", "utf8");
  return table.split("\n").map((line) => {
    const [, , , from = "", at = ""] = line.split(" ");
    return { from: unescapeMountPath(from), at: unescapeMountPath(at) };
  });
}
export const isMounted = async (path: string): Promise<boolean> => (await mounts()).some(({ at }) => at === path);
/** /dev is a file system of its own, so a device bound somewhere shows there as "/loop0". */
export const isBound = async (device: string): Promise<boolean> =>
  (await mounts()).some(({ from }) => from === device.replace(/^\/dev/, ""));
const unescapeMountPath = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_match, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));

export const attachLoop = (image: string, readOnly: boolean): Promise<string> =>
  call("losetup", [...(readOnly ? ["--read-only"] : []), "--show", "--find", "--", image]);
export const detachLoop = (device: string): Promise<string> => call("losetup", ["--detach", device]);
export const refreshLoop = (device: string): Promise<string> => call("losetup", ["--set-capacity", device]);
export async function loopsOf(image: string): Promise<readonly string[]> {
  const lines = await call("losetup", ["--associated", image, "--output", "NAME", "--noheadings"]);
  return lines.split("\n").filter((line) => line !== "");
}
