/**
 * What a claim may name as its data source. Kubernetes stores a claim whose spec.dataSource it does not support without it, and its
 * user gets an empty volume. These rules say no instead. They look at what the user wrote, before the API server has dropped anything.
 *
 *   source                                   AnyVolumeDataSource on      off
 *   a PersistentVolumeClaim (core group)     allowed                     allowed
 *   a VolumeSnapshot                         allowed                     allowed
 *   another kind of the core group           refused                     refused
 *   a kind of another group                  allowed                     refused
 */
import { isObject, type JsonObject, type JsonValue } from "../base/json.ts";
import { compareQuantities, parseQuantity } from "../base/quantity.ts";
import { fix } from "../errors/codes.ts";
import { type FieldViolation, violationAt } from "./object-rules.ts";
import { isSet, textMember, valueAt, valueText } from "./values.ts";

export interface ClaimGates {
  readonly anyVolumeDataSource: boolean;
  /** Whether the API server keeps spec.dataSourceRef.namespace. */
  readonly crossNamespace: boolean;
}

/** A source as a user may have written it. Go writes an absent group as null. */
interface WrittenSource {
  readonly apiGroup?: JsonValue | undefined;
  readonly kind?: JsonValue | undefined;
  readonly name?: JsonValue | undefined;
  readonly namespace?: JsonValue | undefined;
}

/** supported: a claim, or a VolumeSnapshot. core: any other kind without a group. custom: a kind of any other group. */
type SourceKind = "supported" | "core" | "custom";

export function sourceKindOf({ apiGroup, kind }: WrittenSource): SourceKind {
  if (!isSet(apiGroup)) return kind === "PersistentVolumeClaim" ? "supported" : "core";
  return apiGroup === "snapshot.storage.k8s.io" && kind === "VolumeSnapshot" ? "supported" : "custom";
}

/** What a source cannot do without. */
export const missingMembers = (source: WrittenSource): readonly ("kind" | "name")[] =>
  (["kind", "name"] as const).filter((name) => !isSet(source[name]));

/** In a namespace that it names; only spec.dataSourceRef can. */
export const isElsewhere = (source: WrittenSource | undefined): boolean => isSet(source?.namespace);

/** Both fields of a claim say the same, or only spec.dataSourceRef says something. */
export function pairMistake(
  dataSource: WrittenSource | undefined,
  dataSourceRef: WrittenSource | undefined,
): "across namespaces" | "different" | undefined {
  if (dataSource === undefined || dataSourceRef === undefined) return undefined;
  if (isElsewhere(dataSourceRef)) return "across namespaces";
  const isSame =
    (dataSource.apiGroup ?? null) === (dataSourceRef.apiGroup ?? null) &&
    dataSource.kind === dataSourceRef.kind &&
    dataSource.name === dataSourceRef.name;
  return isSame ? undefined : "different";
}

/** Sources that did not change are not judged again: what is stored must stay usable and deletable. */
export function claimSourceViolations(
  claim: JsonObject,
  before: JsonObject | undefined,
  gates: ClaimGates,
  fields: readonly string[] = ["dataSource", "dataSourceRef"],
): readonly FieldViolation[] {
  return fields.flatMap((name) => {
    const field = `spec.${name}`;
    const source = valueAt(claim, field);
    if (!isObject(source) || (before !== undefined && isSame(source, valueAt(before, field)))) return [];
    return sourceViolations(source, field, gates);
  });
}

const isSame = (source: JsonObject, other: JsonValue | undefined): boolean =>
  isObject(other) &&
  ["apiGroup", "kind", "name", "namespace"].every((name) => (source[name] ?? "") === (other[name] ?? ""));

function sourceViolations(source: JsonObject, field: string, gates: ClaimGates): readonly FieldViolation[] {
  const missing = missingMembers(source);
  if (missing.length > 0) return [violationAt("SNAP-133", `${field}.${missing[0]}`, `must be set; ${fix("SNAP-133")}`)];
  if (field !== "spec.dataSource" && isElsewhere(source) && !gates.crossNamespace)
    return [
      violationAt(
        "SNAP-134",
        `${field}.namespace`,
        `is ${valueText(source.namespace)}, but this cluster drops the namespace and the source with it: its feature gate CrossNamespaceVolumeDataSource is off; ${fix("SNAP-134", "the gate")}`,
      ),
    ];
  const versioned = typeof source.apiGroup === "string" && source.apiGroup.includes("/");
  if (versioned)
    return [
      violationAt(
        "SNAP-135",
        `${field}.apiGroup`,
        `is ${valueText(source.apiGroup)}, but a group has no version; ${fix("SNAP-135", valueText(String(source.apiGroup).split("/", 1)[0]))}`,
      ),
    ];
  const kind = sourceKindOf(source);
  const given = `${valueText(source.kind)} of ${isSet(source.apiGroup) ? `the group ${valueText(source.apiGroup)}` : "the core group"}`;
  if (kind === "core") {
    const remedy = source.kind === "VolumeSnapshot" ? "add apiGroup: snapshot.storage.k8s.io" : fix("SNAP-131");
    return [
      violationAt(
        "SNAP-131",
        field,
        `names a ${given}, which cannot be a data source: the volume would be empty; ${remedy}`,
      ),
    ];
  }
  if (kind === "custom" && !gates.anyVolumeDataSource)
    return [
      violationAt(
        "SNAP-132",
        field,
        `names a ${given}, which this cluster does not support, because its feature gate AnyVolumeDataSource is off: the volume would be empty; ${fix("SNAP-132")}`,
      ),
    ];
  return [];
}

/** The API server keeps a custom kind only in spec.dataSourceRef. The source to put there, where it is missing. */
export function sourceToCopy(claim: JsonObject, { anyVolumeDataSource }: ClaimGates): JsonObject | undefined {
  const source = valueAt(claim, "spec.dataSource");
  if (!anyVolumeDataSource || !isObject(source) || valueAt(claim, "spec.dataSourceRef") !== undefined) return undefined;
  return sourceKindOf(source) === "custom" ? source : undefined;
}

/** A volume that is restored must hold what the snapshot holds. Without a size in the snapshot's status nothing is known. */
export function sizeViolations(claim: JsonObject, snapshot: JsonObject): readonly FieldViolation[] {
  const field = "spec.resources.requests.storage";
  const requested = textMember(claim, field);
  const needed = textMember(snapshot, "status.restoreSize");
  if (requested === undefined || needed === undefined || !isSmaller(requested, needed)) return [];
  const name = textMember(snapshot, "metadata.name");
  return [
    violationAt(
      "SNAP-136",
      field,
      `is ${requested}, but VolumeSnapshot ${name} needs ${needed}; ${fix("SNAP-136", "that")}`,
    ),
  ];
}

function isSmaller(one: string, other: string): boolean {
  try {
    return compareQuantities(parseQuantity(one), parseQuantity(other)) < 0;
  } catch {
    return false;
  }
}
