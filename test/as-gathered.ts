/** A view whose objects have been through `snapkeep gather`: what the components decide, they must decide from a bundle as well. */
import assert from "node:assert/strict";
import type { VolumeSnapshot } from "../src/api/types.ts";
import { isObject, type JsonObject, type JsonValue } from "../src/base/json.ts";
import { bundleObject, masked } from "../src/cli/gather/bundle-object.ts";
import { sourceOf } from "../src/rules/snapshot-source.ts";

export const asGathered = <View>(view: View): View => gathered(view) as View;

function gathered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(gathered);
  if (!isPlain(value)) return value;
  const { kind, apiVersion, metadata } = value;
  if (typeof kind === "string" && typeof apiVersion === "string" && isObject(metadata))
    return withoutUndefined(bundleObject(value as JsonObject, kind));
  const mapped = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, gathered(member)]));
  // What observe reads of the snapshot itself.
  return "snapshot" in mapped && "source" in mapped && isSnapshot(mapped.snapshot)
    ? { ...mapped, source: sourceOf(mapped.snapshot) }
    : mapped;
}

const isSnapshot = (value: unknown): value is VolumeSnapshot => isPlain(value) && value.kind === "VolumeSnapshot";

/** No store, no set, no function. */
const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;

/** Tests write undefined where an API server leaves the field out. */
const withoutUndefined = (value: JsonValue): JsonValue => {
  if (Array.isArray(value)) return value.map(withoutUndefined);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(entries.map(([name, member]) => [name, withoutUndefined(member ?? null)]));
};

/** Values that a bundle may leave out: the driver's, and those of other people's annotations. */
const mayBeHidden = /\.(parameters|mutableParameters|annotations|mountOptions|flags|volumeAttributes|context)\b/;

/** That two decisions are one, down to the last word of a message, but for what a bundle hides. */
export function assertSameDecision(gathered: unknown, real: unknown, path = "plan"): void {
  if (typeof gathered === "string" && typeof real === "string" && mayBeHidden.test(path))
    assert.ok(gathered === real || gathered === masked(real), `${path}: ${gathered} is not ${real}`);
  else if (isContainer(gathered) && isContainer(real)) {
    for (const name of new Set([...Object.keys(gathered), ...Object.keys(real)]))
      assertSameDecision(gathered[name], real[name], `${path}.${name}`);
  } else assert.deepEqual(gathered ?? undefined, real ?? undefined, path);
}

const isContainer = (value: unknown): value is Record<string, unknown> => Array.isArray(value) || isPlain(value);
