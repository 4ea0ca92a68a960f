/** What a request says, checked and in the storage's own words. */

import { Fault } from "../../base/fault.ts";
import {
  VolumeCapability_AccessMode_Mode as AccessMode,
  type CapacityRange,
  type CreateVolumeRequest,
  type VolumeCapability,
} from "../../csi/gen/csi_pb.js";
import { unknownOption } from "../../node/mount-flags.ts";
import type { Mode } from "../../node/mounting.ts";
import { required } from "./ids.ts";
import type { Origin, VolumeRequest } from "./types.ts";

/** Beyond 2^53 a size is no longer exact, and no directory has it. */
export function bytesOf(value: bigint, field: string): number {
  if (value < 0n || value > BigInt(Number.MAX_SAFE_INTEGER))
    throw new Fault("OutOfRange", `${field} is ${value}: it must lie between 0 and 2^53-1`);
  return Number(value);
}

export function modeOf(capabilities: readonly VolumeCapability[]): Mode {
  if (capabilities.length === 0) throw new Fault("InvalidArgument", "volume_capabilities is required");
  const modes = new Set(capabilities.map(oneModeOf));
  if (modes.size > 1)
    throw new Fault("InvalidArgument", "volume_capabilities ask for mount and block at once: ask for one");
  return [...modes][0] ?? "mount";
}

/** Undefined when all of them can be served; a directory lives on one node, and is not mounted but bound. */
export const unservable = (capabilities: readonly VolumeCapability[]): string | undefined => {
  const manyNodes = capabilities.find(
    ({ accessMode }) =>
      accessMode !== undefined &&
      accessMode.mode >= AccessMode.MULTI_NODE_READER_ONLY &&
      accessMode.mode <= AccessMode.MULTI_NODE_MULTI_WRITER,
  );
  return manyNodes === undefined ? unknownOption(capabilities) : "a directory can be used on its own node only";
};

function oneModeOf({ accessMode, accessType }: VolumeCapability): Mode {
  if ((accessMode?.mode ?? AccessMode.UNKNOWN) === AccessMode.UNKNOWN)
    throw new Fault("InvalidArgument", "volume_capability.access_mode is required");
  if (accessType.case === "block") return "block";
  if (accessType.case === "mount") return "mount";
  throw new Fault("InvalidArgument", "volume_capability.access_type is required: mount or block");
}

export function volumeRequestOf({
  name,
  volumeCapabilities,
  capacityRange,
  volumeContentSource,
}: CreateVolumeRequest): VolumeRequest {
  return {
    name: required(name, "name"),
    mode: modeOf(volumeCapabilities),
    ...rangeOf(capacityRange),
    origin: originOf(volumeContentSource),
  };
}

const rangeOf = (range: CapacityRange | undefined): { bytesMin: number; bytesMax: number } => ({
  bytesMin: bytesOf(range?.requiredBytes ?? 0n, "capacity_range.required_bytes"),
  bytesMax: bytesOf(range?.limitBytes ?? 0n, "capacity_range.limit_bytes"),
});

function originOf(source: CreateVolumeRequest["volumeContentSource"]): Origin {
  switch (source?.type.case) {
    case "snapshot":
      return { kind: "snapshot", id: required(source.type.value.snapshotId, "volume_content_source.snapshot_id") };
    case "volume":
      return { kind: "volume", id: required(source.type.value.volumeId, "volume_content_source.volume_id") };
    default:
      if (source === undefined) return { kind: "empty" };
      throw new Fault("InvalidArgument", "volume_content_source is neither a snapshot nor a volume");
  }
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly nextToken: string;
}

/** A token is the id the next page begins after, so that what comes and goes meanwhile neither repeats nor is missed. */
export function pageOf<T extends { readonly id: string }>(
  all: readonly T[],
  maxEntries: number,
  startingToken: string,
): Page<T> {
  if (maxEntries < 0) throw new Fault("InvalidArgument", `max_entries is ${maxEntries}: it must not be negative`);
  const after = tokenId(startingToken);
  const rest = after === undefined ? all : all.filter(({ id }) => id > after);
  const items = maxEntries === 0 ? rest : rest.slice(0, maxEntries);
  const last = items.at(-1);
  return { items, nextToken: items.length < rest.length && last !== undefined ? `after:${last.id}` : "" };
}

/** The protocol asks for ABORTED, so that the caller starts over. */
function tokenId(token: string): string | undefined {
  if (token === "") return undefined;
  if (!token.startsWith("after:"))
    throw new Fault("Aborted", `starting_token "${token.slice(0, 80)}" is none of ours: list from the beginning`);
  return token.slice("after:".length);
}
