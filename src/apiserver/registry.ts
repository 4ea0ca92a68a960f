/**
 * Reading and writing objects by the rules, without HTTP. The order of a write is kube-apiserver's: mutating admission,
 * what the server itself fills in, judgement, validating admission, store. Between reading and storing other writers may
 * come: the store is told which version the decision was made on, and a decision made on an old one is made again.
 */
import { keyIn } from "../base/brand.ts";
import { clone } from "../base/json.ts";
import type {
  Admission,
  ApiObject,
  Context,
  DeleteRequest,
  Reader,
  Registry,
  Store,
  WriteOptions,
} from "./contracts.ts";
import { createObject } from "./creation.ts";
import { type Deleted, deleteObject } from "./deletion.ts";
import type { Directory } from "./directory.ts";
import { fit } from "./prepare.ts";
import { Refusal } from "./status.ts";
import type { Target } from "./target.ts";
import { type UpdateRequest, updateObject, type Written } from "./update.ts";
import { createWriting, type WritingParts } from "./writing.ts";

export interface RegistryParts extends Omit<WritingParts, "reader" | "admission"> {
  readonly directory: Directory;
  /** Called once: admission itself reads through the registry. */
  createAdmission(registry: Registry): Admission;
}

/** The registry as the HTTP verbs see it. */
export interface FullRegistry extends Registry {
  readonly store: Store;
  contextFor(options: WriteOptions): Context;
  createIn(target: Target, object: ApiObject, options: WriteOptions): Promise<ApiObject>;
  update(request: UpdateRequest): Promise<Written>;
  deleteIn(target: Target, request: DeleteRequest): Promise<Deleted>;
}

export function createRegistry(parts: RegistryParts): FullRegistry {
  const { store, directory, gates } = parts;
  const reader: Reader = {
    get: (collection, namespace, name) =>
      store.get(collection, keyIn(namespace === "" ? undefined : namespace, name))?.object,
    list: (collection, namespace) => store.list(collection, namespace).map(({ object }) => object),
  };
  const writing = createWriting({ ...parts, reader, admission: () => admission });
  const registry: FullRegistry = {
    ...reader,
    store,
    contextFor: writing.contextFor,
    createIn: (target, object, options) => createObject(writing, target, object, options),
    update: (request) => updateObject(writing, request),
    deleteIn: (target, request) => deleteObject(writing, target, request),
    resources: () => directory.all(),
    resource: directory.find,
    byKind: directory.byKind,
    ofCollection: directory.ofCollection,
    create(resource, object, options = {}) {
      const copy = clone(object);
      fit(copy, resource, gates);
      const target = { resource, namespace: copy.metadata.namespace ?? "", name: copy.metadata.name ?? "" };
      return createObject(writing, target, copy, options);
    },
    async modify(resource, namespace, name, change, options = {}) {
      try {
        const build = (old: ApiObject | undefined): ApiObject | undefined =>
          old === undefined ? undefined : change(clone(old));
        const request = { resource, namespace, name, options, createIfAbsent: false, build };
        return (await updateObject(writing, request)).object;
      } catch (reason) {
        if (reason instanceof Refusal && reason.status.code === 404) return undefined;
        throw reason;
      }
    },
    async delete(resource, namespace, name, options = {}) {
      await deleteObject(writing, { resource, namespace, name }, options);
    },
  };
  const admission = parts.createAdmission(registry);
  return registry;
}
