/**
 * Reading and writing objects by the rules, without HTTP. The order of a write is kube-apiserver's: mutating admission,
 * what the server itself fills in, judgement, validating admission, store. Between reading and storing other writers may
 * come: the store is told which version the decision was made on, and a decision made on an old one is made again.
 */
import { type Key, keyIn } from "../base/brand.ts";
import { clone } from "../base/json.ts";
import { rfc3339 } from "../base/time.ts";
import type { World } from "../base/world.ts";
import type {
  Admission,
  ApiObject,
  Context,
  DeleteRequest,
  FeatureGates,
  FieldError,
  Metadata,
  Operation,
  Patcher,
  Reader,
  Registry,
  Resource,
  Review,
  Store,
  Stored,
  User,
  WriteOptions,
} from "./contracts.ts";
import { fromStored, toStored } from "./convert.ts";
import { type Deleted, deleteObject } from "./deletion.ts";
import type { Directory } from "./directory.ts";
import { metadataChangeErrors, metadataErrors, metadataUpdateErrors } from "./metadata.ts";
import {
  dedupeOwners,
  fillSystemFields,
  fit,
  prepareNew,
  restoreUnwritable,
  sameState,
  settleMetadata,
  settleNamespace,
  wipeSystemFields,
} from "./prepare.ts";
import { alreadyExists, changedMeanwhile, conflict, notFound, Refusal } from "./status.ts";
import { keyFor, type Target } from "./target.ts";
import { checkVersion, isFinished, optionsObject, preconditionText, refuseInvalid } from "./write-rules.ts";

export const admin: User = { name: "system:apiserver", groups: ["system:masters", "system:authenticated"] };
const generateAttemptsMax = 8;
const updateAttemptsMax = 100;

export interface RegistryParts {
  readonly store: Store;
  readonly directory: Directory;
  readonly world: World;
  readonly gates: FeatureGates;
  readonly patcher: Patcher;
  /** Called once: admission itself reads through the registry. */
  createAdmission(registry: Registry): Admission;
  readonly managedFields: boolean;
}

export interface UpdateRequest extends Target {
  readonly options: WriteOptions;
  /** PUT and apply may create what is not there. */
  readonly createIfAbsent: boolean;
  /** A PUT that names a uid is meant for that incarnation only. */
  readonly uid?: string;
  /** The wanted state, from the present one; undefined leaves it; throws to refuse. Called again when somebody else was faster. */
  readonly build: (old: ApiObject | undefined) => ApiObject | undefined;
  /** managedFields are already as they shall be (apply). */
  readonly tracked?: boolean;
  /** Asked before something is created that the request only meant to update. */
  readonly mayCreate?: () => void;
}

export interface Written {
  readonly object: ApiObject;
  readonly created: boolean;
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
  const { store, directory, world } = parts;

  const reader: Reader = {
    get: (collection, namespace, name) =>
      store.get(collection, keyIn(namespace === "" ? undefined : namespace, name))?.object,
    list: (collection, namespace) => store.list(collection, namespace).map(({ object }) => object),
  };

  const contextFor = (options: WriteOptions): Context => ({
    world,
    gates: parts.gates,
    user: options.user ?? admin,
    reader,
    dryRun: options.dryRun ?? false,
    subresource: options.subresource ?? "",
  });

  function reviewOf(
    target: Target,
    operation: Operation,
    options: WriteOptions,
    objects: Pick<Review, "object" | "oldObject">,
  ): Review {
    return {
      resource: target.resource,
      namespace: target.namespace,
      name: target.name,
      operation,
      subresource: options.subresource ?? "",
      object: objects.object,
      oldObject: objects.oldObject,
      options: optionsObject(operation, options),
      context: contextFor(options),
      warn: options.warn ?? ignore,
      signal: options.signal,
    };
  }

  /** Mutating admission; what it changed is fitted to the schema again. */
  async function mutated(review: Review, object: ApiObject): Promise<ApiObject> {
    const result = (await admission.mutate(review)) ?? object;
    if (result !== object) fit(result, review.resource, parts.gates);
    const warning = dedupeOwners(result.metadata);
    if (warning !== undefined) review.warn(warning);
    return result;
  }

  function track(target: Target, before: ApiObject | undefined, after: ApiObject, options: WriteOptions): void {
    if (!parts.managedFields) return;
    const managedFields = parts.patcher.track({
      resource: target.resource,
      before,
      after,
      manager: options.fieldManager ?? "unknown",
      subresource: options.subresource ?? "",
      time: rfc3339(world.now()),
    });
    if (managedFields === undefined || managedFields.length === 0) delete after.metadata.managedFields;
    else after.metadata.managedFields = managedFields;
  }

  async function createIn(target: Target, draft: ApiObject, options: WriteOptions): Promise<ApiObject> {
    const { resource } = target;
    wipeSystemFields(draft.metadata);
    settleNamespace(draft.metadata, resource.scope === "namespace" ? target.namespace : "");
    track(target, undefined, draft, options);
    const review = reviewOf({ ...target, name: draft.metadata.name ?? "" }, "CREATE", options, {
      object: draft,
      oldObject: undefined,
    });
    const wanted = await mutated(review, draft);
    return storeNew(target, wanted, options);
  }

  /** A generated name may be taken; others are tried before the client hears of it. */
  async function storeNew(target: Target, wanted: ApiObject, options: WriteOptions): Promise<ApiObject> {
    const generated = (wanted.metadata.name ?? "") === "" && (wanted.metadata.generateName ?? "") !== "";
    for (let attempt = 1; ; attempt += 1) {
      const object = generated ? clone(wanted) : wanted;
      const stored = await attemptNew(target, object, options);
      if (stored !== undefined) return stored;
      if (!generated || attempt >= generateAttemptsMax) throw nameTaken(target, object, generated);
    }
  }

  function nameTaken(target: Target, object: ApiObject, generated: boolean): Refusal {
    const { resource } = target;
    const name = object.metadata.name ?? "";
    const refusal = alreadyExists(resource, name);
    const existing = store.get(resource.collection, keyFor(target, name));
    const deleting = existing?.object.metadata.deletionTimestamp === undefined ? "" : "object is being deleted: ";
    const rest = generated ? ", the server was not able to generate a unique name for the object" : "";
    const details = { ...refusal.status.details, ...(generated ? { retryAfterSeconds: 1 } : {}) };
    return new Refusal(409, "AlreadyExists", `${deleting}${refusal.message}${rest}`, details);
  }

  /** Undefined when the name is taken. */
  async function attemptNew(target: Target, object: ApiObject, options: WriteOptions): Promise<ApiObject | undefined> {
    const { resource } = target;
    const { strategy } = resource;
    const context = contextFor(options);
    fillSystemFields(object.metadata, world);
    prepareNew(object, resource);
    strategy.prepareForCreate?.(object, context);
    const name = object.metadata.name ?? "";
    refuseInvalid(resource, name, [
      ...metadataErrors(object.metadata, { scope: resource.scope, nameRule: strategy.nameRule ?? "subdomain" }),
      ...(resource.shape()?.validate(object, undefined) ?? []),
      ...(strategy.validateCreate?.(object, context) ?? []),
    ]);
    for (const warning of strategy.warnings?.(object, undefined, context) ?? []) options.warn?.(warning);
    await admission.validate(reviewOf({ ...target, name }, "CREATE", options, { object, oldObject: undefined }));
    if ((object.metadata.resourceVersion ?? "") !== "")
      throw new Refusal(500, "", "resourceVersion should not be set on objects to be created");
    const key = keyFor(target, name);
    if (options.dryRun === true) return store.get(resource.collection, key) === undefined ? object : undefined;
    const written = store.commit([
      { kind: "put", collection: resource.collection, key, object: toStored(resource, object), expect: "absent" },
    ]);
    if (written === "conflict") return undefined;
    const stored = onlyOne(written);
    const next = strategy.afterCreate?.(stored.object, context);
    if (next !== undefined)
      store.commit([{ kind: "put", collection: resource.collection, key, object: next, expect: stored.version }]);
    return fromStored(resource, stored.object);
  }

  async function update(request: UpdateRequest): Promise<Written> {
    const { resource, name } = request;
    const key = keyFor(request, name);
    for (let attempt = 0; attempt < updateAttemptsMax; attempt += 1) {
      const existing = store.get(resource.collection, key);
      if (existing === undefined) return createInstead(request);
      const object = await attemptUpdate(request, key, existing);
      if (object !== undefined) return { object, created: false };
    }
    throw conflict(resource, name, changedMeanwhile);
  }

  async function createInstead(request: UpdateRequest): Promise<Written> {
    const { resource, name, options } = request;
    if (!request.createIfAbsent) throw notFound(resource, name);
    const object = request.build(undefined);
    if (object === undefined) throw notFound(resource, name);
    if ((object.metadata.uid ?? "") !== "") throw absentIncarnation(request, object.metadata.uid ?? "");
    request.mayCreate?.();
    if (request.tracked !== true) track(request, undefined, object, options);
    settleNamespace(object.metadata, resource.scope === "namespace" ? request.namespace : "");
    delete object.metadata.resourceVersion;
    const review = reviewOf(request, "CREATE", options, { object, oldObject: undefined });
    return { object: await storeNew(request, await mutated(review, object), options), created: true };
  }

  function absentIncarnation({ resource, namespace, name, uid }: UpdateRequest, asked: string): Refusal {
    const why =
      uid === undefined
        ? `uid mismatch: the provided object specified uid ${asked}, and no existing object was found`
        : preconditionText(resource, namespace, name, asked, "");
    return conflict(resource, name, why);
  }

  /** Undefined when another writer came in between: look again. */
  async function attemptUpdate(request: UpdateRequest, key: Key, existing: Stored): Promise<ApiObject | undefined> {
    const { resource, namespace, name, options } = request;
    const old = fromStored(resource, existing.object);
    const currentUid = existing.object.metadata.uid ?? "";
    if (request.uid !== undefined && request.uid !== currentUid)
      throw conflict(resource, name, preconditionText(resource, namespace, name, request.uid, currentUid));
    const wanted = request.build(old);
    if (wanted === undefined) return old;
    settleNamespace(wanted.metadata, resource.scope === "namespace" ? namespace : "");
    checkVersion(request, wanted, existing);
    if (request.tracked !== true) track(request, old, wanted, options);
    const object = await mutated(reviewOf(request, "UPDATE", options, { object: wanted, oldObject: old }), wanted);
    judgeUpdate(request, object, old);
    await admission.validate(reviewOf(request, "UPDATE", options, { object, oldObject: old }));
    if (isFinished(resource, object, old)) return removeNow(request, key, existing, object);
    if (sameState(object, old)) return old;
    if (options.dryRun === true) return object;
    const written = store.commit([
      {
        kind: "put",
        collection: resource.collection,
        key,
        object: toStored(resource, object),
        expect: existing.version,
      },
    ]);
    return written === "conflict" ? undefined : fromStored(resource, onlyOne(written).object);
  }

  function judgeUpdate({ resource, name, options }: UpdateRequest, object: ApiObject, old: ApiObject): void {
    const { strategy } = resource;
    const context = contextFor(options);
    restoreUnwritable(object, old, resource, context.subresource);
    strategy.prepareForUpdate?.(object, old, context);
    settleMetadata(object, old, resource, context.subresource);
    refuseInvalid(resource, name, [
      ...updatedMetadataErrors(object.metadata, old.metadata, resource.scope),
      ...(resource.shape()?.validate(object, old, context.subresource, options.warn) ?? []),
      ...(strategy.validateUpdate?.(object, old, context) ?? []),
    ]);
    for (const warning of strategy.warnings?.(object, old, context) ?? []) options.warn?.(warning);
  }

  /** The last finalizer is gone: the object goes, and the writer is shown what it wrote. */
  function removeNow(
    { resource, options }: UpdateRequest,
    key: Key,
    existing: Stored,
    object: ApiObject,
  ): ApiObject | undefined {
    if (options.dryRun === true) return object;
    const removed = store.commit([{ kind: "remove", collection: resource.collection, key, expect: existing.version }]);
    return removed === "conflict" ? undefined : object;
  }

  const deleteIn = (target: Target, request: DeleteRequest): Promise<Deleted> =>
    deleteObject({ store, world, contextFor, reviewOf, admission }, target, request);

  const registry: FullRegistry = {
    ...reader,
    store,
    contextFor,
    createIn,
    update,
    deleteIn,
    resources: () => directory.all(),
    resource: directory.find,
    byKind: directory.byKind,
    ofCollection: directory.ofCollection,
    create(resource, object, options = {}) {
      const copy = clone(object);
      fit(copy, resource, parts.gates);
      return createIn(
        { resource, namespace: copy.metadata.namespace ?? "", name: copy.metadata.name ?? "" },
        copy,
        options,
      );
    },
    async modify(resource, namespace, name, change, options = {}) {
      try {
        const build = (old: ApiObject | undefined): ApiObject | undefined =>
          old === undefined ? undefined : change(clone(old));
        return (await update({ resource, namespace, name, options, createIfAbsent: false, build })).object;
      } catch (reason) {
        if (reason instanceof Refusal && reason.status.code === 404) return undefined;
        throw reason;
      }
    },
    async delete(resource, namespace, name, options = {}) {
      await deleteIn({ resource, namespace, name }, options);
    },
  };
  const admission = parts.createAdmission(registry);
  return registry;
}

/** Kubernetes judges metadata twice on update, once for all kinds and once per kind; clients see both causes. */
function updatedMetadataErrors(metadata: Metadata, old: Metadata, scope: Resource["scope"]): readonly FieldError[] {
  const first = metadataErrors(metadata, { scope, nameRule: "pathSegment" });
  // What was found in order once is in order.
  const again = first.length === 0 ? metadataChangeErrors(metadata, old) : metadataUpdateErrors(metadata, old);
  return [...first, ...again, ...again];
}

const ignore = (): void => undefined;

function onlyOne(written: readonly Stored[]): Stored {
  const [stored] = written;
  if (stored === undefined) throw new Error("a commit of one change stores one object");
  return stored;
}
