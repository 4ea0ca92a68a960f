/** Events live once and are served under two names: core "Event" and events.k8s.io "Event" call the same things differently. */
import type { JsonObject } from "../base/json.ts";
import type { ApiObject, Resource } from "./contracts.ts";

/** core → events.k8s.io */
const renamed: readonly (readonly [core: string, modern: string])[] = [
  ["involvedObject", "regarding"],
  ["message", "note"],
  ["source", "deprecatedSource"],
  ["firstTimestamp", "deprecatedFirstTimestamp"],
  ["lastTimestamp", "deprecatedLastTimestamp"],
  ["count", "deprecatedCount"],
  ["reportingComponent", "reportingController"],
];
const toModern = new Map(renamed);
const toCore = new Map(renamed.map(([core, modern]) => [modern, core]));

function rename(object: ApiObject, names: ReadonlyMap<string, string>, apiVersion: string): ApiObject {
  const result: JsonObject = {};
  for (const [key, value] of Object.entries(object)) result[names.get(key) ?? key] = value;
  return { ...result, apiVersion, kind: object.kind, metadata: object.metadata };
}

/** The newer name leaves an empty reporter out, the older one always writes it. */
const reporters = ["reportingController", "reportingInstance"];

function withoutEmptyReporters(object: ApiObject): ApiObject {
  for (const key of reporters) if (object[key] === "") delete object[key];
  return object;
}

export const eventConversion: NonNullable<Resource["conversion"]> = {
  fromStored: (object) => withoutEmptyReporters(rename(object, toModern, "events.k8s.io/v1")),
  toStored: (object) => ({
    ...rename({ reportingController: "", reportingInstance: "", ...object }, toCore, "v1"),
  }),
};
