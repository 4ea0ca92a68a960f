/** Between the form objects are stored in and the version a client asked for. */
import { clone } from "../base/json.ts";
import type { ApiObject, Resource } from "./contracts.ts";
import { pruned } from "./pruned.ts";
import { apiVersionOf } from "./rows.ts";

const versionOf = (resource: Resource): string => apiVersionOf(resource.group, resource.version);

/**
 * A stored object is shared: when it already has the right form, it is returned as it is. It may lack defaults: those of a status,
 * which is dropped from what is created, and those of a schema that got them later.
 */
export function fromStored(resource: Resource, object: ApiObject): ApiObject {
  if (resource.conversion !== undefined) return resource.conversion.fromStored(object);
  const apiVersion = versionOf(resource);
  if (object.apiVersion === apiVersion) return resource.shape()?.defaulted?.(object) ?? object;
  const converted = { ...clone(object), apiVersion };
  // What only the stored version knows is not shown in this one.
  const shape = resource.shape();
  if (shape !== undefined) pruned(shape, converted);
  shape?.defaults(converted);
  return converted;
}

export function toStored(resource: Resource, object: ApiObject): ApiObject {
  if (resource.conversion !== undefined) return resource.conversion.toStored(object);
  return object.apiVersion === resource.storedAs ? object : { ...object, apiVersion: resource.storedAs };
}
