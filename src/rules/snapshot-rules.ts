/** What makes a VolumeSnapshot, a VolumeSnapshotContent or a VolumeSnapshotClass invalid, in every version of their API. */
import { annotations } from "../api/names.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { fix } from "../errors/codes.ts";
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
  violationAt,
} from "./object-rules.ts";
import { contentSourceNames, snapshotSourceNames } from "./snapshot-source.ts";

const className: ObjectRule = {
  code: "SNAP-103",
  field: "spec.volumeSnapshotClassName",
  problem: (object) =>
    valueAt(object, "spec.volumeSnapshotClassName") === ""
      ? `must not be the empty string when set; ${fix("SNAP-103", "it")}`
      : undefined,
};

export const snapshotRules: ObjectRules = {
  objects: [
    exactlyOneMember("SNAP-101", "spec.source", ...snapshotSourceNames),
    noEmptyOther("spec.source", ...snapshotSourceNames),
    className,
    ...areTexts(...snapshotSourceNames.map((name) => `spec.source.${name}`), "spec.volumeSnapshotClassName"),
  ],
  changes: [immutableMembers("SNAP-102", "spec.source", ["SNAP-101"], snapshotSourceNames)],
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
    isGiven(object, field) ? undefined : `must name the CSI driver; ${fix("SNAP-117", "it", "the driver")}`,
});

const reference = "spec.volumeSnapshotRef";
const references: ObjectRule = {
  code: "SNAP-113",
  field: reference,
  problem: (object) => {
    const missing = ["name", "namespace"].filter((name) => !isGiven(object, `${reference}.${name}`));
    return missing.length === 0
      ? undefined
      : `name and namespace must both be set, but ${missing.join(" and ")} ${missing.length === 1 ? "is" : "are"} not; ${fix("SNAP-113")}`;
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
      : `is immutable once its uid is set, but ${changed} was changed from ${valueText(valueAt(before, `${reference}.${changed}`))} to ${valueText(valueAt(after, `${reference}.${changed}`))}; ${fix("SNAP-114")}`;
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
      : `is immutable once set, but was changed from ${valueText(old)} to ${valueText(now)}; ${fix("SNAP-115", "it")}`;
  },
};

export const contentRules: ObjectRules = {
  objects: [
    exactlyOneMember("SNAP-111", "spec.source", ...contentSourceNames),
    noEmptyOther("spec.source", ...contentSourceNames),
    references,
    deletionPolicy("spec.deletionPolicy"),
    driver("spec.driver"),
    ...areTexts(...contentSourceNames.map((name) => `spec.source.${name}`), "spec.driver"),
  ],
  changes: [
    immutableMembers("SNAP-112", "spec.source", ["SNAP-111"], contentSourceNames),
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
  const problem = `driver ${driver} has a default VolumeSnapshotClass already (${others.join(", ")}); ${fix("SNAP-121", "there")}`;
  return violationAt("SNAP-121", `metadata.annotations[${annotations.defaultClass}]`, problem);
};
