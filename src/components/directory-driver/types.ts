/** What the storage keeps: volumes and snapshots, as they are written beside their data. */
import { Fault } from "../../base/fault.ts";
import type { Mode } from "../../node/mounting.ts";

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
  /** The group that it is a member of, whose folder has its data. */
  readonly groupId?: string;
}

/** Snapshots that were asked for together. They exist together, from one rename on, and go together. */
export interface Group {
  readonly id: string;
  readonly name: string;
  readonly members: readonly Snapshot[];
}

export interface VolumeRequest extends Pick<Volume, "name" | "mode" | "origin"> {
  readonly ephemeral?: boolean;
  readonly bytesMin: number;
  /** 0: no limit. */
  readonly bytesMax: number;
}

export const dataFile = (mode: Mode): string => (mode === "mount" ? "data" : "image");

/** The volume of that id, or what the protocol says when there is none. */
export function known(volumes: { get(id: string): Volume | undefined }, id: string): Volume {
  const volume = volumes.get(id);
  if (volume === undefined) throw new Fault("NotFound", `volume ${id} does not exist`);
  return volume;
}
