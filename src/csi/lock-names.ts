/** Which calls exclude each other: those that change the same volume, snapshot or group. Reading takes no lock. */
import type { DescMethodUnary } from "@bufbuild/protobuf";
import { Controller, GroupController, Node } from "./gen/csi_pb.js";
import type { CsiCall } from "./wire.ts";

interface Ids {
  readonly name?: string;
  readonly volumeId?: string;
  readonly snapshotId?: string;
  readonly groupSnapshotId?: string;
}

type LockName = (request: Ids) => string;

/** Before something has an id, its name stands for it: creation is idempotent by name. */
const volumeName: LockName = ({ name = "" }) => name && `volume named ${name}`;
const snapshotName: LockName = ({ name = "" }) => name && `snapshot named ${name}`;
const groupName: LockName = ({ name = "" }) => name && `group snapshot named ${name}`;
const volume: LockName = ({ volumeId = "" }) => volumeId && `volume ${volumeId}`;
const snapshot: LockName = ({ snapshotId = "" }) => snapshotId && `snapshot ${snapshotId}`;
const group: LockName = ({ groupSnapshotId = "" }) => groupSnapshotId && `group snapshot ${groupSnapshotId}`;

const lockNames: ReadonlyMap<DescMethodUnary, LockName> = new Map<DescMethodUnary, LockName>([
  [Controller.method.createVolume, volumeName],
  [Controller.method.deleteVolume, volume],
  [Controller.method.controllerPublishVolume, volume],
  [Controller.method.controllerUnpublishVolume, volume],
  [Controller.method.controllerExpandVolume, volume],
  [Controller.method.controllerModifyVolume, volume],
  [Controller.method.createSnapshot, snapshotName],
  [Controller.method.deleteSnapshot, snapshot],
  [GroupController.method.createVolumeGroupSnapshot, groupName],
  [GroupController.method.deleteVolumeGroupSnapshot, group],
  [Node.method.nodeStageVolume, volume],
  [Node.method.nodeUnstageVolume, volume],
  [Node.method.nodePublishVolume, volume],
  [Node.method.nodeUnpublishVolume, volume],
  [Node.method.nodeExpandVolume, volume],
]);

/** Undefined for a call that needs no lock, and for one without an id: the handler refuses that, no lock has to. */
export function lockNameOf({ method, request }: Pick<CsiCall, "method" | "request">): string | undefined {
  return lockNames.get(method)?.(request as Ids) || undefined;
}
