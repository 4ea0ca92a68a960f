/** The classes of the directory driver, each the default: claims, snapshots and groups need not name one. */
import { draftOf } from "../../api/builders.ts";
import { annotations, provisioning } from "../../api/names.ts";
import type { KubeApi } from "../../kube/api.ts";

const name = "directory";

export async function createDefaultClasses(client: Pick<KubeApi, "create">, driver: string): Promise<void> {
  const metadata = (annotation: string) => ({ name, annotations: { [annotation]: "true" } });
  const storageClass = { provisioner: driver, reclaimPolicy: "Delete", volumeBindingMode: "Immediate" } as const;
  await Promise.all([
    client.create("StorageClass", draftOf("StorageClass", metadata(provisioning.defaultClass), storageClass)),
    client.create(
      "VolumeSnapshotClass",
      draftOf("VolumeSnapshotClass", metadata(annotations.defaultClass), { driver, deletionPolicy: "Delete" }),
    ),
    client.create(
      "VolumeGroupSnapshotClass",
      draftOf("VolumeGroupSnapshotClass", metadata(annotations.defaultGroupClass), {
        driver,
        deletionPolicy: "Delete",
      }),
    ),
  ]);
}
