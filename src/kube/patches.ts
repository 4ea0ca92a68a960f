/** The four ways to change an object, as they travel. */
import type { Patch, Ref } from "../api/plan.ts";
import { Fault, isFault } from "../base/fault.ts";
import { isObject, type JsonObject } from "../base/json.ts";

const mediaTypes: Readonly<Record<Patch["type"], string>> = {
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
};
export const typeOfPatch = ({ type }: Patch): string => mediaTypes[type];

export const queryOfPatch = (patch: Patch): Readonly<Record<string, string>> =>
  patch.type === "apply"
    ? { fieldManager: patch.fieldManager, ...(patch.force === true ? { force: "true" } : {}) }
    : {};

/** A patch for one incarnation says so, and the server refuses it for any other. An apply names its object in full. */
export function bodyOfPatch(ref: Ref, patch: Patch, apiVersion: string): unknown {
  const { uid } = ref;
  switch (patch.type) {
    case "json":
      return uid === undefined ? patch.body : [{ op: "test", path: "/metadata/uid", value: uid }, ...patch.body];
    case "merge":
    case "strategic":
      return uid === undefined ? patch.body : { ...patch.body, metadata: { ...metadataOf(patch.body), uid } };
    case "apply": {
      const metadata = { ...metadataOf(patch.body), name: ref.name, ...(uid === undefined ? {} : { uid }) };
      return { ...patch.body, apiVersion, kind: ref.kind, metadata };
    }
  }
}

const metadataOf = (body: JsonObject): JsonObject => (isObject(body.metadata) ? body.metadata : {});

/**
 * The server calls two things invalid that are a race lost: a `test` or a path of a JSON patch that no longer fits (told
 * apart from a broken rule by having no causes), and another uid than the one the object has now.
 */
export function faultOfPatch(ref: Ref, patch: Patch, reason: unknown): unknown {
  if (!isFault(reason, "Invalid")) return reason;
  const causes = isObject(reason.details) && Array.isArray(reason.details.causes) ? reason.details.causes : [];
  const isMisfit = patch.type === "json" && causes.length === 0;
  const isOther = ref.uid !== undefined && causes.length > 0 && causes.every(isAboutUid);
  if (!isMisfit && !isOther) return reason;
  const name = ref.namespace === undefined ? ref.name : `${ref.namespace}/${ref.name}`;
  const problem = isOther ? `is another one than the uid ${ref.uid} says` : "is not as the patch expects";
  return new Fault("Conflict", `${ref.kind} ${name} ${problem}`, { details: reason.details });
}

const isAboutUid = (cause: unknown): boolean => isObject(cause) && cause.field === "metadata.uid";
