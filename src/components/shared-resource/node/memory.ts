/**
 * What the driver remembers of each mounted volume. After a restart the records, the mount table and the files themselves say the same:
 *
 * - what is in it. Lost: read from its files (recover.ts).
 * - which Secret or ConfigMap it follows. Lost: taken from its share again.
 * - whether its share was read after its Secret or ConfigMap was seen deleted. Lost: it is read once more.
 */
import type { Source, Written } from "./types.ts";

export interface VolumeMemory {
  /** Undefined: the volume is empty. */
  readonly written: Written | undefined;
  /** What is watched for it. */
  readonly follows: Source | undefined;
  readonly isShareRead: boolean;
}

/** A process that has just started remembers this: with it, anybody can run phase and plan on a volume and objects read from a cluster. */
export const noMemory: VolumeMemory = { written: undefined, follows: undefined, isShareRead: false };
