/** Columns of volumes, claims, storage classes and what CSI adds. */
import type { ApiObject, Column } from "../contracts.ts";
import { ageColumn, at, column, count, listAt, nameColumn, or, sizeAt, textAt, wide } from "./basic.ts";

const modeLetters: readonly (readonly [mode: string, short: string])[] = [
  ["ReadWriteOnce", "RWO"],
  ["ReadOnlyMany", "ROX"],
  ["ReadWriteMany", "RWX"],
  ["ReadWriteOncePod", "RWOP"],
];

const accessModes = (object: ApiObject, part: "spec" | "status"): string => {
  const modes = listAt(object, part, "accessModes");
  return modeLetters
    .filter(([mode]) => modes.includes(mode))
    .map(([, short]) => short)
    .join(",");
};

const phaseOf = (object: ApiObject): string =>
  object.metadata.deletionTimestamp === undefined ? textAt(object, "status", "phase") : "Terminating";

const betaClass = "volume.beta.kubernetes.io/storage-class";
const classOf = (object: ApiObject): string =>
  object.metadata.annotations?.[betaClass] ?? textAt(object, "spec", "storageClassName");

const attributesClass = (object: ApiObject): string =>
  or(textAt(object, "spec", "volumeAttributesClassName"), "<unset>");
const volumeMode = wide("VolumeMode", (object) => or(textAt(object, "spec", "volumeMode"), "<unset>"));

const claimOf = (volume: ApiObject): string =>
  at(volume, "spec", "claimRef") === undefined
    ? ""
    : `${textAt(volume, "spec", "claimRef", "namespace")}/${textAt(volume, "spec", "claimRef", "name")}`;

const isBound = (claim: ApiObject): boolean => textAt(claim, "spec", "volumeName") !== "";

const flag = (object: ApiObject, otherwise: boolean, ...path: readonly string[]): boolean => {
  const value = at(object, ...path);
  return typeof value === "boolean" ? value : otherwise;
};
const flagColumn = (name: string, otherwise: boolean, ...path: readonly string[]): Column =>
  column(name, (object) => flag(object, otherwise, ...path), { type: "boolean" });

const defaultClass = [
  "storageclass.kubernetes.io/is-default-class",
  "storageclass.beta.kubernetes.io/is-default-class",
];
const className = ({ metadata }: ApiObject): string =>
  defaultClass.some((annotation) => metadata.annotations?.[annotation] === "true")
    ? `${metadata.name ?? ""} (default)`
    : (metadata.name ?? "");

const audiences = (driver: ApiObject): string =>
  at(driver, "spec", "tokenRequests") === undefined
    ? "<unset>"
    : listAt(driver, "spec", "tokenRequests")
        .map((request) => textAt(request, "audience"))
        .join(",");

export const storageColumns: Readonly<Record<string, readonly Column[]>> = {
  "/PersistentVolume": [
    nameColumn,
    column("Capacity", (volume) => or(textAt(volume, "spec", "capacity", "storage"), "0")),
    column("Access Modes", (volume) => accessModes(volume, "spec")),
    column("Reclaim Policy", (volume) => textAt(volume, "spec", "persistentVolumeReclaimPolicy")),
    column("Status", phaseOf),
    column("Claim", claimOf),
    column("StorageClass", classOf),
    column("VolumeAttributesClass", attributesClass),
    column("Reason", (volume) => textAt(volume, "status", "reason")),
    ageColumn,
    volumeMode,
  ],
  "/PersistentVolumeClaim": [
    nameColumn,
    column("Status", phaseOf),
    column("Volume", (claim) => textAt(claim, "spec", "volumeName")),
    column("Capacity", (claim) => (isBound(claim) ? or(textAt(claim, "status", "capacity", "storage"), "0") : "")),
    column("Access Modes", (claim) => (isBound(claim) ? accessModes(claim, "status") : "")),
    column("StorageClass", classOf),
    column("VolumeAttributesClass", attributesClass),
    ageColumn,
    volumeMode,
  ],
  "storage.k8s.io/StorageClass": [
    { ...nameColumn, cell: className },
    column("Provisioner", (object) => textAt(object, "provisioner")),
    column("ReclaimPolicy", (object) => or(textAt(object, "reclaimPolicy"), "Delete")),
    column("VolumeBindingMode", (object) => or(textAt(object, "volumeBindingMode"), "Immediate")),
    column("AllowVolumeExpansion", (object) => flag(object, false, "allowVolumeExpansion")),
    ageColumn,
  ],
  "storage.k8s.io/CSIDriver": [
    nameColumn,
    flagColumn("AttachRequired", true, "spec", "attachRequired"),
    flagColumn("PodInfoOnMount", false, "spec", "podInfoOnMount"),
    flagColumn("StorageCapacity", false, "spec", "storageCapacity"),
    column("TokenRequests", audiences),
    flagColumn("RequiresRepublish", false, "spec", "requiresRepublish"),
    column("Modes", (driver) => or(listAt(driver, "spec", "volumeLifecycleModes").map(String).join(","), "<none>")),
    ageColumn,
  ],
  "storage.k8s.io/CSINode": [nameColumn, count("Drivers", (node) => sizeAt(node, "spec", "drivers")), ageColumn],
  "storage.k8s.io/CSIStorageCapacity": [
    nameColumn,
    column("StorageClassName", (object) => textAt(object, "storageClassName")),
    column("Capacity", (object) => or(textAt(object, "capacity"), "<unset>")),
  ],
  "storage.k8s.io/VolumeAttachment": [
    nameColumn,
    column("Attacher", (object) => textAt(object, "spec", "attacher"), { format: "name" }),
    column("PV", (object) => textAt(object, "spec", "source", "persistentVolumeName")),
    column("Node", (object) => textAt(object, "spec", "nodeName")),
    flagColumn("Attached", false, "status", "attached"),
    ageColumn,
  ],
};
