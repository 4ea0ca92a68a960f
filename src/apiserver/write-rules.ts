/** Rules of writing that are the same for every kind: versions, preconditions, and when an object is finished. */
import type { JsonObject } from "../base/json.ts";
import type { ApiObject, FieldError, Operation, Resource, Stored, WriteOptions } from "./contracts.ts";
import { groupOf } from "./rows.ts";
import { changedMeanwhile, conflict, invalid, Refusal } from "./status.ts";
import type { Target } from "./target.ts";

export function refuseInvalid(resource: Resource, name: string, errors: readonly FieldError[]): void {
  if (errors.length === 0) return;
  // Events are judged as what they are stored as, under whichever name they came.
  throw invalid({ group: groupOf(resource.storedAs), kind: resource.kind }, name, errors);
}

/** A stated version must be the present one; none means "whatever is there", for kinds that allow it. */
export function checkVersion({ resource, name }: Target, wanted: ApiObject, existing: Stored): void {
  const stated = wanted.metadata.resourceVersion ?? "";
  if (stated !== "" && !/^\d+$/.test(stated))
    throw new Refusal(500, "", `strconv.ParseUint: parsing ${JSON.stringify(stated)}: invalid syntax`);
  if (stated !== "" && stated !== "0") {
    if (Number(stated) !== existing.version) throw conflict(resource, name, changedMeanwhile);
    return;
  }
  if (resource.strategy.unconditionalUpdate !== true) {
    const error: FieldError = {
      type: "FieldValueInvalid",
      field: "metadata.resourceVersion",
      value: 0,
      detail: "must be specified for an update",
    };
    throw invalid({ group: resource.group, kind: resource.plural }, name, [error]);
  }
  wanted.metadata.resourceVersion = String(existing.version);
}

export function isFinished({ strategy }: Resource, object: ApiObject, old: ApiObject): boolean {
  if ((object.metadata.finalizers ?? []).length > 0 || old.metadata.deletionTimestamp === undefined) return false;
  if ((old.metadata.deletionGracePeriodSeconds ?? 0) !== 0) return false;
  return strategy.holdsDeletion?.(object) !== true;
}

export function optionsObject(operation: Operation, options: WriteOptions): JsonObject {
  const kind = operation === "CREATE" ? "CreateOptions" : operation === "DELETE" ? "DeleteOptions" : "UpdateOptions";
  return {
    kind,
    apiVersion: "meta.k8s.io/v1",
    ...(options.dryRun === true ? { dryRun: ["All"] } : {}),
    ...options.stated,
  };
}

/** Where the real server keeps the object in etcd: part of the message of a failed precondition. */
function storageKey({ group, plural, definition, scope }: Resource, namespace: string, name: string): string {
  const inOwnGroup = definition !== undefined || group === "apiextensions.k8s.io";
  const legacy: Readonly<Record<string, string>> = { nodes: "minions", services: "services/specs" };
  const prefix = inOwnGroup ? `${group}/${plural}` : ((group === "" ? legacy[plural] : undefined) ?? plural);
  return `/registry/${prefix}/${scope === "namespace" ? `${namespace}/` : ""}${name}`;
}

export const preconditionText = (
  resource: Resource,
  namespace: string,
  name: string,
  asked: string,
  actual: string,
): string =>
  `StorageError: invalid object, Code: 4, Key: ${storageKey(resource, namespace, name)}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${asked}, UID in object meta: ${actual}`;
