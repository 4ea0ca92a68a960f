/** What a server has from the start. Put straight into the store: nobody is there yet who could object. */
import { keyIn } from "../base/brand.ts";
import type { JsonObject } from "../base/json.ts";
import { rfc3339 } from "../base/time.ts";
import { uuid, type World } from "../base/world.ts";
import type { ApiObject, Change, Store } from "./contracts.ts";
import type { Directory } from "./directory.ts";
import { definitionsCollection, groupOf } from "./rows.ts";
import { namesTaken, settledStatus } from "./schema/definition/status.ts";

interface Preloaded {
  readonly objects: readonly ApiObject[];
  readonly definitions: readonly ApiObject[];
}

export function preload(store: Store, directory: Directory, world: World, { objects, definitions }: Preloaded): void {
  const now = rfc3339(world.now());
  const dated = (object: ApiObject): ApiObject => ({
    ...object,
    metadata: { ...object.metadata, uid: uuid(world), creationTimestamp: now },
  });
  const put = (collection: string, object: ApiObject): Change => ({
    kind: "put",
    collection,
    key: keyIn(object.metadata.namespace, object.metadata.name ?? ""),
    object,
    expect: "absent",
  });
  store.commit(objects.map((object) => put(collectionFor(directory, object), dated(object))));
  store.commit(
    definitions.map((definition) => {
      const { metadata, ...rest } = dated(definition);
      const status = statusOf(definition, now);
      return put(definitionsCollection, { ...rest, metadata: { ...metadata, generation: 1 }, status } as ApiObject);
    }),
  );
}

/** The last status made of a definition: servers that are made one after the other mostly have the same ones at the same time. */
const lastStatus = new WeakMap<ApiObject, { readonly now: string; readonly status: JsonObject }>();

function statusOf(definition: ApiObject, now: string): JsonObject {
  const known = lastStatus.get(definition);
  if (known?.now === now) return known.status;
  const status = settledStatus(definition, namesTaken(definition, []), now);
  lastStatus.set(definition, { now, status });
  return status;
}

function collectionFor(directory: Directory, { apiVersion, kind }: ApiObject): string {
  const resource = directory.byKind(groupOf(apiVersion), kind);
  if (resource === undefined)
    throw new Error(`${apiVersion} ${kind} is not served, so it cannot be there from the start`);
  return resource.collection;
}
