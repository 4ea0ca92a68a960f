/** Loop devices: what makes a block device of an image. */
import type { Mounts } from "./mounts.ts";
import type { RunProgram } from "./program.ts";
import { syncToDisk } from "./sync.ts";

interface Loop {
  readonly device: string;
  readonly readOnly: boolean;
  /** It was detached while somebody had it open: the kernel takes it away, and gives it to another image, at any moment. */
  readonly isGoing: boolean;
}

export interface Loops {
  /** All who use an image share one device, and with it one cache; those who may only read have one of their own. */
  loopFor(image: string, readOnly: boolean): Promise<string>;
  /** The device goes with its last use. */
  releaseLoops(image: string): Promise<void>;
  /** Tells the devices of an image that it has grown. */
  growLoops(image: string): Promise<void>;
  /** Brings what was written to the devices into the image. */
  flushLoops(image: string): Promise<void>;
  loopBindsOf(image: string): ReturnType<Mounts["bindsOf"]>;
}

export function createLoops(run: RunProgram, { bindsOf }: Pick<Mounts, "bindsOf">): Loops {
  /** The kernel knows the image by its inode: also a driver that sees it under another path finds its devices. */
  const loopsOf = async (image: string): Promise<readonly Loop[]> => {
    const { output } = await run("losetup", ["--associated", image, "--output", "NAME,RO,AUTOCLEAR", "--noheadings"]);
    return output
      .split("\n")
      .map((line) => line.trim().split(/\s+/))
      .flatMap(([device = "", readOnly, autoclear]) =>
        device === "" ? [] : [{ device, readOnly: readOnly === "1", isGoing: autoclear === "1" }],
      );
  };
  return {
    async loopFor(image, readOnly) {
      const found = (await loopsOf(image)).find((loop) => loop.readOnly === readOnly && !loop.isGoing);
      if (found !== undefined) return found.device;
      const flags = readOnly ? ["--read-only"] : [];
      return (await run("losetup", [...flags, "--show", "--find", "--", image])).output;
    },
    async releaseLoops(image) {
      for (const { device } of await loopsOf(image))
        if ((await bindsOf(device)).length === 0) await run("losetup", ["--detach", device]);
    },
    async growLoops(image) {
      for (const { device } of await loopsOf(image)) await run("losetup", ["--set-capacity", device]);
    },
    async flushLoops(image) {
      for (const { device, readOnly } of await loopsOf(image)) if (!readOnly) await syncToDisk(device);
    },
    async loopBindsOf(image) {
      const binds = await Promise.all((await loopsOf(image)).map(({ device }) => bindsOf(device)));
      return binds.flat();
    },
  };
}
