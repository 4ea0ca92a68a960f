/** The CSI node service: checks in the order of the driver we replace, then the volume. */
import type { Fault } from "../../../base/fault.ts";
import { NodeServiceCapability_RPC_Type as Capability, Node } from "../../../csi/gen/csi_pb.js";
import { type Served, serve } from "../../../csi/serve.ts";
import type { ShareState } from "./observe.ts";
import { isVolumeId, type PublishRequest, publishRequestOf, targetOf, wrong } from "./plan-request.ts";
import { deniedUse, notReadOnly, reviewFailed, shareRefusal } from "./refusals.ts";
import type { Reviews } from "./reviews.ts";
import { subjectOf, type VolumeSpec } from "./types.ts";
import type { Volumes } from "./volumes.ts";

export interface ServiceOptions {
  readonly nodeId: string;
  readonly maxVolumesPerNode: number;
  readonly volumes: Pick<Volumes, "publish" | "unpublish">;
  readonly reviews: Pick<Reviews, "fresh">;
  shareState(spec: Pick<VolumeSpec, "shareKind" | "share">): ShareState;
  /** Told of each publish, and how its checks went. */
  readonly counts: PublishCounts;
}

export interface PublishCounts {
  requested(): void;
  failed(): void;
  reservedName(request: PublishRequest): void;
  readOnly(isReadOnly: boolean): void;
}

export function nodeService(options: ServiceOptions): Served {
  const { volumes, counts } = options;
  return serve(Node, {
    nodeGetInfo: () => ({ nodeId: options.nodeId, maxVolumesPerNode: BigInt(options.maxVolumesPerNode) }),
    // The kubelet leaves the group of read-only volumes to the driver.
    nodeGetCapabilities: () => ({
      capabilities: [{ type: { case: "rpc", value: { type: Capability.VOLUME_MOUNT_GROUP } } }],
    }),
    async nodePublishVolume(given, signal) {
      counts.requested();
      try {
        await publish(options, publishRequestOf(given), signal);
        return {};
      } catch (reason) {
        counts.failed();
        throw reason;
      }
    },
    async nodeUnpublishVolume({ volumeId, targetPath }) {
      if (volumeId === "") throw wrong("volume_id is required");
      const target = targetOf(targetPath);
      // Such an id was never published, and a pod must be able to end.
      if (isVolumeId(volumeId)) await volumes.unpublish(volumeId, target);
      return {};
    },
  });
}

async function publish(options: ServiceOptions, request: PublishRequest, signal: AbortSignal): Promise<void> {
  const { volumes, reviews, counts } = options;
  const share = options.shareState(request);
  if (share.kind === "unusable" && share.isReserved) counts.reservedName(request);
  const refusal: Fault | undefined = shareRefusal(request, share);
  if (refusal !== undefined || share.kind !== "usable") throw refusal;
  const verdict = await reviews.fresh(subjectOf(request)).catch((reason: unknown) => {
    throw reviewFailed(request, reason);
  });
  if (verdict === "denied") throw deniedUse(request);
  counts.readOnly(request.readOnly);
  if (!request.readOnly) throw notReadOnly(request);
  await volumes.publish(request, share.source, signal);
}
