/** The CSI controller service over the storage. */

import { Fault } from "../../base/fault.ts";
import type { World } from "../../base/world.ts";
import {
  ControllerServiceCapability_RPC_Type as Capability,
  Controller,
  type ControllerServiceCapability_RPC_Type,
} from "../../csi/gen/csi_pb.js";
import { serve } from "../../csi/serve.ts";
import type { Mounting } from "../../node/mounting.ts";
import { required } from "./ids.ts";
import { bytesOf, modeOf, pageOf, unservable, volumeRequestOf } from "./requests.ts";
import { snapshotWords } from "./snapshot-words.ts";
import type { Storage } from "./storage.ts";
import { known, type Volume, type VolumeRequest } from "./types.ts";

const capabilities: readonly ControllerServiceCapability_RPC_Type[] = [
  Capability.CREATE_DELETE_VOLUME,
  Capability.LIST_VOLUMES,
  Capability.GET_CAPACITY,
  Capability.CREATE_DELETE_SNAPSHOT,
  Capability.LIST_SNAPSHOTS,
  Capability.CLONE_VOLUME,
  Capability.EXPAND_VOLUME,
  Capability.SINGLE_NODE_MULTI_WRITER,
];

export interface ControllerServiceOptions {
  readonly storage: Storage;
  readonly mounting: Pick<Mounting, "usesOf" | "releaseLoops">;
  readonly world: World;
  /** A snapshot is ready this long after it was taken, as on storage that uploads. */
  readonly snapshotDelayMs: number;
  /** When set, snapshots are taken and deleted only for callers with this value in the secret's key "token". */
  readonly snapshotSecret: string;
}

export function controllerService({
  storage,
  mounting,
  world,
  snapshotDelayMs,
  snapshotSecret,
}: ControllerServiceOptions) {
  const { isReady, snapshotMessage, mustKnow } = snapshotWords({ world, snapshotDelayMs, snapshotSecret });
  const sourceMustBeReady = ({ origin }: VolumeRequest): void => {
    const source = origin.kind === "snapshot" ? storage.snapshots.get(origin.id) : undefined;
    if (source !== undefined && !isReady(source))
      throw new Fault("Unavailable", `snapshot ${source.id} is not ready to use yet: try again later`);
  };

  return serve(Controller, {
    controllerGetCapabilities: () => ({
      capabilities: capabilities.map((type) => ({ type: { case: "rpc" as const, value: { type } } })),
    }),
    async createVolume(request) {
      const wish = volumeRequestOf(request);
      const refusal = unservable(request.volumeCapabilities);
      if (refusal !== undefined) throw new Fault("InvalidArgument", refusal);
      sourceMustBeReady(wish);
      return { volume: volumeMessage(await storage.createVolume(wish)) };
    },
    async deleteVolume({ volumeId }) {
      const volume = storage.volumes.get(required(volumeId, "volume_id"));
      const [use] = volume === undefined ? [] : await mounting.usesOf(storage.dataOf(volume), volume.mode);
      if (use !== undefined)
        throw new Fault("FailedPrecondition", `volume ${volumeId} is still in use at ${use}: unpublish it first`);
      if (volume?.mode === "block") await mounting.releaseLoops(storage.dataOf(volume));
      await storage.deleteVolume(volumeId); // Also when it is not known: its data may still be waiting to be removed.
      return {};
    },
    validateVolumeCapabilities({ volumeId, volumeCapabilities, volumeContext, parameters }) {
      const volume = known(storage.volumes, required(volumeId, "volume_id"));
      const mode = modeOf(volumeCapabilities);
      if (mode !== volume.mode) return { message: `volume ${volumeId} is a ${volume.mode} volume` };
      const refusal = unservable(volumeCapabilities);
      return refusal === undefined
        ? { confirmed: { volumeCapabilities, volumeContext, parameters } }
        : { message: refusal };
    },
    listVolumes({ maxEntries, startingToken }) {
      const { items, nextToken } = pageOf(persistent(storage), maxEntries, startingToken);
      return { entries: items.map((volume) => ({ volume: volumeMessage(volume) })), nextToken };
    },
    getCapacity: async ({ volumeCapabilities }) => ({
      availableCapacity: unservable(volumeCapabilities) === undefined ? await storage.freeBytes() : 0n,
    }),
    async createSnapshot({ name, sourceVolumeId, secrets }) {
      mustKnow(secrets);
      const volumeId = required(sourceVolumeId, "source_volume_id");
      return { snapshot: snapshotMessage(await storage.takeSnapshot(required(name, "name"), volumeId)) };
    },
    async deleteSnapshot({ snapshotId, secrets }) {
      const id = required(snapshotId, "snapshot_id");
      mustKnow(secrets);
      await storage.deleteSnapshot(id);
      return {};
    },
    listSnapshots({ maxEntries, startingToken, sourceVolumeId, snapshotId }) {
      const wanted = storage.snapshots
        .all()
        .filter(
          ({ id, volumeId }) =>
            (snapshotId === "" || id === snapshotId) && (sourceVolumeId === "" || volumeId === sourceVolumeId),
        );
      const { items, nextToken } = pageOf(wanted, maxEntries, startingToken);
      return { entries: items.map((snapshot) => ({ snapshot: snapshotMessage(snapshot) })), nextToken };
    },
    async controllerExpandVolume({ volumeId, capacityRange }) {
      const { id, mode } = known(storage.volumes, required(volumeId, "volume_id"));
      if (capacityRange === undefined) throw new Fault("InvalidArgument", "capacity_range is required");
      const bytes = bytesOf(capacityRange.requiredBytes, "capacity_range.required_bytes");
      if (capacityRange.limitBytes > 0n && capacityRange.requiredBytes > capacityRange.limitBytes)
        throw new Fault("OutOfRange", `required_bytes ${bytes} is more than limit_bytes ${capacityRange.limitBytes}`);
      const grown = await storage.expandVolume(id, bytes);
      if (capacityRange.limitBytes > 0n && BigInt(grown.bytes) > capacityRange.limitBytes)
        throw new Fault("OutOfRange", `volume ${id} has ${grown.bytes} bytes already, and no volume shrinks`);
      return { capacityBytes: BigInt(grown.bytes), nodeExpansionRequired: mode === "block" };
    },
  });
}

/** Inline volumes belong to their pods; no controller is to see them. */
const persistent = ({ volumes }: Storage): readonly Volume[] => volumes.all().filter(({ ephemeral }) => !ephemeral);

const volumeMessage = ({ id, bytes, origin }: Volume) => ({
  volumeId: id,
  capacityBytes: BigInt(bytes),
  ...(origin.kind === "empty" ? {} : { contentSource: { type: contentSource(origin) } }),
});

const contentSource = (origin: { readonly kind: "snapshot" | "volume"; readonly id: string }) =>
  origin.kind === "snapshot"
    ? { case: "snapshot" as const, value: { snapshotId: origin.id } }
    : { case: "volume" as const, value: { volumeId: origin.id } };
