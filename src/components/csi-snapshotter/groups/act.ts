/** The CSI calls about groups: their requests, and what their replies say. */
import { unreachable } from "../../../base/brand.ts";
import type { World } from "../../../base/world.ts";
import type { CsiClient } from "../../../csi/client.ts";
import type { Secrets } from "../../../runtime/csi-calls.ts";
import type { GroupCall } from "./plan-calls.ts";
import { type GroupAnswer, groupInfoFrom } from "./reply.ts";

export const createGroupSend =
  (csi: Pick<CsiClient, "group">, world: Pick<World, "now">) =>
  async (call: GroupCall, secrets: Secrets, signal: AbortSignal): Promise<GroupAnswer> => {
    const nowNs = BigInt(world.now()) * 1_000_000n;
    switch (call.method) {
      case "create": {
        const { name, volumeHandles, parameters } = call;
        const { groupSnapshot } = await csi.group.createVolumeGroupSnapshot(
          { name, sourceVolumeIds: [...volumeHandles], parameters: { ...parameters }, secrets },
          { signal },
        );
        return {
          kind: "taken",
          group: groupInfoFrom(groupSnapshot, { kind: "volumes", handles: volumeHandles }, nowNs),
        };
      }
      case "get": {
        const { handle, snapshotHandles, members, volumes } = call;
        const { groupSnapshot } = await csi.group.getVolumeGroupSnapshot(
          { groupSnapshotId: handle, snapshotIds: [...snapshotHandles], secrets },
          { signal },
        );
        return { kind: "taken", group: groupInfoFrom(groupSnapshot, { kind: "members", members, volumes }, nowNs) };
      }
      case "delete":
        await csi.group.deleteVolumeGroupSnapshot(
          { groupSnapshotId: call.handle, snapshotIds: [...call.snapshotHandles], secrets },
          { signal },
        );
        return { kind: "deleted" };
      default:
        return unreachable(call);
    }
  };
