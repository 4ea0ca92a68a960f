/** Mistakes in manifests that an API server accepts, and that do not do what their writer meant. */
import { isObject, type JsonObject, type JsonValue } from "../base/json.ts";
import { fix } from "../errors/codes.ts";
import { type FieldViolation, violationAt } from "./object-rules.ts";
import { valueAt, valueText } from "./values.ts";

/** A grant that names a group or kind that no object has grants nothing, and nobody is told. */
export function grantViolations(grant: JsonObject): readonly FieldViolation[] {
  return (["from", "to"] as const).flatMap((side) => {
    const entries = valueAt(grant, `spec.${side}`);
    return Array.isArray(entries)
      ? entries.flatMap((entry, index) => (isObject(entry) ? entryViolations(entry, `spec.${side}[${index}]`) : []))
      : [];
  });
}

const kindsOfGroup: Readonly<Record<string, string>> = {
  PersistentVolumeClaim: "",
  VolumeSnapshot: "snapshot.storage.k8s.io",
  VolumeSnapshotLink: "snapshot.storage.k8s.io",
};

function entryViolations(entry: JsonObject, field: string): readonly FieldViolation[] {
  const { group, kind } = entry;
  const violations: FieldViolation[] = [];
  if (group === undefined || group === null)
    violations.push(
      violationAt("SNAP-402", field, `has no group, which is required; ${fix("SNAP-402", valueText(groupOf(kind)))}`),
    );
  else if (typeof group === "string" && group.includes("/"))
    violations.push(
      violationAt(
        "SNAP-401",
        `${field}.group`,
        `is ${valueText(group)}, but a group has no version; ${fix("SNAP-401", valueText(group.split("/", 1)[0] ?? ""))}`,
      ),
    );
  const meant = Object.keys(kindsOfGroup).find((name) => isPlural(kind, name));
  if (meant !== undefined)
    violations.push(
      violationAt(
        "SNAP-403",
        `${field}.kind`,
        `is ${valueText(kind)}, which is a resource and not a kind; ${fix("SNAP-403", meant)}`,
      ),
    );
  return violations;
}

const groupOf = (kind: JsonValue | undefined): string =>
  typeof kind === "string" && Object.hasOwn(kindsOfGroup, kind) ? (kindsOfGroup[kind] ?? "") : "";
const isPlural = (kind: JsonValue | undefined, name: string): boolean =>
  typeof kind === "string" &&
  kind !== name &&
  [name.toLowerCase(), `${name.toLowerCase()}s`].includes(kind.toLowerCase());

/** Backup tools delete the VolumeSnapshot when the backup is done, and rely on the content and its data staying. */
export function backupClassViolations(snapshotClass: JsonObject): readonly FieldViolation[] {
  const labels = valueAt(snapshotClass, "metadata.labels");
  const isForBackups = isObject(labels) && labels["velero.io/csi-volumesnapshot-class"] === "true";
  return isForBackups && valueAt(snapshotClass, "deletionPolicy") === "Delete"
    ? [
        violationAt(
          "SNAP-122",
          "deletionPolicy",
          `is Delete in a class that is labelled for backups: the data goes with the VolumeSnapshot, which backup tools delete; ${fix("SNAP-122", "Retain")}`,
        ),
      ]
    : [];
}
