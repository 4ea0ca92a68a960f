/** The four ways to change an object, as they travel. */
import type { Patch, Ref } from "../api/plan.ts";
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
