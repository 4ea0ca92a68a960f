/** The CSI group controller service over the storage: all members or none. */
import { Fault } from "../../base/fault.ts";
import { GroupControllerServiceCapability_RPC_Type as Capability, GroupController } from "../../csi/gen/csi_pb.js";
import { serve } from "../../csi/serve.ts";
import type { ControllerServiceOptions } from "./controller.ts";
import { required } from "./ids.ts";
import { protoTime, snapshotWords } from "./snapshot-words.ts";
import type { Group } from "./types.ts";

export function groupControllerService({ storage, ...wording }: Omit<ControllerServiceOptions, "mounting">) {
  const { isReady, snapshotMessage, mustKnow } = snapshotWords(wording);
  const groupMessage = ({ id, members }: Group) => ({
    groupSnapshotId: id,
    snapshots: members.map(snapshotMessage),
    creationTime: protoTime(Math.min(...members.map(({ takenAtMs }) => takenAtMs))),
    readyToUse: members.every(isReady),
  });
  /** Whoever names other members than there are must not get, or delete, what he does not know of. */
  const mustName = ({ id, members }: Group, snapshotIds: readonly string[]): void => {
    const named = new Set(snapshotIds);
    if (named.size !== members.length || members.some((member) => !named.has(member.id)))
      throw new Fault(
        "InvalidArgument",
        `snapshot_ids are not the members of group ${id}: ${members.map((member) => member.id).join(", ")}`,
      );
  };

  return serve(GroupController, {
    groupControllerGetCapabilities: () => ({
      capabilities: [
        { type: { case: "rpc" as const, value: { type: Capability.CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT } } },
      ],
    }),
    async createVolumeGroupSnapshot({ name, sourceVolumeIds, secrets }) {
      mustKnow(secrets);
      const ids = [...sourceVolumeIds];
      if (ids.length === 0) throw new Fault("InvalidArgument", "source_volume_ids is required");
      if (new Set(ids).size < ids.length)
        throw new Fault("InvalidArgument", "source_volume_ids names a volume twice: name each once");
      return { groupSnapshot: groupMessage(await storage.takeGroup(required(name, "name"), ids)) };
    },
    async deleteVolumeGroupSnapshot({ groupSnapshotId, snapshotIds, secrets }) {
      const id = required(groupSnapshotId, "group_snapshot_id");
      mustKnow(secrets);
      const group = storage.groups.get(id);
      if (group !== undefined) mustName(group, snapshotIds);
      await storage.deleteGroup(id); // Also when it is not known: its data may still be waiting to be removed.
      return {};
    },
    getVolumeGroupSnapshot({ groupSnapshotId, snapshotIds }) {
      const id = required(groupSnapshotId, "group_snapshot_id");
      const group = storage.groups.get(id);
      if (group === undefined) throw new Fault("NotFound", `group ${id} does not exist`);
      mustName(group, snapshotIds);
      return { groupSnapshot: groupMessage(group) };
    },
  });
}
