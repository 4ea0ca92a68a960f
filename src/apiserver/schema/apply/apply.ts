/**
 * Server-side apply and the tracking of ordinary writes, in Kubernetes' order: merge, drop what is no longer applied, see
 * who else owned what changed.
 *
 * Ordinary writes are tracked as Kubernetes does, so that a later apply meets the same conflicts and
 * `kubectl get --show-managed-fields` shows the same entries. Where nobody looks (the simulation) tracking can be left off:
 * objects then carry no managedFields until the first apply, which counts all that is there as "before-first-apply".
 */
import { isObject, type JsonObject, type JsonValue } from "../../../base/json.ts";
import { goJson } from "../../../schema/go-text.ts";
import type { SchemaNode } from "../../../schema/node.ts";
import type { ApiObject, ApplyRequest, Resource, TrackRequest } from "../../contracts.ts";
import { badRequest, Refusal } from "../../status.ts";
import {
  difference,
  type Fields,
  fieldsAt,
  intersection,
  isEmpty,
  members,
  noFields,
  union,
  withoutRecursively,
} from "./fields.ts";
import { capUpdaters, describeManager, identityOf, type Managers, printManagers, readManagers } from "./managers.ts";
import { mergeApplied, removeFields } from "./merge.ts";
import { namedMembers } from "./named.ts";
import { compare, fieldsOf } from "./sets.ts";
import { refuseUntyped } from "./typed.ts";

const beforeFirstApply = "before-first-apply";
const lastAppliedAnnotation = "kubectl.kubernetes.io/last-applied-configuration";

/** What nobody owns: identity and bookkeeping. */
const strip = fieldsAt([
  ["apiVersion"],
  ["kind"],
  ["metadata"],
  ...[
    "name",
    "namespace",
    "creationTimestamp",
    "selfLink",
    "uid",
    "clusterName",
    "generation",
    "managedFields",
    "resourceVersion",
  ].map((name) => ["metadata", name]),
]);

const onStatus = fieldsAt([["spec"], ["metadata"]]);
const offStatus = fieldsAt([["status"]]);

/** What a write to this endpoint cannot change, and so does not own either. */
function ignoredBy(resource: Pick<Resource, "subresources">, subresource: string): Fields {
  if (subresource === "status") return onStatus;
  return resource.subresources.status === undefined ? noFields() : offStatus;
}

const versionOf = ({ group, version }: Pick<Resource, "group" | "version">): string =>
  group === "" ? version : `${group}/${version}`;

function withoutManaged(object: ApiObject): JsonObject {
  const { managedFields: _managedFields, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** Takes from everybody else what was changed or removed; returns what they lost by being changed. */
function yieldOwnership(
  managers: Managers,
  own: string,
  changed: { readonly touched: Fields; readonly removed: Fields },
): Map<string, Fields> {
  const lost = new Map<string, Fields>();
  for (const [id, manager] of managers) {
    if (id === own) continue;
    const conflict = intersection(manager.fields, changed.touched);
    if (!isEmpty(conflict)) lost.set(id, conflict);
    managers.set(id, { ...manager, fields: difference(difference(manager.fields, conflict), changed.removed) });
  }
  return lost;
}

interface Change {
  readonly schema: SchemaNode;
  readonly ignored: Fields;
}

function changesBetween(
  { schema, ignored }: Change,
  old: JsonValue,
  now: JsonValue,
): { touched: Fields; removed: Fields } {
  const { added, modified, removed } = compare(schema, old, now);
  return {
    touched: withoutRecursively(union(modified, added), ignored),
    removed: withoutRecursively(removed, ignored),
  };
}

/** The entries after an ordinary write. */
export function trackUpdate(schema: SchemaNode, request: TrackRequest): JsonValue[] | undefined {
  const managers = managersBefore(request);
  if (managers === undefined) return undefined;
  updateManagers(schema, request, managers, request.manager);
  capUpdaters(managers);
  return printManagers(managers);
}

/** Clients may write the list themselves; one they leave out or empty of sense is taken from what is stored. */
function managersBefore({ before, after, subresource }: TrackRequest): Managers | undefined {
  const given = after.metadata.managedFields;
  if (subresource === "" && isReset(given)) return before === undefined ? new Map() : undefined;
  const sent = subresource === "" ? readManagers(given) : undefined;
  const managers =
    sent !== undefined && sent.size > 0 ? sent : (readManagers(before?.metadata.managedFields) ?? new Map());
  return managers.size === 0 && before !== undefined ? undefined : managers;
}

const isReset = (given: readonly JsonValue[] | undefined): boolean => {
  const [first] = given ?? [];
  return (
    given !== undefined &&
    (given.length === 0 || (given.length === 1 && isObject(first) && Object.keys(first).length === 0))
  );
};

function updateManagers(
  schema: SchemaNode,
  { resource, before, after, subresource, time }: Omit<TrackRequest, "manager">,
  managers: Managers,
  name: string,
): void {
  const ignored = ignoredBy(resource, subresource);
  const old = before === undefined ? {} : withoutManaged(before);
  const { touched, removed } = changesBetween({ schema, ignored }, old, withoutManaged(after));
  const self = { name, operation: "Update" as const, apiVersion: versionOf(resource), subresource };
  const id = identityOf(self);
  yieldOwnership(managers, "", { touched, removed });
  const own = difference(touched, strip);
  if (isEmpty(own)) return;
  const fields = union(own, managers.get(id)?.fields ?? noFields());
  managers.set(id, { ...self, time, fields });
}

export function applyObject(schema: SchemaNode, request: ApplyRequest): ApiObject {
  checkApplied(request);
  refuseUntyped(schema, request.applied);
  try {
    return tryApply(schema, request, request.force);
  } catch (reason) {
    if (!(reason instanceof Conflicts)) throw reason;
    // kubectl moving an object from client-side to server-side apply does not fight itself.
    const allowed = request.manager === "kubectl" ? lastAppliedFields(schema, request) : undefined;
    const left = allowed === undefined ? reason : reason.without(allowed);
    if (left.isEmpty()) return tryApply(schema, request, true);
    throw left.refusal();
  }
}

function checkApplied({ resource, applied }: ApplyRequest): void {
  const wanted = versionOf(resource);
  if (applied.apiVersion !== wanted || applied.kind !== resource.kind) {
    const [group, version] = applied.apiVersion.includes("/")
      ? applied.apiVersion.split("/")
      : ["", applied.apiVersion];
    throw badRequest(`invalid object type: ${group}/${version}, Kind=${applied.kind}`);
  }
  if (applied.metadata?.managedFields !== undefined) throw badRequest("metadata.managedFields must be nil");
}

function tryApply(schema: SchemaNode, request: ApplyRequest, force: boolean): ApiObject {
  const { resource, current, applied, manager, subresource, time } = request;
  const ignored = ignoredBy(resource, subresource);
  const managers = managersBeforeApply(schema, request);
  const live: JsonObject = current === undefined ? {} : withoutManaged(current);
  const self = { name: manager, operation: "Apply" as const, apiVersion: versionOf(resource), subresource };
  const id = identityOf(self);
  const last = managers.get(id);
  const merged = mergeApplied(schema, live, applied) as JsonObject;
  const own = difference(withoutRecursively(fieldsOf(schema, applied), ignored), strip);
  managers.set(id, { ...self, time: last?.time, fields: own });
  const result = prune(schema, merged, managers, last?.fields);
  const changed = changesBetween({ schema, ignored }, live, result);
  const lost = yieldOwnership(managers, id, changed);
  if (!force && lost.size > 0) throw new Conflicts(lost, managers);
  const isSame = isEmpty(changed.touched) && isEmpty(changed.removed);
  managers.set(id, { ...self, time: isSame && current !== undefined ? last?.time : time, fields: own });
  capUpdaters(managers);
  const metadata = { ...(isObject(result.metadata) ? result.metadata : {}), managedFields: printManagers(managers) };
  return withLastApplied({ ...result, metadata } as unknown as ApiObject, request);
}

/** kubectl's own record of what it applied stays true after it changed sides. */
function withLastApplied(object: ApiObject, { manager, applied }: ApplyRequest): ApiObject {
  const { annotations } = object.metadata;
  if (manager !== "kubectl" || annotations?.[lastAppliedAnnotation] === undefined) return object;
  const { [lastAppliedAnnotation]: _old, ...own } = applied.metadata.annotations ?? {};
  const { annotations: _annotations, ...metadata } = applied.metadata;
  const kept = Object.keys(own).length === 0 ? metadata : { ...metadata, annotations: own };
  const record = `${goJson({ ...applied, metadata: kept })}\n`;
  return {
    ...object,
    metadata: { ...object.metadata, annotations: { ...annotations, [lastAppliedAnnotation]: record } },
  };
}

function managersBeforeApply(schema: SchemaNode, { resource, current, subresource, time }: ApplyRequest): Managers {
  if (current === undefined) return new Map();
  const managers = readManagers(current.metadata.managedFields);
  if (managers === undefined) throw new Refusal(500, "", "failed to decode managed fields");
  if (managers.size === 0)
    updateManagers(
      schema,
      { resource, before: undefined, after: current, subresource, time },
      managers,
      beforeFirstApply,
    );
  return managers;
}

/** A field goes when this manager applied it last time, does not now, and nobody else claims it. */
function prune(schema: SchemaNode, merged: JsonObject, managers: Managers, last: Fields | undefined): JsonObject {
  if (last === undefined || isEmpty(last)) return merged;
  const ensure = (fields: Fields): Fields => namedMembers(schema, fields);
  const asObject = (value: JsonValue | undefined): JsonObject => (isObject(value) ? value : {});
  const mergedSet = ensure(fieldsOf(schema, merged));
  const pruned = asObject(removeFields(schema, merged, ensure(last)));
  const claimed = [...managers.values()].reduce((all, { fields }) => union(all, fields), noFields());
  const keep = union(ensure(fieldsOf(schema, pruned)), ensure(claimed));
  const withClaims = asObject(removeFields(schema, merged, difference(mergedSet, keep)));
  const gone = difference(mergedSet, ensure(fieldsOf(schema, withClaims)));
  return asObject(removeFields(schema, merged, intersection(gone, ensure(last))));
}

/** Fields client-side apply set last and that still have the value it gave them. */
function lastAppliedFields(schema: SchemaNode, { current, resource }: ApplyRequest): Fields | undefined {
  const text = current?.metadata.annotations?.[lastAppliedAnnotation];
  if (current === undefined || text === undefined || text === "") return undefined;
  let applied: unknown;
  try {
    applied = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(applied) || applied.apiVersion !== versionOf(resource)) return undefined;
  const { added, modified, removed } = compare(schema, applied, current);
  return difference(fieldsOf(schema, applied), union(union(added, modified), removed));
}

class Conflicts extends Error {
  readonly lost: ReadonlyMap<string, Fields>;
  readonly managers: Managers;

  constructor(lost: ReadonlyMap<string, Fields>, managers: Managers) {
    super("conflicts");
    this.name = "Conflicts";
    this.lost = lost;
    this.managers = managers;
  }

  without(allowed: Fields): Conflicts {
    const left = [...this.lost].map(([id, fields]) => [id, difference(fields, allowed)] as const);
    return new Conflicts(new Map(left.filter(([, fields]) => !isEmpty(fields))), this.managers);
  }

  isEmpty(): boolean {
    return this.lost.size === 0;
  }

  refusal(): Refusal {
    const all = [...this.lost].flatMap(([id, fields]) => {
      const manager = this.managers.get(id);
      return manager === undefined
        ? []
        : [...members(fields)].map((path) => ({ manager: describeManager(manager), path }));
    });
    const causes = all.map(({ manager, path }) => ({
      reason: "FieldManagerConflict",
      message: `conflict with ${manager}`,
      field: path,
    }));
    return new Refusal(409, "Conflict", conflictMessage(all), { causes });
  }
}

function conflictMessage(all: readonly { manager: string; path: string }[]): string {
  const [first] = all;
  if (first !== undefined && all.length === 1)
    return `Apply failed with 1 conflict: conflict with ${first.manager}: ${first.path}`;
  const names = [...new Set(all.map(({ manager }) => manager))].sort();
  const lines = names.flatMap((name) => [
    `conflicts with ${name}:`,
    ...all.filter(({ manager }) => manager === name).map(({ path }) => `- ${path}`),
  ]);
  return `Apply failed with ${all.length} conflicts: ${lines.join("\n")}`;
}
