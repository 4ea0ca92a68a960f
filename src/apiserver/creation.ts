/** Creating: what the server fills in, judgement, and a name that may have to be made up. */
import { clone } from "../base/json.ts";
import { metadataErrors } from "../schema/metadata.ts";
import type { ApiObject, WriteOptions } from "./contracts.ts";
import { fromStored, toStored } from "./convert.ts";
import { fillSystemFields, prepareNew, settleNamespace, wipeSystemFields } from "./prepare.ts";
import { alreadyExists, Refusal } from "./status.ts";
import { keyFor, type Target } from "./target.ts";
import { refuseInvalid } from "./write-rules.ts";
import { onlyOne, type Writing } from "./writing.ts";

const generateAttemptsMax = 8;

export async function createObject(
  writing: Writing,
  target: Target,
  draft: ApiObject,
  options: WriteOptions,
): Promise<ApiObject> {
  const { resource } = target;
  wipeSystemFields(draft.metadata);
  settleNamespace(draft.metadata, resource.scope === "namespace" ? target.namespace : "");
  writing.track(target, undefined, draft, options);
  const review = writing.reviewOf({ ...target, name: draft.metadata.name ?? "" }, "CREATE", options, {
    object: draft,
    oldObject: undefined,
  });
  const wanted = await writing.mutated(review, draft);
  resource.strategy.permitWrite?.(wanted, undefined, target, review.context);
  return storeNew(writing, target, wanted, options);
}

/** A generated name may be taken; others are tried before the client hears of it. */
export async function storeNew(
  writing: Writing,
  target: Target,
  wanted: ApiObject,
  options: WriteOptions,
): Promise<ApiObject> {
  const generated = (wanted.metadata.name ?? "") === "" && (wanted.metadata.generateName ?? "") !== "";
  for (let attempt = 1; ; attempt += 1) {
    const object = generated ? clone(wanted) : wanted;
    const stored = await attemptNew(writing, target, object, options);
    if (stored !== undefined) return stored;
    if (!generated || attempt >= generateAttemptsMax) throw nameTaken(writing, target, object, generated);
  }
}

function nameTaken({ store }: Writing, target: Target, object: ApiObject, generated: boolean): Refusal {
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
async function attemptNew(
  writing: Writing,
  target: Target,
  object: ApiObject,
  options: WriteOptions,
): Promise<ApiObject | undefined> {
  const { resource } = target;
  const { strategy } = resource;
  const { store, world } = writing;
  const context = writing.contextFor(options);
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
  await writing
    .admission()
    .validate(writing.reviewOf({ ...target, name }, "CREATE", options, { object, oldObject: undefined }));
  if ((object.metadata.resourceVersion ?? "") !== "")
    throw new Refusal(500, "", "resourceVersion should not be set on objects to be created");
  const key = keyFor(target, name);
  const made = toStored(resource, object);
  if (options.dryRun === true)
    return store.get(resource.collection, key) === undefined ? fromStored(resource, made) : undefined;
  const written = store.commit([{ kind: "put", collection: resource.collection, key, object: made, expect: "absent" }]);
  if (written === "conflict") return undefined;
  const stored = onlyOne(written);
  const next = strategy.afterCreate?.(stored.object, context);
  if (next !== undefined)
    store.commit([{ kind: "put", collection: resource.collection, key, object: next, expect: stored.version }]);
  return fromStored(resource, stored.object);
}
