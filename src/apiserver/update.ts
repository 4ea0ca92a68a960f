/** Updating: the wanted state is built from the present one, judged against it, and built again when somebody else was faster. */
import type { Key } from "../base/brand.ts";
import { metadataChangeErrors, metadataErrors, metadataUpdateErrors } from "../schema/metadata.ts";
import type { ApiObject, FieldError, Metadata, Resource, Stored, WriteOptions } from "./contracts.ts";
import { fromStored, toStored } from "./convert.ts";
import { storeNew } from "./creation.ts";
import { restoreUnwritable, sameState, settleMetadata, settleNamespace } from "./prepare.ts";
import { changedMeanwhile, conflict, notFound, type Refusal } from "./status.ts";
import { keyFor, type Target } from "./target.ts";
import { checkVersion, isFinished, preconditionText, refuseInvalid } from "./write-rules.ts";
import { onlyOne, type Writing } from "./writing.ts";

const attemptsMax = 100;

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

export async function updateObject(writing: Writing, request: UpdateRequest): Promise<Written> {
  const { resource, name } = request;
  const key = keyFor(request, name);
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const existing = writing.store.get(resource.collection, key);
    if (existing === undefined) return createInstead(writing, request);
    const object = await attemptUpdate(writing, request, key, existing);
    if (object !== undefined) return { object, created: false };
  }
  throw conflict(resource, name, changedMeanwhile);
}

async function createInstead(writing: Writing, request: UpdateRequest): Promise<Written> {
  const { resource, name, options } = request;
  if (!request.createIfAbsent) throw notFound(resource, name);
  const object = request.build(undefined);
  if (object === undefined) throw notFound(resource, name);
  if ((object.metadata.uid ?? "") !== "") throw absentIncarnation(request, object.metadata.uid ?? "");
  request.mayCreate?.();
  if (request.tracked !== true) writing.track(request, undefined, object, options);
  settleNamespace(object.metadata, resource.scope === "namespace" ? request.namespace : "");
  delete object.metadata.resourceVersion;
  const review = writing.reviewOf(request, "CREATE", options, { object, oldObject: undefined });
  const wanted = await writing.mutated(review, object);
  resource.strategy.permitWrite?.(wanted, undefined, request, review.context);
  return { object: await storeNew(writing, request, wanted, options), created: true };
}

function absentIncarnation({ resource, namespace, name, uid }: UpdateRequest, asked: string): Refusal {
  const why =
    uid === undefined
      ? `uid mismatch: the provided object specified uid ${asked}, and no existing object was found`
      : preconditionText(resource, namespace, name, asked, "");
  return conflict(resource, name, why);
}

/** Undefined when another writer came in between: look again. */
async function attemptUpdate(
  writing: Writing,
  request: UpdateRequest,
  key: Key,
  existing: Stored,
): Promise<ApiObject | undefined> {
  const { resource, namespace, name, options } = request;
  const old = fromStored(resource, existing.object);
  const currentUid = existing.object.metadata.uid ?? "";
  if (request.uid !== undefined && request.uid !== currentUid)
    throw conflict(resource, name, preconditionText(resource, namespace, name, request.uid, currentUid));
  const wanted = request.build(old);
  if (wanted === undefined) return old;
  settleNamespace(wanted.metadata, resource.scope === "namespace" ? namespace : "");
  checkVersion(request, wanted, existing);
  if (request.tracked !== true) writing.track(request, old, wanted, options);
  const review = writing.reviewOf(request, "UPDATE", options, { object: wanted, oldObject: old });
  const object = await writing.mutated(review, wanted);
  resource.strategy.permitWrite?.(object, old, request, review.context);
  judgeUpdate(writing, request, object, old);
  await writing.admission().validate(writing.reviewOf(request, "UPDATE", options, { object, oldObject: old }));
  if (isFinished(resource, object, old)) return removeNow(writing, request, key, existing, object);
  if (sameState(object, old)) return old;
  if (options.dryRun === true) return object;
  const written = writing.store.commit([
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

function judgeUpdate(
  writing: Writing,
  { resource, name, options }: UpdateRequest,
  object: ApiObject,
  old: ApiObject,
): void {
  const { strategy } = resource;
  const context = writing.contextFor(options);
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
  { store }: Writing,
  { resource, options }: UpdateRequest,
  key: Key,
  existing: Stored,
  object: ApiObject,
): ApiObject | undefined {
  if (options.dryRun === true) return object;
  const removed = store.commit([{ kind: "remove", collection: resource.collection, key, expect: existing.version }]);
  return removed === "conflict" ? undefined : object;
}

/** Kubernetes judges metadata twice on update, once for all kinds and once per kind; clients see both causes. */
function updatedMetadataErrors(metadata: Metadata, old: Metadata, scope: Resource["scope"]): readonly FieldError[] {
  const first = metadataErrors(metadata, { scope, nameRule: "pathSegment" });
  // What was found in order once is in order.
  const again = first.length === 0 ? metadataChangeErrors(metadata, old) : metadataUpdateErrors(metadata, old);
  return [...first, ...again, ...again];
}
