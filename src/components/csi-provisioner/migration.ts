/** In-tree migration, which is not done: who relies on it is told. */
import type { Log } from "../../base/log.ts";

/** Drivers to which volumes of a plugin that was part of Kubernetes are migrated elsewhere. */
const migrated: Readonly<Record<string, string>> = {
  "ebs.csi.aws.com": "kubernetes.io/aws-ebs",
  "pd.csi.storage.gke.io": "kubernetes.io/gce-pd",
  "cinder.csi.openstack.org": "kubernetes.io/cinder",
  "disk.csi.azure.com": "kubernetes.io/azure-disk",
  "file.csi.azure.com": "kubernetes.io/azure-file",
  "csi.vsphere.vmware.com": "kubernetes.io/vsphere-volume",
  "pxd.portworx.com": "kubernetes.io/portworx-volume",
};

export function warnOfMigration(driver: string, log: Log): void {
  const plugin = migrated[driver];
  if (plugin === undefined) return;
  const remedy = `use StorageClasses whose provisioner is ${driver}`;
  log.warn("claims and volumes of the in-tree plugin are not migrated: nothing is done about them", { plugin, remedy });
}
