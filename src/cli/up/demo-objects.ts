/** What a snapshot is taken of: a volume of the driver behind a bound claim, and a class. There is no provisioner yet. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { draftOf } from "../../api/builders.ts";
import { annotations } from "../../api/names.ts";
import { Fault } from "../../base/fault.ts";
import { VolumeCapability_AccessMode_Mode as AccessMode } from "../../csi/gen/csi_pb.js";
import { driverName, type Stack } from "./stack.ts";

export const namespace = "default";
export const names = { class: "directory", volume: "data", claim: "data", file: "notes.txt" } as const;
export const claimRef = { kind: "PersistentVolumeClaim", namespace, name: names.claim } as const;
/** In the order in which they go. */
export const demoObjects = [
  claimRef,
  { kind: "PersistentVolume", name: names.volume },
  { kind: "VolumeSnapshotClass", name: names.class },
] as const;

const capacity = { storage: "1Gi" };
const accessModes = ["ReadWriteOnce"];
const capability = {
  accessMode: { mode: AccessMode.SINGLE_NODE_WRITER },
  accessType: { case: "mount" as const, value: {} },
};

/** The volume is made through the driver and written down by hand; returns its handle. */
export async function createDemoObjects({ client, csi, driver }: Stack, text: string): Promise<string> {
  const { volume } = await csi.controller.createVolume({ name: names.volume, volumeCapabilities: [capability] });
  const volumeHandle = volume?.volumeId ?? "";
  await writeFile(fileIn({ driver }), text);
  const isDefault = { annotations: { [annotations.defaultClass]: "true" } };
  await client.create(
    "VolumeSnapshotClass",
    draftOf(
      "VolumeSnapshotClass",
      { name: names.class, ...isDefault },
      { driver: driverName, deletionPolicy: "Delete" },
    ),
  );
  const spec = {
    capacity,
    accessModes,
    persistentVolumeReclaimPolicy: "Retain",
    storageClassName: "",
    csi: { driver: driverName, volumeHandle },
    claimRef: { namespace, name: names.claim },
  };
  await client.create("PersistentVolume", draftOf("PersistentVolume", { name: names.volume }, { spec }));
  const claimSpec = { accessModes, storageClassName: "", volumeName: names.volume, resources: { requests: capacity } };
  await client.create("PersistentVolumeClaim", draftOf("PersistentVolumeClaim", claimRef, { spec: claimSpec }));
  return volumeHandle;
}

/** The file in the volume, as it lies on this machine. */
export function fileIn({ driver: { storage } }: Pick<Stack, "driver">): string {
  const volume = storage.volumes.get(names.volume);
  if (volume === undefined) throw new Fault("NotFound", "the driver does not know the volume");
  return join(storage.dataOf(volume), names.file);
}
