/** Which volume fits a claim. Pure. */
import type { LabelSelector } from "kubernetes-types/meta/v1.js";
import { isObject } from "../../../base/json.ts";
import { compareQuantities, type Quantity } from "../../../base/quantity.ts";
import { part, quantityOf } from "../../builtin/check.ts";
import type { ApiObject } from "../../contracts.ts";
import { matchesSelector } from "../../label-match.ts";
import { claimRefOf, classNameOf, isBoundTo, modeOf, phaseOf } from "./words.ts";

const accessModesOf = (object: ApiObject): readonly string[] => {
  const { accessModes } = part(object, "spec");
  return Array.isArray(accessModes) ? accessModes.map(String) : [];
};
export const requestOf = (claim: ApiObject): Quantity =>
  quantityOf(part(part(part(claim, "spec"), "resources"), "requests").storage);
export const capacityOf = (volume: ApiObject): Quantity => quantityOf(part(part(volume, "spec"), "capacity").storage);

/**
 * A volume already promised to this claim wins at once, whatever its class. Otherwise the smallest available one of the
 * claim's class that its selector allows; `delayed` claims wait for a pod and take no other volume here.
 * Data sources play no part: a claim that wants a snapshot's data can be given a volume without it, as in Kubernetes.
 */
export function matchingVolume(
  claim: ApiObject,
  volumes: readonly ApiObject[],
  delayed: boolean,
): ApiObject | undefined {
  const fitting = volumes.filter((volume) => fits(volume, claim));
  const promised = fitting.find((volume) => isBoundTo(volume, claim));
  if (promised !== undefined || delayed) return promised;
  return fitting.filter((volume) => isFree(volume, claim)).reduce<ApiObject | undefined>(smaller, undefined);
}

function fits(volume: ApiObject, claim: ApiObject): boolean {
  const offered = accessModesOf(volume);
  return (
    volume.metadata.deletionTimestamp === undefined &&
    (claimRefOf(volume) === undefined || isBoundTo(volume, claim)) &&
    accessModesOf(claim).every((mode) => offered.includes(mode)) &&
    compareQuantities(capacityOf(volume), requestOf(claim)) >= 0 &&
    modeOf(volume) === modeOf(claim)
  );
}

function isFree(volume: ApiObject, claim: ApiObject): boolean {
  const { selector } = part(claim, "spec");
  return (
    phaseOf(volume) === "Available" &&
    (classNameOf(volume) ?? "") === (classNameOf(claim) ?? "") &&
    (!isObject(selector) || matchesSelector(selector as unknown as LabelSelector, volume.metadata.labels))
  );
}

const smaller = (best: ApiObject | undefined, volume: ApiObject): ApiObject =>
  best === undefined || compareQuantities(capacityOf(volume), capacityOf(best)) < 0 ? volume : best;

/** Why a volume that the claim names itself cannot be given to it. */
export function misfit(volume: ApiObject, claim: ApiObject): string | undefined {
  if (compareQuantities(capacityOf(volume), requestOf(claim)) < 0) return "requested PV is too small";
  if ((classNameOf(volume) ?? "") !== (classNameOf(claim) ?? "")) return "storageClassName does not match";
  if (modeOf(volume) !== modeOf(claim)) return "incompatible volumeMode";
  const offered = accessModesOf(volume);
  if (!accessModesOf(claim).every((mode) => offered.includes(mode))) return "incompatible accessMode";
  return undefined;
}
