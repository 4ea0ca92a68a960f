/** From a decoded answer to an object that a cache may hold. */
import type { KindName } from "../api/kinds.ts";
import type { ObjectOf } from "../api/types.ts";
import { Fault } from "../base/fault.ts";
import { isObject, type JsonObject, type JsonValue } from "../base/json.ts";

export interface Adoption<K extends KindName> {
  readonly kind: K;
  readonly apiVersion: string;
  /** Half of most objects is the record of who set which field. Nobody here reads it, and caches would hold it. */
  readonly managedFields: "keep" | "strip";
  readonly read: ReadText;
}

/** From the text of an answer to its value; throws at what is no JSON. */
export type ReadText = (text: string) => JsonValue;

/**
 * Items of a list of a built-in kind lack apiVersion and kind. Writing the two constants over what was parsed also spares
 * every cached object its own copies of these strings.
 */
export function adopt<K extends KindName>(
  { kind, apiVersion, managedFields }: Adoption<K>,
  value: JsonValue,
): ObjectOf<K> {
  if (!isObject(value) || !isObject(value.metadata) || (value.kind !== undefined && value.kind !== kind))
    throw new Fault("UnknownOutcome", `the API server answered with something that is no ${kind}`);
  value.apiVersion = apiVersion;
  value.kind = kind;
  if (managedFields === "strip" && value.metadata.managedFields !== undefined)
    value.metadata = stripped(value.metadata);
  return value as unknown as ObjectOf<K>;
}

/** A copy without the field: deleting it in place would turn the object into a hash table, three times as large. */
function stripped(metadata: JsonObject): JsonObject {
  const { managedFields: _, ...rest } = metadata;
  return rest;
}

/** JSON.parse quotes the text it could not read in its message; that text may be a Secret, so its words are not passed on. */
export function parseResponse(text: string, what: string, read: ReadText): JsonValue {
  try {
    return read(text);
  } catch {
    throw new Fault(
      "UnknownOutcome",
      `${what} was answered with something that is no JSON (${text.length} characters)`,
    );
  }
}
