/** Loop devices: what makes a block device of an image. */
import { bindsOf } from "./mounts.ts";
import { runProgram } from "./program.ts";
import { syncToDisk } from "./sync.ts";

interface Loop {
  readonly device: string;
  readonly readOnly: boolean;
}

/** The kernel knows the image by its inode: also a driver that sees it under another path finds its devices. */
async function loopsOf(image: string): Promise<readonly Loop[]> {
  const { output } = await runProgram("losetup", ["--associated", image, "--output", "NAME,RO", "--noheadings"]);
  return output
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .flatMap(([device = "", readOnly]) => (device === "" ? [] : [{ device, readOnly: readOnly === "1" }]));
}

/** All who use an image share one device, and with it one cache; those who may only read have one of their own. */
export async function loopFor(image: string, readOnly: boolean): Promise<string> {
  const found = (await loopsOf(image)).find((loop) => loop.readOnly === readOnly);
  if (found !== undefined) return found.device;
  const { output } = await runProgram("losetup", [
    ...(readOnly ? ["--read-only"] : []),
    "--show",
    "--find",
    "--",
    image,
  ]);
  return output;
}

/** The device goes with its last use. */
export async function releaseLoops(image: string): Promise<void> {
  for (const { device } of await loopsOf(image))
    if ((await bindsOf(device)).length === 0) await runProgram("losetup", ["--detach", device]);
}

/** Tells the devices of an image that it has grown. */
export async function growLoops(image: string): Promise<void> {
  for (const { device } of await loopsOf(image)) await runProgram("losetup", ["--set-capacity", device]);
}

/** Brings what was written to the devices into the image. */
export async function flushLoops(image: string): Promise<void> {
  for (const { device, readOnly } of await loopsOf(image)) if (!readOnly) await syncToDisk(device);
}

export async function loopBindsOf(image: string) {
  const binds = await Promise.all((await loopsOf(image)).map(({ device }) => bindsOf(device)));
  return binds.flat();
}
