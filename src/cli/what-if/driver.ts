/** A CSI driver that does what it is asked, at once, on nothing: it only notes the calls. */
import type { World } from "../../base/world.ts";
import {
  ControllerServiceCapability_RPC_Type as Capability,
  Controller,
  type CreateVolumeRequest,
  Identity,
  PluginCapability_Service_Type as Service,
} from "../../csi/gen/csi_pb.js";
import { serve, unaryOf } from "../../csi/serve.ts";
import type { Unary } from "../../csi/wire.ts";

export interface DriverCall {
  readonly driver: string;
  readonly method: "CreateSnapshot" | "DeleteSnapshot" | "CreateVolume" | "DeleteVolume";
  /** The name of what is created, the handle of what is deleted. */
  readonly subject: string;
  /** The handle that it is made from. */
  readonly source?: string | undefined;
}

/** What the objects of the cluster tell of the driver's data. */
export interface KnownData {
  /** The size of each volume, by its handle. */
  readonly bytes: ReadonlyMap<string, bigint>;
  /** Handles of snapshots that the driver does not have, or not in order: the cluster has an error about each. */
  readonly missing: ReadonlySet<string>;
}

const capabilities = [
  Capability.CREATE_DELETE_SNAPSHOT,
  Capability.LIST_SNAPSHOTS,
  Capability.CREATE_DELETE_VOLUME,
  Capability.CLONE_VOLUME,
].map((type) => ({ type: { case: "rpc" as const, value: { type } } }));
const services = [{ type: { case: "service" as const, value: { type: Service.CONTROLLER_SERVICE } } }];

export function notingDriver(
  name: string,
  world: World,
  { bytes, missing }: KnownData,
  note: (call: DriverCall) => void,
): Unary {
  const made = new Map<string, bigint>(bytes);
  const noted = (call: Omit<DriverCall, "driver">): void => note({ driver: name, ...call });
  return unaryOf([
    serve(Identity, {
      getPluginInfo: () => ({ name }),
      getPluginCapabilities: () => ({ capabilities: services }),
      probe: () => ({ ready: true }),
    }),
    serve(Controller, {
      controllerGetCapabilities: () => ({ capabilities }),
      createSnapshot({ name: snapshot, sourceVolumeId }) {
        noted({ method: "CreateSnapshot", subject: snapshot, source: sourceVolumeId });
        const seconds = BigInt(Math.floor(world.now() / 1_000));
        return {
          snapshot: {
            snapshotId: snapshot,
            sourceVolumeId,
            sizeBytes: made.get(sourceVolumeId) ?? 0n,
            creationTime: { seconds, nanos: 0 },
            readyToUse: true,
          },
        };
      },
      deleteSnapshot({ snapshotId }) {
        noted({ method: "DeleteSnapshot", subject: snapshotId });
        return {};
      },
      listSnapshots({ snapshotId }) {
        const snapshot = { snapshotId, sourceVolumeId: "", sizeBytes: 0n, readyToUse: true };
        return { entries: missing.has(snapshotId) ? [] : [{ snapshot }] };
      },
      createVolume(request) {
        const bytes = request.capacityRange?.requiredBytes ?? 0n;
        noted({ method: "CreateVolume", subject: request.name, source: sourceOf(request) });
        made.set(request.name, bytes);
        const contentSource = request.volumeContentSource;
        return {
          volume: {
            volumeId: request.name,
            capacityBytes: bytes,
            ...(contentSource === undefined ? {} : { contentSource }),
          },
        };
      },
      deleteVolume({ volumeId }) {
        noted({ method: "DeleteVolume", subject: volumeId });
        return {};
      },
    }),
  ]);
}

function sourceOf({ volumeContentSource }: CreateVolumeRequest): string | undefined {
  const { type } = volumeContentSource ?? {};
  return type?.case === "snapshot" ? type.value.snapshotId : type?.case === "volume" ? type.value.volumeId : undefined;
}
