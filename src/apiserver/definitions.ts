/** The end of a CustomResourceDefinition: all its objects go first. (Its beginning is the strategy in schema/definition.) */
import { clone } from "../base/json.ts";
import { rfc3339 } from "../base/time.ts";
import type { ApiObject, Background, BackgroundContext, Context, Strategy } from "./contracts.ts";
import { asDefinition, type Condition } from "./custom.ts";
import { collectionOf, definitionsCollection } from "./rows.ts";

const cleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";
const instancesPollMs = 5_000;

/** Replaces the condition of its type; the time of transition stays when the status does. */
function withCondition(conditions: readonly Condition[], wanted: Condition, now: string): Condition[] {
  const old = conditions.find(({ type }) => type === wanted.type);
  const lastTransitionTime = old?.status === wanted.status ? (old.lastTransitionTime ?? now) : now;
  const condition = { lastTransitionTime, ...wanted };
  return old === undefined
    ? [...conditions, condition]
    : conditions.map((one) => (one.type === wanted.type ? condition : one));
}

/** What deletion begins with. */
export const definitionEnd: Pick<Strategy, "prepareForDelete"> = {
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
    keysFor({ collection, now: { object } }) {
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
