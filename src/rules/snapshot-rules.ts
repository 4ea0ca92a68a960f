/** What makes a VolumeSnapshot, a VolumeSnapshotContent or a VolumeSnapshotClass invalid, in every version of their API. */
import { annotations } from "../api/names.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { withCode } from "./error-codes.ts";
import {
  areTexts,
  type ChangeRule,
  exactlyOneMember,
  type FieldViolation,
  immutableMembers,
  isGiven,
  noEmptyOther,
  type ObjectRule,
  type ObjectRules,
  textMember,
  valueAt,
  valueText,
} from "./object-rules.ts";
import { contentSourceNames, snapshotSourceNames } from "./snapshot-source.ts";

const className: ObjectRule = {
  code: "SNAP-103",
  field: "spec.volumeSnapshotClassName",
  problem: (object) =>
    valueAt(object, "spec.volumeSnapshotClassName") === ""
      ? "must not be the empty string when set; remove it to use the default class, or name a class"
      : undefined,
};

export const snapshotRules: ObjectRules = {
  objects: [
    exactlyOneMember("SNAP-101", "spec.source", ...snapshotSourceNames),
    noEmptyOther("SNAP-104", "spec.source", ...snapshotSourceNames),
    className,
    ...areTexts(...snapshotSourceNames.map((name) => `spec.source.${name}`), "spec.volumeSnapshotClassName"),
  ],
  changes: [
    immutableMembers(
      "SNAP-102",
      "spec.source",
      ["SNAP-101"],
      "delete the VolumeSnapshot and create one with the right source",
      snapshotSourceNames,
    ),
  ],
};

const deletionPolicy = (field: string): ObjectRule => ({
  code: "SNAP-116",
  field,
  problem: (object) => {
    const value = valueAt(object, field);
    return value === "Delete" || value === "Retain"
      ? undefined
      : `must be Delete or Retain, but is ${valueText(value)}`;
  },
});
const driver = (field: string): ObjectRule => ({
  code: "SNAP-117",
  field,
  problem: (object) =>
    isGiven(object, field) ? undefined : "must name the CSI driver; set it to the name of the driver",
});

const reference = "spec.volumeSnapshotRef";
const references: ObjectRule = {
  code: "SNAP-113",
  field: reference,
  problem: (object) => {
    const missing = ["name", "namespace"].filter((name) => !isGiven(object, `${reference}.${name}`));
    return missing.length === 0
      ? undefined
      : `name and namespace must both be set, but ${missing.join(" and ")} ${missing.length === 1 ? "is" : "are"} not; name the VolumeSnapshot that the content belongs to, even if it does not exist yet`;
  },
};

/** The whole reference: Kubernetes treats it as one value. */
const boundReference: ChangeRule = {
  code: "SNAP-114",
  field: reference,
  unlessBroken: ["SNAP-113"],
  problem: (before, after) => {
    if (!isGiven(before, `${reference}.uid`)) return undefined;
    const changed = referenceMembers.find(
      (name) =>
        (textMember(before, `${reference}.${name}`) ?? "") !== (textMember(after, `${reference}.${name}`) ?? ""),
    );
    return changed === undefined
      ? undefined
      : `is immutable once its uid is set, but ${changed} was changed from ${valueText(valueAt(before, `${reference}.${changed}`))} to ${valueText(valueAt(after, `${reference}.${changed}`))}; create another content for the other VolumeSnapshot`;
  },
};
const referenceMembers = ["name", "namespace", "uid", "kind", "apiVersion", "fieldPath", "resourceVersion"] as const;

/** It may be added later, because older releases did not write it. */
const sourceVolumeMode: ChangeRule = {
  code: "SNAP-115",
  field: "spec.sourceVolumeMode",
  unlessBroken: [],
  problem: (before, after) => {
    const [old, now] = [before, after].map((object) => textMember(object, "spec.sourceVolumeMode"));
    return old === undefined || old === now
      ? undefined
      : `is immutable once set, but was changed from ${valueText(old)} to ${valueText(now)}; set it back`;
  },
};

export const contentRules: ObjectRules = {
  objects: [
    exactlyOneMember("SNAP-111", "spec.source", ...contentSourceNames),
    noEmptyOther("SNAP-104", "spec.source", ...contentSourceNames),
    references,
    deletionPolicy("spec.deletionPolicy"),
    driver("spec.driver"),
    ...areTexts(...contentSourceNames.map((name) => `spec.source.${name}`), "spec.driver"),
  ],
  changes: [
    immutableMembers(
      "SNAP-112",
      "spec.source",
      ["SNAP-111"],
      "delete the VolumeSnapshotContent and create one with the right handle",
      contentSourceNames,
    ),
    boundReference,
    sourceVolumeMode,
  ],
};

export const classRules: ObjectRules = {
  objects: [deletionPolicy("deletionPolicy"), driver("driver"), ...areTexts("driver")],
  changes: [],
};

/** A default class of a driver: at most one counts for a VolumeSnapshot without a class name. */
const isDefaultClass = (object: JsonObject): boolean => {
  const found = valueAt(object, "metadata.annotations");
  return isObject(found) && found[annotations.defaultClass] === "true";
};

/** The driver that a class is the default of; undefined for any other class. */
export const defaultClassDriver = (object: JsonObject | undefined): string | undefined =>
  object !== undefined && isDefaultClass(object) ? String(valueAt(object, "driver") ?? "") : undefined;

export const secondDefault = (driver: string, others: readonly string[]): FieldViolation => {
  const field = `metadata.annotations[${annotations.defaultClass}]`;
  const message = `driver ${driver} has a default VolumeSnapshotClass already (${others.join(", ")}); remove the annotation there first`;
  return { code: "SNAP-121", field, message: withCode(`${field}: ${message}`, "SNAP-121") };
};
