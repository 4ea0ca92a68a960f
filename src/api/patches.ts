/**
 * The writes planners ask for, as data. One rule keeps concurrent writers from undoing each other: what we decided by reading
 * an object carries the version we read. If another writer was faster, the server rejects the patch and the next reconcile
 * decides again. At most one such write per object and plan, and it goes first: its own success changes the version.
 */
import type { JsonObject } from "../base/json.ts";
import { difference, equal } from "../base/json.ts";
import { refOf } from "./builders.ts";
import type { KindName } from "./kinds.ts";
import type { ClusterAction } from "./plan.ts";
import type { KubeObject, ObjectMeta } from "./types.ts";

/** What is to become of metadata and spec. Undefined as a value removes the annotation or label. */
export interface Edits {
  readonly addFinalizers?: readonly string[];
  readonly removeFinalizers?: readonly string[];
  readonly annotations?: Readonly<Record<string, string | undefined>>;
  readonly labels?: Readonly<Record<string, string | undefined>>;
  /** Members of the spec to set; the others stay. */
  readonly spec?: JsonObject;
}

/** All edits of one object in one merge patch, guarded by its version; nothing when it already is as wanted. */
export function edit(kind: KindName, object: KubeObject, edits: Edits): readonly ClusterAction[] {
  const wanted = edited(object.metadata, edits);
  const change = difference(editable(object.metadata), editable(wanted));
  const seenSpec = (object as { spec?: JsonObject }).spec ?? {};
  const spec = edits.spec === undefined ? undefined : difference(seenSpec, { ...seenSpec, ...edits.spec });
  if (change === undefined && spec === undefined) return [];
  const metadata = { resourceVersion: object.metadata.resourceVersion, ...change };
  const body = spec === undefined ? { metadata } : { metadata, spec };
  return [{ kind: "patch", ref: refOf(kind, object), patch: { type: "merge", body } }];
}

/** The same as `edit` for kinds whose customary RBAC grants update but not patch: the object as read, plus the edits. */
export function editByReplacing(
  kind: KindName,
  object: KubeObject,
  edits: Omit<Edits, "spec">,
): readonly ClusterAction[] {
  const metadata = edited(object.metadata, edits);
  if (equal(metadata, object.metadata)) return [];
  return [{ kind: "replace", ref: refOf(kind, object), object: { ...object, metadata } }];
}

/**
 * The same finalizers in another order: a new version of the object, and no other change. A request that removes the finalizer and may
 * still be on its way names the version before, and fails then. With this finalizer alone there is nothing to move.
 */
export function renewByReplacing(kind: KindName, object: KubeObject, finalizer: string): readonly ClusterAction[] {
  const { finalizers = [] } = object.metadata;
  const others = finalizers.filter((name) => name !== finalizer);
  if (others.length === 0) return [];
  const moved = finalizers[0] === finalizer ? [...others, finalizer] : [finalizer, ...others];
  return [
    {
      kind: "replace",
      ref: refOf(kind, object),
      object: { ...object, metadata: { ...object.metadata, finalizers: moved } },
    },
  ];
}

const editable = ({ finalizers = [], annotations = {}, labels = {} }: ObjectMeta): JsonObject => ({
  finalizers: [...finalizers],
  annotations,
  labels,
});

function edited(metadata: ObjectMeta, edits: Edits): ObjectMeta {
  const { addFinalizers = [], removeFinalizers = [] } = edits;
  const kept = (metadata.finalizers ?? []).filter((name) => !removeFinalizers.includes(name));
  const finalizers = [...kept, ...addFinalizers.filter((name) => !kept.includes(name))];
  return {
    ...metadata,
    ...(finalizers.length === 0 && metadata.finalizers === undefined ? {} : { finalizers }),
    ...merged("annotations", metadata.annotations, edits.annotations),
    ...merged("labels", metadata.labels, edits.labels),
  };
}

function merged(
  field: "annotations" | "labels",
  before: Readonly<Record<string, string>> | undefined,
  changes: Readonly<Record<string, string | undefined>> | undefined,
): Partial<ObjectMeta> {
  if (changes === undefined) return {};
  const after = Object.entries({ ...before, ...changes }).filter(
    (pair): pair is [string, string] => pair[1] !== undefined,
  );
  return after.length === 0 && before === undefined ? {} : { [field]: Object.fromEntries(after) };
}

/** The smallest merge patch of the status subresource that turns `from` into `to`; an absent field is cleared. */
export function patchStatus(
  kind: KindName,
  object: KubeObject,
  from: JsonObject | undefined,
  to: JsonObject,
): readonly ClusterAction[] {
  const status = difference(from ?? {}, to);
  if (status === undefined) return [];
  const metadata = { resourceVersion: object.metadata.resourceVersion };
  const patch = { type: "merge", body: { metadata, status } } as const;
  return [{ kind: "patch", ref: refOf(kind, object), patch, subresource: "status" }];
}
