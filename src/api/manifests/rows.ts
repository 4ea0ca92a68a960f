/** All components that can be installed: a file each, and a line here. */
import type { ComponentRow, SidecarRow } from "./component.ts";
import { csiProvisionerRow } from "./csi-provisioner.ts";
import { csiSidecarsRow } from "./csi-sidecars.ts";
import { csiSnapshotterRow } from "./csi-snapshotter.ts";
import { directoryDriverRow } from "./directory-driver.ts";
import { sharedResourceRow } from "./shared-resource.ts";
import { sharedResourceControllerRow } from "./shared-resource-controller.ts";
import { snapshotControllerRow } from "./snapshot-controller.ts";
import { webhookRow } from "./webhook.ts";

export const componentRows: readonly ComponentRow[] = [
  snapshotControllerRow,
  webhookRow,
  directoryDriverRow,
  sharedResourceControllerRow,
  sharedResourceRow,
];

/** Each in a container of its own. */
export const sidecarRows: readonly SidecarRow[] = [csiSnapshotterRow, csiProvisionerRow];
/** Also both in one. */
export const allSidecarRows: readonly SidecarRow[] = [...sidecarRows, csiSidecarsRow];
