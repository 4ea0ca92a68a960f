/**
 * The life of a CustomResourceDefinition: its names are accepted unless somebody else has them, then it is established and
 * its resources are served; when it goes, all its objects go first.
 */
import { keyIn } from "../base/brand.ts";
import { clone, equal } from "../base/json.ts";
import { rfc3339 } from "../base/time.ts";
import type { World } from "../base/world.ts";
import type { ApiObject, Background, BackgroundContext, Context, Resource, Store, Strategy } from "./contracts.ts";
import { asDefinition, type Condition, type Definition, type DefinitionNames, isTrue } from "./custom.ts";
import type { Directory } from "./directory.ts";
import { collectionOf, definitionsCollection } from "./rows.ts";

const cleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";
const instancesPollMs = 5_000;

/** Replaces the condition of its type; the time of transition stays when the status does. */
export function withCondition(conditions: readonly Condition[], wanted: Condition, now: string): Condition[] {
  const old = conditions.find(({ type }) => type === wanted.type);
  const lastTransitionTime = old?.status === wanted.status ? (old.lastTransitionTime ?? now) : now;
  const condition = { lastTransitionTime, ...wanted };
  return old === undefined
    ? [...conditions, condition]
    : conditions.map((one) => (one.type === wanted.type ? condition : one));
}

/** Accepts names as soon as a definition is stored, in the same turn: the next request already finds the resource. */
export function establishDefinitions(store: Store, directory: Directory, world: World): void {
  store.onCommit((events) => {
    for (const { collection, key, type } of events) {
      if (collection !== definitionsCollection || type === "DELETED") continue;
      const stored = store.get(collection, key);
      if (stored === undefined) continue;
      const wanted = established(asDefinition(stored.object), directory.all(), rfc3339(world.now()));
      if (!equal(wanted.status, stored.object.status))
        store.commit([{ kind: "put", collection, key, object: wanted, expect: stored.version }]);
    }
  });
}

function established(definition: Definition, served: readonly Resource[], now: string): Definition {
  const { names } = definition.spec;
  const conflict = conflictOf(definition, served);
  const conditions = withCondition(
    definition.status?.conditions ?? [],
    conflict ?? { type: "NamesAccepted", status: "True", reason: "NoConflicts", message: "no conflicts found" },
    now,
  );
  if (conflict !== undefined && !isTrue(definition, "Established"))
    return withStatus(
      definition,
      withCondition(
        conditions,
        { type: "Established", status: "False", reason: "NotAccepted", message: "not all names are accepted" },
        now,
      ),
      definition.status?.acceptedNames ?? { plural: "", kind: "" },
    );
  const initial: Condition = {
    type: "Established",
    status: "True",
    reason: "InitialNamesAccepted",
    message: "the initial names have been accepted",
  };
  return withStatus(definition, withCondition(conditions, initial, now), names);
}

const withStatus = (definition: Definition, conditions: Condition[], acceptedNames: DefinitionNames): Definition => ({
  ...definition,
  status: { ...definition.status, conditions, acceptedNames },
});

/** The first of its names that another resource of the group already has. */
function conflictOf(definition: Definition, served: readonly Resource[]): Condition | undefined {
  const { group, names } = definition.spec;
  const own = collectionOf(group, names.plural);
  const others = served.filter((row) => row.group === group && row.collection !== own);
  const resources = new Set(others.flatMap(({ plural, singular, shortNames }) => [plural, singular, ...shortNames]));
  const kinds = new Set(others.flatMap(({ kind, listKind }) => [kind, listKind]));
  const taken = (reason: string, name: string | undefined, all: ReadonlySet<string>): Condition | undefined =>
    name !== undefined && all.has(name)
      ? { type: "NamesAccepted", status: "False", reason, message: `"${name}" is already in use` }
      : undefined;
  return (
    taken("ListKindConflict", names.listKind, kinds) ??
    taken("KindConflict", names.kind, kinds) ??
    names.shortNames
      ?.map((name) => taken("ShortNamesConflict", name, resources))
      .find((found) => found !== undefined) ??
    taken("SingularConflict", names.singular, resources) ??
    taken("PluralConflict", names.plural, resources)
  );
}

/** What the core adds to the strategy of definitions: which version is stored, and what deletion begins with. */
export const definitionStrategy: Pick<Strategy, "prepareForDelete"> = {
  prepareForDelete(object: ApiObject, { world }: Context): void {
    const definition = asDefinition(object);
    const terminating: Condition = {
      type: "Terminating",
      status: "True",
      reason: "InstanceDeletionPending",
      message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
    };
    const conditions = withCondition(definition.status?.conditions ?? [], terminating, rfc3339(world.now()));
    definition.status = { ...definition.status, conditions };
    const finalizers = definition.metadata.finalizers ?? [];
    if (!finalizers.includes(cleanupFinalizer)) definition.metadata.finalizers = [...finalizers, cleanupFinalizer];
  },
};

/** Deletes the objects of a definition that is being deleted, and lets it go when the last one is gone. */
export function createDefinitionCleanup({ registry }: BackgroundContext): Background {
  return {
    name: "definition-cleanup",
    wakes({ collection, now: { object } }) {
      if (collection === definitionsCollection)
        return object.metadata.deletionTimestamp === undefined ? [] : [object.metadata.name ?? ""];
      return [];
    },
    async reconcile(name) {
      const definitions = registry.ofCollection(definitionsCollection);
      const found = registry.get(definitionsCollection, "", name);
      if (definitions === undefined || found?.metadata.finalizers?.includes(cleanupFinalizer) !== true)
        return undefined;
      const { group, names } = asDefinition(found).spec;
      const collection = collectionOf(group, names.plural);
      const resource = registry.ofCollection(collection);
      if (resource !== undefined)
        for (const { metadata } of registry.list(collection))
          await registry.delete(resource, metadata.namespace ?? "", metadata.name ?? "").catch(() => undefined);
      if (registry.list(collection).length > 0) return instancesPollMs;
      await registry.modify(definitions, "", name, (current) => withoutCleanup(current), { subresource: "status" });
      return undefined;
    },
  };
}

function withoutCleanup(current: ApiObject): ApiObject {
  const copy = clone(current);
  copy.metadata.finalizers = (copy.metadata.finalizers ?? []).filter((finalizer) => finalizer !== cleanupFinalizer);
  return copy;
}

/** Definitions that shall be there from the start, established without asking. */
export function preload(store: Store, definitions: readonly ApiObject[]): void {
  const key = (object: ApiObject) => keyIn(undefined, object.metadata.name ?? "");
  store.commit(
    definitions.map((object) => ({
      kind: "put",
      collection: definitionsCollection,
      key: key(object),
      object,
      expect: "absent",
    })),
  );
}
