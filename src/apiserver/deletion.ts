/** Deleting: at once, after a grace period, or when the last finalizer is gone; and what becomes of dependents. */
import type { Key } from "../base/brand.ts";
import { clone } from "../base/json.ts";
import { rfc3339 } from "../base/time.ts";
import type { World } from "../base/world.ts";
import { foregroundFinalizer, orphanFinalizer } from "../schema/metadata.ts";
import type { ApiObject, Context, DeleteRequest, Resource, Stored } from "./contracts.ts";
import { fromStored, toStored } from "./convert.ts";
import { sameState } from "./prepare.ts";
import { changedMeanwhile, conflict, notFound } from "./status.ts";
import { keyFor, type Target } from "./target.ts";
import type { Writing } from "./writing.ts";

const attemptsMax = 100;

/** Gone, or still there because something holds it: then as it stands now. */
export interface Deleted {
  readonly object: ApiObject;
  readonly gone: boolean;
}

export async function deleteObject(writing: Writing, target: Target, request: DeleteRequest): Promise<Deleted> {
  const { resource, name } = target;
  const key = keyFor(target, name);
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const existing = writing.store.get(resource.collection, key);
    if (existing === undefined) throw notFound(resource, name);
    const done = await attemptDelete(writing, target, key, existing, request);
    if (done !== undefined) return done;
  }
  throw conflict(resource, name, changedMeanwhile);
}

function checkPreconditions({ resource, name }: Target, { object, version }: Stored, request: DeleteRequest): void {
  const uid = object.metadata.uid ?? "";
  const asKind = { group: resource.group, plural: resource.kind };
  if (request.uid !== undefined && request.uid !== uid)
    throw conflict(
      asKind,
      name,
      `the UID in the precondition (${request.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    );
  if (request.resourceVersion !== undefined && request.resourceVersion !== String(version))
    throw conflict(
      asKind,
      name,
      `the ResourceVersion in the precondition (${request.resourceVersion}) does not match the ResourceVersion in record (${version}). The object might have been modified`,
    );
}

type Step =
  | { readonly kind: "remove"; readonly shown: ApiObject }
  | { readonly kind: "keep"; readonly object: ApiObject }
  | { readonly kind: "pending" };

/** Undefined when another writer came in between. */
async function attemptDelete(
  writing: Writing,
  target: Target,
  key: Key,
  existing: Stored,
  request: DeleteRequest,
): Promise<Deleted | undefined> {
  const { store, world } = writing;
  const { resource } = target;
  checkPreconditions(target, existing, request);
  const old = fromStored(resource, existing.object);
  const review = writing.reviewOf(target, "DELETE", request, { object: undefined, oldObject: old });
  await writing.admission().mutate(review);
  await writing.admission().validate(review);
  const step = stepOf(resource, old, request, writing.contextFor(request), world);
  if (step.kind === "pending" || (step.kind === "keep" && sameState(step.object, old)))
    return { object: old, gone: false };
  if (request.dryRun === true)
    return step.kind === "remove" ? { object: step.shown, gone: true } : { object: step.object, gone: false };
  const place = { collection: resource.collection, key, expect: existing.version } as const;
  const written = store.commit([
    step.kind === "remove"
      ? { kind: "remove", ...place }
      : { kind: "put", ...place, object: toStored(resource, step.object) },
  ]);
  if (written === "conflict") return undefined;
  const object = written[0] === undefined ? old : fromStored(resource, written[0].object);
  return step.kind === "remove" ? { object: step.shown, gone: true } : { object, gone: false };
}

function stepOf(resource: Resource, old: ApiObject, request: DeleteRequest, context: Context, world: World): Step {
  const grace = graceOf(resource, old, request, world);
  if (grace === "pending") return { kind: "pending" };
  const object = ownCopy(resource, old);
  object.metadata.finalizers = finalizersFor(resource, old, request);
  if (grace !== undefined) {
    object.metadata.deletionTimestamp = grace.at;
    object.metadata.deletionGracePeriodSeconds = grace.seconds;
    bumpGeneration(object, old);
  }
  const first = old.metadata.deletionTimestamp === undefined;
  if (first) resource.strategy.prepareForDelete?.(object, context);
  const held = object.metadata.finalizers.length > 0 || resource.strategy.holdsDeletion?.(object) === true;
  if (!held && (grace === undefined || grace.seconds === 0)) {
    if (object.metadata.finalizers.length === 0) delete object.metadata.finalizers;
    // Whoever deletes a kind with grace is shown that there was none left.
    return { kind: "remove", shown: grace === undefined ? old : object };
  }
  if (object.metadata.finalizers.length === 0) delete object.metadata.finalizers;
  if (held && grace === undefined) markDeleting(resource, object, old, world);
  return { kind: "keep", object };
}

/** Only metadata changes, unless the kind has more to say about its end. */
const ownCopy = ({ strategy }: Resource, old: ApiObject): ApiObject =>
  strategy.prepareForDelete === undefined ? { ...old, metadata: { ...old.metadata } } : clone(old);

function bumpGeneration(object: ApiObject, old: ApiObject): void {
  const { generation = 0 } = old.metadata;
  if (old.metadata.deletionTimestamp === undefined && generation > 0) object.metadata.generation = generation + 1;
}

function markDeleting(resource: Resource, object: ApiObject, old: ApiObject, world: World): void {
  const { metadata } = object;
  const now = rfc3339(world.now());
  if (metadata.deletionTimestamp === undefined || metadata.deletionTimestamp > now) metadata.deletionTimestamp = now;
  // Definitions and namespaces have a deletion of their own in the real server, which leaves these two alone.
  if (resource.strategy.prepareForDelete !== undefined) return;
  metadata.deletionGracePeriodSeconds = 0;
  bumpGeneration(object, old);
}

/** No date can be written after this one, and a pod must not outlive every request to delete it because of that. */
const lastDate = Date.UTC(9999, 11, 31, 23, 59, 59);

type Grace = { readonly at: string; readonly seconds: number } | undefined | "pending";

/** Undefined: the kind knows no grace. "pending": it is already being deleted, and not asked to hurry. */
function graceOf({ strategy }: Resource, old: ApiObject, request: DeleteRequest, world: World): Grace {
  if (strategy.graceSeconds === undefined) return undefined;
  const asked = request.graceSeconds === undefined || request.graceSeconds >= 0 ? request.graceSeconds : 1;
  const { deletionTimestamp, deletionGracePeriodSeconds: remaining = 0 } = old.metadata;
  if (deletionTimestamp === undefined) {
    const seconds = strategy.graceSeconds(old, asked);
    return { seconds, at: rfc3339(Math.min(world.now() + seconds * 1_000, lastDate)) };
  }
  if (remaining === 0) return undefined;
  if (asked === undefined || asked >= remaining) return "pending";
  const moved = Date.parse(deletionTimestamp) + (asked - remaining) * 1_000;
  if (moved >= world.now()) return { seconds: asked, at: rfc3339(moved) };
  return { seconds: asked === 0 ? 0 : 1, at: rfc3339(world.now()) };
}

/** Asking to orphan or to wait for dependents is remembered as a finalizer, for the garbage collector to remove. */
function finalizersFor({ strategy }: Resource, { metadata }: ApiObject, request: DeleteRequest): string[] {
  const present = metadata.finalizers ?? [];
  const byDefault = strategy.dependents ?? "delete";
  if (byDefault === "none") return [...present];
  const wanted = request.propagation ?? standing(present) ?? (byDefault === "orphan" ? "Orphan" : "Background");
  const others = present.filter((name) => name !== orphanFinalizer && name !== foregroundFinalizer);
  if (wanted === "Orphan") return [...others, orphanFinalizer];
  return wanted === "Foreground" ? [...others, foregroundFinalizer] : others;
}

function standing(finalizers: readonly string[]): DeleteRequest["propagation"] | undefined {
  if (finalizers.includes(orphanFinalizer)) return "Orphan";
  return finalizers.includes(foregroundFinalizer) ? "Foreground" : undefined;
}
