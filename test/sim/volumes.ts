/** The volumes of the simulated storage system: CreateVolume and DeleteVolume, idempotent by name, with every real effect known. */
import { Fault } from "../../src/base/fault.ts";
import type { Controller, CreateVolumeRequest } from "../../src/csi/gen/csi_pb.js";
import { ControllerServiceCapability_RPC_Type as Capability } from "../../src/csi/gen/csi_pb.js";
import type { serve } from "../../src/csi/serve.ts";
import { withoutAlias } from "./odd.ts";

export interface StoredVolume {
  readonly id: string;
  readonly name: string;
  readonly bytes: bigint;
  /** The handle of the snapshot, or the id of the volume, that it was made from; empty: an empty volume. */
  readonly source: string;
}

export interface Volumes {
  readonly stored: Map<string, StoredVolume>;
  /** Names of all volumes ever made. */
  readonly creations: readonly string[];
  /** Refuses every CreateVolume for a volume that it does not have. */
  refuses: boolean;
  /** Refuses so many DeleteVolume calls. */
  undeletable: number;
}

export const volumeCapabilities = [Capability.CREATE_DELETE_VOLUME, Capability.CLONE_VOLUME];

type Methods = Pick<Parameters<typeof serve<typeof Controller>>[1], "createVolume" | "deleteVolume">;

interface VolumeOptions {
  hasSnapshot(handle: string): boolean;
  /** Puts what it was given into its errors now and then. */
  rudely(secrets: Record<string, string>): void;
}

export function createVolumes({ hasSnapshot, rudely }: VolumeOptions): Volumes & { readonly methods: Methods } {
  const stored = new Map<string, StoredVolume>();
  const creations: string[] = [];

  const made = (request: CreateVolumeRequest): StoredVolume => {
    const { name, capacityRange } = request;
    const source = sourceIn(request);
    if (volumes.refuses) throw new Fault("InvalidArgument", `no volume ${name}: the pool takes none of this sort`);
    const isSnapshot = request.volumeContentSource?.type.case === "snapshot";
    if (source !== "" && !(isSnapshot ? hasSnapshot(source) : stored.has(source)))
      throw new Fault("NotFound", `${source} does not exist`);
    creations.push(name);
    return { id: `volume-${name}-${creations.length}`, name, bytes: capacityRange?.requiredBytes ?? 0n, source };
  };

  const volumes: Volumes & { readonly methods: Methods } = {
    stored,
    creations,
    refuses: false,
    undeletable: 0,
    methods: {
      createVolume(request) {
        const { name, capacityRange, secrets } = request;
        rudely(secrets);
        const existing = [...stored.values()].find((volume) => volume.name === name);
        const required = capacityRange?.requiredBytes ?? 0n;
        if (existing !== undefined && (existing.bytes < required || existing.source !== sourceIn(request)))
          throw new Fault("AlreadyExists", `${name} exists and is another`);
        const volume = existing ?? made(request);
        stored.set(volume.id, volume);
        return {
          volume: {
            volumeId: volume.id,
            capacityBytes: volume.bytes,
            ...(request.volumeContentSource === undefined ? {} : { contentSource: request.volumeContentSource }),
          },
        };
      },
      deleteVolume({ volumeId, secrets }) {
        rudely(secrets);
        if (volumes.undeletable > 0) {
          volumes.undeletable -= 1;
          throw new Fault("FailedPrecondition", `${volumeId} is in use`);
        }
        stored.delete(withoutAlias(volumeId));
        return {};
      },
    },
  };
  return volumes;
}

/** The handle or id that a volume is to be made from. */
export function sourceIn({ volumeContentSource }: Pick<CreateVolumeRequest, "volumeContentSource">): string {
  const { type } = volumeContentSource ?? {};
  if (type?.case === "snapshot") return type.value.snapshotId;
  return type?.case === "volume" ? type.value.volumeId : "";
}
