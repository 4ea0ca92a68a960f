/** What the server itself writes into an object before it is judged: defaults, dates, uids, generations, and parts put back. */
import { define, equal, isObject, type JsonObject } from "../base/json.ts";
import { rfc3339 } from "../base/time.ts";
import { uuid, type World } from "../base/world.ts";
import type { ApiObject, FeatureGates, Metadata, OwnerReference, Resource } from "./contracts.ts";
import { pruned } from "./pruned.ts";
import { badRequest } from "./status.ts";
import { ownEntry } from "./target.ts";

const generatedNameMax = 63;
/** No vowels, and nothing that looks like another letter. */
const nameAlphabet = "bcdfghjklmnpqrstvwxz2456789";
const suffixLength = 5;

export function generatedName(base: string, world: World): string {
  const suffix = Array.from(
    { length: suffixLength },
    () => nameAlphabet[Math.floor(world.random() * nameAlphabet.length)],
  );
  return `${base.slice(0, generatedNameMax - suffixLength)}${suffix.join("")}`;
}

/** Brings an object into the form of its kind, in place: prunes and defaults; returns the fields nobody knows. */
export function fit(object: ApiObject, resource: Resource, gates: FeatureGates): readonly string[] {
  const shape = resource.shape();
  const unknown = shape === undefined ? [] : pruned(shape, object);
  shape?.defaults(object);
  resource.strategy.defaults?.(object, gates);
  return unknown;
}

/** What only the server may say is forgotten when a client sends it with a new object. */
export function wipeSystemFields(metadata: Metadata): void {
  delete metadata.uid;
  delete metadata.creationTimestamp;
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
  delete metadata.selfLink;
}

export function fillSystemFields(metadata: Metadata, world: World): void {
  metadata.creationTimestamp = rfc3339(world.now());
  metadata.uid = uuid(world);
  if ((metadata.name ?? "") === "" && (metadata.generateName ?? "") !== "")
    metadata.name = generatedName(metadata.generateName ?? "", world);
}

/** The namespace of the request and of the object must agree; what one of them leaves out, the other says. */
export function settleNamespace(metadata: Metadata, requested: string): void {
  const own = metadata.namespace ?? "";
  if (own === requested) return;
  if (own !== "" && requested !== "")
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  if (requested === "") delete metadata.namespace;
  else metadata.namespace = requested;
}

/** The same owner twice is kept once; the sentence is for a Warning header. */
export function dedupeOwners(metadata: Metadata): string | undefined {
  const owners = metadata.ownerReferences;
  if (owners === undefined) return undefined;
  const kept: OwnerReference[] = [];
  const repeated = new Set<string>();
  for (const owner of owners)
    if (kept.some((other) => equal(other, owner))) repeated.add(owner.uid);
    else kept.push(owner);
  if (repeated.size === 0) return undefined;
  metadata.ownerReferences = kept;
  return `.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${[...repeated].join(", ")}`;
}

const hasStatus = ({ subresources }: Resource): boolean => subresources.status !== undefined;

export function prepareNew(object: ApiObject, resource: Resource): void {
  const { strategy, definition } = resource;
  if (hasStatus(resource) && strategy.statusOnCreate !== true) {
    delete object.status;
    // A Go struct is never absent: built-in kinds show an empty status.
    if (definition === undefined) object.status = {};
  }
  // Kinds that count nothing keep what they are sent, as the real server does.
  if ((strategy.generation ?? "none") !== "none") object.metadata.generation = 1;
}

function putBack(object: JsonObject, old: JsonObject, key: string): void {
  const value = old[key];
  if (value === undefined) delete object[key];
  else define(object, key, value);
}

/** Puts back what this request may not write. Changes `object`. */
export function restoreUnwritable(object: ApiObject, old: ApiObject, resource: Resource, subresource: string): void {
  if (subresource === "status") {
    for (const key of new Set([...Object.keys(object), ...Object.keys(old)]))
      if (key !== "status" && key !== "metadata" && key !== "apiVersion" && key !== "kind") putBack(object, old, key);
    if (resource.definition !== undefined) restoreMetadata(object, old);
  } else if (hasStatus(resource)) putBack(object, old, "status");
}

/** The status of a custom resource is written without touching its metadata. */
function restoreMetadata(object: ApiObject, old: ApiObject): void {
  const { managedFields, resourceVersion } = object.metadata;
  object.metadata = { ...old.metadata };
  if (managedFields !== undefined) object.metadata.managedFields = managedFields;
  if (resourceVersion !== undefined) object.metadata.resourceVersion = resourceVersion;
}

/** Changes `object`: generation, and what an update cannot remove. */
export function settleMetadata(object: ApiObject, old: ApiObject, resource: Resource, subresource: string): void {
  const { metadata } = object;
  putBack(metadata, old.metadata, "generation");
  const generation = old.metadata.generation ?? 0;
  if (subresource !== "status" && counts(object, old, resource)) metadata.generation = generation + 1;
  metadata.uid ||= old.metadata.uid ?? "";
  putBack(metadata, old.metadata, "creationTimestamp");
  if (old.metadata.deletionTimestamp !== undefined) metadata.deletionTimestamp = old.metadata.deletionTimestamp;
  if (metadata.deletionGracePeriodSeconds === undefined) putBack(metadata, old.metadata, "deletionGracePeriodSeconds");
  delete metadata.selfLink;
}

function counts(object: ApiObject, old: ApiObject, { strategy }: Resource): boolean {
  switch (strategy.generation ?? "none") {
    case "none":
      return false;
    case "spec":
      return !equal(object.spec, old.spec);
    default:
      return !sameButMetadata(object, old);
  }
}

function sameButMetadata(object: ApiObject, old: ApiObject): boolean {
  const isSame = (key: string): boolean => key === "metadata" || equal(ownEntry(object, key), ownEntry(old, key));
  return Object.keys(object).every(isSame) && Object.keys(old).every(isSame);
}

/** Two states that differ in nothing but when a manager last wrote are the same: nothing is stored. */
export function sameState(object: ApiObject, old: ApiObject): boolean {
  return sameButMetadata(object, old) && sameMetadata(object.metadata, old.metadata);
}

function sameMetadata(metadata: Metadata, old: Metadata): boolean {
  const isSame = (key: string): boolean => {
    if (key === "resourceVersion") return true;
    if (key === "managedFields") return equal(undated(metadata[key]), undated(old[key]));
    return equal(ownEntry(metadata, key), ownEntry(old, key));
  };
  return Object.keys(metadata).every(isSame) && Object.keys(old).every(isSame);
}

const undated = (entries: Metadata["managedFields"]): Metadata["managedFields"] =>
  entries?.map((entry) => (isObject(entry) ? { ...entry, time: null } : entry));
