/** The CSI node service. Whether a volume is published is planned (plan-publish.ts). */
import { NodeServiceCapability_RPC_Type as Capability, Node } from "../../../csi/gen/csi_pb.js";
import { type Served, serve } from "../../../csi/serve.ts";
import { isVolumeId, publishRequestOf, targetOf, wrong } from "./plan-request.ts";
import type { Volumes } from "./volumes.ts";

export interface ServiceOptions {
  readonly nodeId: string;
  readonly maxVolumesPerNode: number;
  readonly volumes: Pick<Volumes, "publish" | "unpublish">;
  /** Told of each publish, and of each that failed. */
  readonly counts: { requested(): void; failed(): void };
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
        await volumes.publish(publishRequestOf(given), signal);
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
