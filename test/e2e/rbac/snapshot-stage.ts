/** A driver that announces everything, with its classes, on a control plane. */
import { draftOf } from "../../../src/api/builders.ts";
import { groupSnapshotCrds } from "../../../src/api/crds/group-snapshots.ts";
import { annotations } from "../../../src/api/names.ts";
import { isFault } from "../../../src/base/fault.ts";
import { ControllerServiceCapability_RPC_Type as Can } from "../../../src/csi/gen/csi_pb.js";
import { aStorageClass } from "../harness/claims.ts";
import { type Client, connect } from "../harness/client.ts";
import { installSnapshotCrds } from "../harness/components.ts";
import type { ControlPlane } from "../harness/control-plane.ts";
import { installCrds } from "../harness/crds.ts";
import { type OddDriver, startOddDriver } from "../harness/odd-driver.ts";
import { createOwners } from "../harness/owners.ts";
import { until } from "../harness/until.ts";
import { installation, sidecarDriver } from "./rights.ts";

const zone = "example.com/zone";
export const storageClass = "directory";
/** The driver of this class does not exist: its claims wait. */
export const idleClass = "idle";

export interface Stage {
  readonly plane: ControlPlane;
  readonly client: Client;
  readonly driver: OddDriver;
}

/** A driver that announces everything, with its classes, and a node. */
export async function snapshotStage(plane: ControlPlane): Promise<Stage> {
  const { client } = await connect(plane.kubeconfig);
  await installSnapshotCrds(client);
  await installCrds(client, groupSnapshotCrds());
  const more = [Can.PUBLISH_UNPUBLISH_VOLUME, Can.CLONE_VOLUME, Can.GET_CAPACITY];
  const driver = await startOddDriver(plane.instance.folder, { driver: sidecarDriver, hasTopology: true, more });
  await aStorageClass(client, storageClass, driver.driver);
  await aStorageClass(client, idleClass, "idle.example.com");
  const isDefault = { [annotations.defaultClass]: "true" };
  await client.create(
    "VolumeSnapshotClass",
    draftOf(
      "VolumeSnapshotClass",
      { name: "directory", annotations: isDefault },
      { driver: driver.driver, deletionPolicy: "Delete" },
    ),
  );
  await until({ what: "groups are served" }, () =>
    client.list("VolumeGroupSnapshotClass").then(
      () => true as const,
      () => undefined,
    ),
  );
  await client.create(
    "VolumeGroupSnapshotClass",
    draftOf(
      "VolumeGroupSnapshotClass",
      { name: "directory", annotations: { [annotations.defaultGroupClass]: "true" } },
      { driver: driver.driver, deletionPolicy: "Delete" },
    ),
  );
  await client.create("Namespace", draftOf("Namespace", { name: installation.driverNamespace }, {}));
  await createOwners(plane, installation.driverNamespace);
  await client.create("Node", draftOf("Node", { name: "a", labels: { [zone]: "a" } }, {}));
  const drivers = [{ name: driver.driver, nodeID: "a", topologyKeys: [zone] }];
  await client.create("CSINode", draftOf("CSINode", { name: "a" }, { spec: { drivers } }));
  return { plane, client, driver };
}

export const ignoreMissing = (reason: unknown): void => {
  if (!isFault(reason, "NotFound") && !isFault(reason, "Conflict")) throw reason;
};
