/** The CSI calls about snapshots: their requests, and what their replies say. runtime/csi-calls.ts performs the calls. */
import { unreachable } from "../../base/brand.ts";
import type { World } from "../../base/world.ts";
import type { CsiClient } from "../../csi/client.ts";
import type { Secrets } from "../../runtime/csi-calls.ts";
import { findSnapshot } from "./listing.ts";
import type { SnapshotCall } from "./plan-calls.ts";
import { type SnapshotAnswer, snapshotInfoFrom } from "./reply.ts";

export type Operation = "CreateSnapshot" | "DeleteSnapshot" | "ListSnapshots";
export const rpcs: Readonly<Record<SnapshotCall["method"], Operation>> = {
  create: "CreateSnapshot",
  delete: "DeleteSnapshot",
  list: "ListSnapshots",
};

type Send = (call: SnapshotCall, secrets: Secrets, signal: AbortSignal) => Promise<SnapshotAnswer>;

export const createSend =
  (csi: CsiClient, world: Pick<World, "now">): Send =>
  async (call, secrets, signal) => {
    const nowNs = BigInt(world.now()) * 1_000_000n;
    switch (call.method) {
      case "create": {
        const { name, volumeHandle: sourceVolumeId, parameters } = call;
        const { snapshot } = await csi.controller.createSnapshot(
          { name, sourceVolumeId, parameters: { ...parameters }, secrets },
          { signal },
        );
        return { kind: "taken", snapshot: snapshotInfoFrom(snapshot, nowNs) };
      }
      case "list":
        return { kind: "taken", snapshot: await findSnapshot({ csi, handle: call.handle, secrets, nowNs, signal }) };
      case "delete":
        await csi.controller.deleteSnapshot({ snapshotId: call.handle, secrets }, { signal });
        return { kind: "deleted" };
      default:
        return unreachable(call);
    }
  };
