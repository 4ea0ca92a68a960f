/** What the storage keeps: volumes and snapshots, as they are written beside their data. */

/** A tree of files, or one file that stands for a block device. */
export type Mode = "mount" | "block";
export type Origin = { readonly kind: "empty" } | { readonly kind: "snapshot" | "volume"; readonly id: string };

export interface Volume {
  readonly id: string;
  readonly name: string;
  readonly mode: Mode;
  readonly bytes: number;
  readonly origin: Origin;
  /** Lives and dies with a pod. */
  readonly ephemeral: boolean;
}

export interface Snapshot {
  readonly id: string;
  readonly name: string;
  readonly volumeId: string;
  readonly mode: Mode;
  readonly bytes: number;
  readonly takenAtMs: number;
}

export interface VolumeWish extends Pick<Volume, "name" | "mode" | "origin"> {
  readonly ephemeral?: boolean;
  readonly bytesMin: number;
  /** 0: no limit. */
  readonly bytesMax: number;
}

export const dataFile = (mode: Mode): string => (mode === "mount" ? "data" : "image");
