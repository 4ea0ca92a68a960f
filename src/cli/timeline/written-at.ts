/** When a field was written last, as the API server has noted it in metadata.managedFields. Pure. */
import type { KubeObject } from "../../api/types.ts";
import type { Millis } from "../../base/brand.ts";
import { isObject, type JsonValue } from "../../base/json.ts";
import { millisOf } from "../../base/time.ts";

interface Entry {
  readonly time?: string;
  readonly fieldsV1?: JsonValue;
}

/**
 * The earliest of those who own the field: a second owner has written it again. Undefined: nobody has noted it. One manager has one date
 * for all of its fields, so the field may be older than this, never younger.
 */
export function writtenAt({ metadata }: KubeObject, ...path: readonly string[]): Millis | undefined {
  const { managedFields = [] } = metadata as { readonly managedFields?: readonly Entry[] };
  const dates = managedFields
    .filter(({ fieldsV1 }) => owns(fieldsV1, path))
    .flatMap(({ time }) => millisOf(time) ?? []);
  return dates.length === 0 ? undefined : Math.min(...dates);
}

const owns = (fields: JsonValue | undefined, path: readonly string[]): boolean =>
  path.reduce<JsonValue | undefined>((at, name) => (isObject(at) ? at[`f:${name}`] : undefined), fields) !== undefined;
