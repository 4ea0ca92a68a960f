/**
 * The garbage collector: what is owned goes when its last owner is gone (Background), before its owner goes (Foreground),
 * or is let go of (Orphan). A key is an object's place; deciding reads the store as it is at that moment.
 */
import { clone } from "../base/json.ts";
import { createMultimap } from "../base/multimap.ts";
import { foregroundFinalizer, orphanFinalizer } from "../schema/metadata.ts";
import type {
  ApiObject,
  Background,
  BackgroundContext,
  OwnerReference,
  Registry,
  Resource,
  StoreEvent,
} from "./contracts.ts";
import { groupOf } from "./rows.ts";

interface Place {
  readonly collection: string;
  readonly namespace: string;
  readonly name: string;
}

const keyOf = ({ collection, namespace, name }: Place): string => JSON.stringify([collection, namespace, name]);
const placeOf = (key: string): Place => {
  const [collection, namespace, name] = JSON.parse(key) as [string, string, string];
  return { collection, namespace, name };
};
const placeFor = (collection: string, { metadata }: ApiObject): Place => ({
  collection,
  namespace: metadata.namespace ?? "",
  name: metadata.name ?? "",
});

export function createGarbageCollector({ registry }: BackgroundContext): Background {
  /** The keys of the objects that name a uid as their owner, kept by the events of the store. */
  const dependents = createMultimap<string, string>();
  function index(event: StoreEvent): void {
    const key = keyOf(placeFor(event.collection, event.now.object));
    for (const { uid } of event.before?.object.metadata.ownerReferences ?? []) dependents.delete(uid, key);
    if (event.type === "DELETED") return;
    for (const { uid } of event.now.object.metadata.ownerReferences ?? []) dependents.add(uid, key);
  }

  const dependentsOf = (uid: string | undefined): readonly string[] => [...dependents.get(uid ?? "")];

  async function reconcile(key: string): Promise<undefined> {
    const place = placeOf(key);
    const resource = registry.ofCollection(place.collection);
    const object = registry.get(place.collection, place.namespace, place.name);
    if (resource === undefined || object === undefined) return undefined;
    const { deletionTimestamp, finalizers = [] } = object.metadata;
    if (deletionTimestamp !== undefined) {
      if (finalizers.includes(orphanFinalizer)) await orphan(resource, object);
      else if (finalizers.includes(foregroundFinalizer)) await deleteDependents(resource, object);
      return undefined;
    }
    await deleteIfUnowned(resource, object);
    return undefined;
  }

  async function orphan(resource: Resource, owner: ApiObject): Promise<void> {
    for (const key of dependentsOf(owner.metadata.uid)) {
      const place = placeOf(key);
      const dependent = registry.ofCollection(place.collection);
      if (dependent !== undefined)
        await registry.modify(dependent, place.namespace, place.name, (current) => withoutOwner(current, owner));
    }
    await dropFinalizer(registry, resource, owner, orphanFinalizer);
  }

  /** Dependents that block go first; the owner follows when none of them is left. */
  async function deleteDependents(resource: Resource, owner: ApiObject): Promise<void> {
    let blocking = 0;
    for (const key of dependentsOf(owner.metadata.uid)) {
      const place = placeOf(key);
      const dependent = registry.ofCollection(place.collection);
      const object = registry.get(place.collection, place.namespace, place.name);
      if (dependent === undefined || object === undefined) continue;
      await letGo(dependent, object, owner);
      const still = registry.get(place.collection, place.namespace, place.name);
      if (still !== undefined && blocks(still, owner)) blocking += 1;
    }
    if (blocking === 0) await dropFinalizer(registry, resource, owner, foregroundFinalizer);
  }

  /** Another owner keeps it: then it only forgets this one. */
  async function letGo(resource: Resource, object: ApiObject, owner: ApiObject): Promise<void> {
    const { namespace = "", name = "", uid, deletionTimestamp } = object.metadata;
    if (isHeldByAnother(object, owner))
      await registry.modify(resource, namespace, name, (current) => withoutOwner(current, owner));
    else if (deletionTimestamp === undefined)
      await registry.delete(resource, namespace, name, {
        propagation: "Foreground",
        ...(uid === undefined ? {} : { uid }),
      });
  }

  /** One that waits for its dependents itself keeps none of them. */
  const isHeldByAnother = ({ metadata }: ApiObject, owner: ApiObject): boolean =>
    metadata.ownerReferences?.some((other) => {
      if (other.uid === owner.metadata.uid || !isThere(other, metadata.namespace ?? "")) return false;
      const place = placeOfOwner(registry, other, metadata.namespace ?? "");
      const found = place === undefined ? undefined : registry.get(place.collection, place.namespace, place.name);
      return found?.metadata.finalizers?.includes(foregroundFinalizer) !== true;
    }) ?? false;

  async function deleteIfUnowned(resource: Resource, object: ApiObject): Promise<void> {
    const { ownerReferences: owners = [], namespace = "", name = "", uid } = object.metadata;
    if (owners.length === 0 || owners.some((owner) => isThere(owner, namespace))) return;
    await registry.delete(resource, namespace, name, {
      propagation: "Background",
      ...(uid === undefined ? {} : { uid }),
    });
  }

  /** An owner of a kind we do not serve may be there, for all we know. */
  function isThere(owner: OwnerReference, namespace: string): boolean {
    const place = placeOfOwner(registry, owner, namespace);
    if (place === undefined) return true;
    const found = registry.get(place.collection, place.namespace, place.name);
    return found !== undefined && found.metadata.uid === owner.uid;
  }

  return {
    name: "garbage-collector",
    keysFor(event) {
      index(event);
      const { object } = event.now;
      const own = keyOf(placeFor(event.collection, object));
      // An owner that waits for its dependents must look again when one of them changes.
      const owners = (event.before?.object.metadata.ownerReferences ?? []).flatMap((owner) => {
        const place = placeOfOwner(registry, owner, object.metadata.namespace ?? "");
        return place === undefined ? [] : [keyOf(place)];
      });
      if (event.type === "DELETED") return [...dependentsOf(object.metadata.uid), ...owners];
      const concerned =
        object.metadata.ownerReferences !== undefined || object.metadata.deletionTimestamp !== undefined;
      return concerned ? [own, ...owners] : owners;
    },
    reconcile,
  };
}

/**
 * An owner is in the namespace of what it owns, or in none. Undefined when its kind is not served, or lives in namespaces while what
 * it owns does not: where it is to be found nobody can say, so nothing is collected for its sake.
 */
function placeOfOwner(
  registry: Registry,
  { apiVersion, kind, name }: OwnerReference,
  namespace: string,
): Place | undefined {
  const resource = registry.byKind(groupOf(apiVersion), kind);
  if (resource === undefined || (resource.scope === "namespace" && namespace === "")) return undefined;
  return { collection: resource.collection, namespace: resource.scope === "namespace" ? namespace : "", name };
}

const blocks = ({ metadata }: ApiObject, owner: ApiObject): boolean =>
  metadata.ownerReferences?.some(
    ({ uid, blockOwnerDeletion }) => uid === owner.metadata.uid && blockOwnerDeletion === true,
  ) ?? false;

function withoutOwner(current: ApiObject, owner: ApiObject): ApiObject {
  const copy = clone(current);
  const kept = copy.metadata.ownerReferences?.filter(({ uid }) => uid !== owner.metadata.uid) ?? [];
  if (kept.length === 0) delete copy.metadata.ownerReferences;
  else copy.metadata.ownerReferences = kept;
  return copy;
}

async function dropFinalizer(
  registry: Registry,
  resource: Resource,
  object: ApiObject,
  finalizer: string,
): Promise<void> {
  const { namespace = "", name = "" } = object.metadata;
  await registry.modify(resource, namespace, name, (current) => {
    if (!current.metadata.finalizers?.includes(finalizer)) return undefined;
    const copy = clone(current);
    copy.metadata.finalizers = current.metadata.finalizers.filter((one) => one !== finalizer);
    return copy;
  });
}
