/** What makes a VolumeSnapshot, a VolumeSnapshotContent or a VolumeSnapshotClass invalid, in every version of their API. */
import { annotations } from "../api/names.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { fix } from "../errors/codes.ts";
import {
  allOf,
  anyOf,
  type Case,
  changed,
  given,
  isOneOf,
  isText,
  not,
  present,
  type RuleCondition,
  says,
  shown,
} from "./condition.ts";
import {
  areTexts,
  type ChangeRule,
  exactlyOneMember,
  type FieldViolation,
  immutableMembers,
  noEmptyOther,
  type ObjectRule,
  type ObjectRules,
  violationAt,
} from "./object-rules.ts";
import { contentSourceNames, snapshotSourceNames } from "./snapshot-source.ts";
import { valueAt } from "./values.ts";

const className: ObjectRule = {
  code: "SNAP-103",
  field: "spec.volumeSnapshotClassName",
  cases: [
    {
      when: allOf(present("spec.volumeSnapshotClassName"), not(given("spec.volumeSnapshotClassName"))),
      says: says`must not be the empty string when set; ${fix("SNAP-103", "it")}`,
    },
  ],
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
  cases: [
    { when: not(isOneOf(field, ["Delete", "Retain"])), says: says`must be Delete or Retain, but is ${shown(field)}` },
  ],
});
const driver = (field: string): ObjectRule => ({
  code: "SNAP-117",
  field,
  cases: [{ when: not(given(field)), says: says`must name the CSI driver; ${fix("SNAP-117", "it", "the driver")}` }],
});

const reference = "spec.volumeSnapshotRef";
const [isNamed, isPlaced] = [given(`${reference}.name`), given(`${reference}.namespace`)];
const missing = (when: RuleCondition, what: string): Case => ({
  when,
  says: says`name and namespace must both be set, but ${what} not; ${fix("SNAP-113")}`,
});
const references: ObjectRule = {
  code: "SNAP-113",
  field: reference,
  cases: [
    missing(not(anyOf(isNamed, isPlaced)), "name and namespace are"),
    missing(not(isNamed), "name is"),
    missing(not(isPlaced), "namespace is"),
  ],
};

/** The whole reference: Kubernetes treats it as one value. */
const boundReference: ChangeRule = {
  code: "SNAP-114",
  field: reference,
  unlessBroken: ["SNAP-113"],
  cases: (["name", "namespace", "uid", "kind", "apiVersion", "fieldPath", "resourceVersion"] as const).map((name) => {
    const path = `${reference}.${name}`;
    return {
      when: allOf(given(`${reference}.uid`, "oldObject"), changed(path)),
      says: says`is immutable once its uid is set, but ${name} was changed from ${shown(path, "oldObject")} to ${shown(path)}; ${fix("SNAP-114")}`,
    };
  }),
};

/** It may be added later, because older releases did not write it. */
const mode = "spec.sourceVolumeMode";
const sourceVolumeMode: ChangeRule = {
  code: "SNAP-115",
  field: mode,
  unlessBroken: [],
  cases: [
    {
      when: allOf(isText(mode, "oldObject"), anyOf(changed(mode), not(isText(mode)))),
      says: says`is immutable once set, but was changed from ${shown(mode, "oldObject")} to ${shown(mode)}; ${fix("SNAP-115", "it")}`,
    },
  ],
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
