/** CreateVolume and DeleteVolume: the messages that are sent, and what is read from the replies. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Fault } from "../../../base/fault.ts";
import type { CsiClient } from "../../../csi/client.ts";
import {
  type CreateVolumeRequestSchema,
  VolumeCapability_AccessMode_Mode as Mode,
  type Volume,
  type VolumeCapabilitySchema,
} from "../../../csi/gen/csi_pb.js";
import type { CreatedVolume, CreateVolumeCall, VolumeAnswer, VolumeCall, VolumeCapability } from "./call.ts";

export const rpcs = { create: "CreateVolume", learn: "CreateVolume", delete: "DeleteVolume" } as const;
export type Rpc = (typeof rpcs)[keyof typeof rpcs];

export async function sendCall(
  csi: Pick<CsiClient, "controller">,
  call: VolumeCall,
  secrets: Record<string, string>,
  signal: AbortSignal,
): Promise<VolumeAnswer> {
  if (call.method === "delete") {
    await csi.controller.deleteVolume({ volumeId: call.volumeId, secrets }, { signal });
    return { kind: "deleted" };
  }
  const { volume } = await csi.controller.createVolume(requestOf(call, secrets), { signal });
  return { kind: "created", volume: readVolume(volume) };
}

/** A driver that cannot say is taken to have room: CreateVolume will tell. */
export async function hasRoom(
  { controller }: Pick<CsiClient, "controller">,
  call: CreateVolumeCall,
  signal: AbortSignal,
): Promise<boolean> {
  const volumeCapabilities = call.capabilities.map(capabilityMessage);
  const places = call.topology?.requisite ?? [undefined];
  for (const segments of places) {
    const accessibleTopology = segments === undefined ? {} : { accessibleTopology: { segments: { ...segments } } };
    try {
      const parameters = { ...call.parameters };
      const found = await controller.getCapacity({ volumeCapabilities, parameters, ...accessibleTopology }, { signal });
      if (found.availableCapacity >= BigInt(call.bytes)) return true;
    } catch (reason) {
      if (signal.aborted) throw reason;
      return true;
    }
  }
  return false;
}

function requestOf(
  call: Exclude<VolumeCall, { method: "delete" }>,
  secrets: Record<string, string>,
): MessageInitShape<typeof CreateVolumeRequestSchema> {
  const { source, topology } = call;
  return {
    name: call.name,
    capacityRange: { requiredBytes: BigInt(call.bytes) },
    volumeCapabilities: call.capabilities.map(capabilityMessage),
    parameters: { ...call.parameters },
    mutableParameters: { ...call.mutableParameters },
    secrets,
    ...(source === undefined ? {} : { volumeContentSource: { type: sourceMessage(source) } }),
    ...(topology === undefined
      ? {}
      : {
          accessibilityRequirements: {
            requisite: topology.requisite.map((segments) => ({ segments: { ...segments } })),
            preferred: topology.preferred.map((segments) => ({ segments: { ...segments } })),
          },
        }),
  };
}

const sourceMessage = ({ kind, handle }: NonNullable<CreateVolumeCall["source"]>) =>
  kind === "snapshot"
    ? { case: "snapshot" as const, value: { snapshotId: handle } }
    : { case: "volume" as const, value: { volumeId: handle } };

const capabilityMessage = ({ mode, mount }: VolumeCapability): MessageInitShape<typeof VolumeCapabilitySchema> => ({
  accessMode: { mode: Mode[mode] },
  accessType:
    mount === undefined
      ? { case: "block" as const, value: {} }
      : { case: "mount" as const, value: { fsType: mount.fsType, mountFlags: [...mount.flags] } },
});

/** A reply without an id is malformed: whether there is a volume is not known, and the call is repeated. */
function readVolume(volume: Volume | undefined): CreatedVolume {
  if (volume === undefined || volume.volumeId === "")
    throw new Fault(
      "MalformedReply",
      `the driver's reply to CreateVolume ${volume === undefined ? "holds no volume" : "has an empty volume_id"}; this is a defect of the driver, which is asked again`,
    );
  const { type } = volume.contentSource ?? {};
  return {
    id: volume.volumeId,
    // A negative size is no size.
    bytes: volume.capacityBytes > 0n ? volume.capacityBytes : 0n,
    context: { ...volume.volumeContext },
    topology: volume.accessibleTopology.map(({ segments }) => ({ ...segments })),
    ...(type?.case === "snapshot" ? { source: { kind: "snapshot" as const, handle: type.value.snapshotId } } : {}),
    ...(type?.case === "volume" ? { source: { kind: "volume" as const, handle: type.value.volumeId } } : {}),
  };
}
