/**
 * What a planner wants of an object it has seen, as the smallest action that gets there. Every write is a merge patch of the
 * difference, guarded by the version the decision was made on: if anybody wrote meanwhile, the server refuses and the next
 * pass decides anew. So a list that others also write (finalizers) can be sent whole without erasing anything.
 */
import { difference, type JsonObject } from "../base/json.ts";
import { refOf } from "./builders.ts";
import type { KindName } from "./kinds.ts";
import type { ClusterAction } from "./plan.ts";
import type { KubeObject } from "./types.ts";

export interface Change {
  readonly addFinalizers?: readonly string[];
  readonly removeFinalizers?: readonly string[];
  /** null removes the key. */
  readonly annotations?: Readonly<Record<string, string | null>>;
  readonly labels?: Readonly<Record<string, string | null>>;
  /** Members of spec to set. */
  readonly spec?: JsonObject;
}

/** One patch for all of the change, or none when the object already is as wanted. */
export function changeObject(kind: KindName, object: KubeObject, change: Change): readonly ClusterAction[] {
  const { metadata } = object;
  const wantedMetadata = {
    finalizers: finalizersAfter(metadata.finalizers ?? [], change),
    annotations: overlaid(metadata.annotations, change.annotations),
    labels: overlaid(metadata.labels, change.labels),
  };
  const seenMetadata = {
    finalizers: metadata.finalizers ?? [],
    annotations: metadata.annotations ?? {},
    labels: metadata.labels ?? {},
  };
  const metadataPatch = difference(seenMetadata as unknown as JsonObject, wantedMetadata as unknown as JsonObject);
  const seenSpec = ((object as { spec?: JsonObject }).spec ?? {}) as JsonObject;
  const specPatch = difference(seenSpec, { ...seenSpec, ...change.spec });
  if (metadataPatch === undefined && specPatch === undefined) return [];
  const guarded = { ...metadataPatch, resourceVersion: metadata.resourceVersion };
  const body: JsonObject = specPatch === undefined ? { metadata: guarded } : { metadata: guarded, spec: specPatch };
  return [{ kind: "patch", ref: refOf(kind, object), patch: { type: "merge", body } }];
}

const finalizersAfter = (
  present: readonly string[],
  { addFinalizers = [], removeFinalizers = [] }: Change,
): readonly string[] => [
  ...present.filter((name) => !removeFinalizers.includes(name)),
  ...addFinalizers.filter((name) => !present.includes(name)),
];

const overlaid = (
  present: Readonly<Record<string, string>> | undefined,
  changes: Readonly<Record<string, string | null>> | undefined,
): Record<string, string> => {
  const merged: Record<string, string | null> = { ...present, ...changes };
  return Object.fromEntries(Object.entries(merged).filter((entry): entry is [string, string] => entry[1] !== null));
};

/** A patch of /status from what it is to what it should be, or none when it already is. */
export function changeStatus(
  kind: KindName,
  object: KubeObject & { readonly status?: unknown },
  wanted: JsonObject,
): readonly ClusterAction[] {
  const status = difference((object.status ?? {}) as JsonObject, wanted);
  if (status === undefined) return [];
  const body: JsonObject = { metadata: { resourceVersion: object.metadata.resourceVersion }, status };
  return [{ kind: "patch", ref: refOf(kind, object), patch: { type: "merge", body }, subresource: "status" }];
}

/**
 * The same for kinds whose customary RBAC grants update but not patch (claims): the object exactly as it was read, fields we do
 * not know included, with its finalizers changed.
 */
export function replaceFinalizers(
  kind: KindName,
  object: KubeObject,
  change: Pick<Change, "addFinalizers" | "removeFinalizers">,
): readonly ClusterAction[] {
  const present = object.metadata.finalizers ?? [];
  const finalizers = finalizersAfter(present, change);
  if (finalizers.length === present.length && finalizers.every((name, index) => name === present[index])) return [];
  return [
    { kind: "replace", ref: refOf(kind, object), object: { ...object, metadata: { ...object.metadata, finalizers } } },
  ];
}
