/**
 * How intents are written into one annotation. Calls of a burst differ in little: what they share (class, size, source) is written
 * once, as a shape, and each call names its shape. So a call takes some 120 bytes instead of 700, and a thousand fit.
 *
 *   {"shapes":[{…}],"calls":{"pvc-1":[0,"namespace","claim","uid"]}}
 */
import { Fault } from "../../base/fault.ts";
import { isObject } from "../../base/json.ts";
import { type Intent, isIntent } from "./intent.ts";

/** The two parts of an intent as JSON. */
export interface IntentParts {
  readonly shape: string;
  readonly claim: string;
}

export function partsOf({ claim, ...shared }: Intent): IntentParts {
  const { namespace, name, uid } = claim;
  return {
    // The name keeps its place: a call that is read again is compared as text.
    shape: JSON.stringify({ ...shared, call: { ...shared.call, name: "" } }),
    claim: JSON.stringify([namespace, name, uid]).slice(1),
  };
}

/** More than what the call adds to the text beside its shape. */
export const bytesOfCall = (volumeName: string, { claim }: IntentParts): number =>
  Buffer.byteLength(volumeName) + Buffer.byteLength(claim) + 16;

export function textOf(calls: Iterable<readonly [string, IntentParts]>): string {
  const shapes = new Map<string, number>();
  const numberOf = (shape: string): number => {
    const known = shapes.get(shape) ?? shapes.size;
    shapes.set(shape, known);
    return known;
  };
  const rows = Array.from(calls, ([name, { shape, claim }]) => `${JSON.stringify(name)}:[${numberOf(shape)},${claim}`);
  return `{"shapes":[${[...shapes.keys()].join(",")}],"calls":{${rows.join(",")}}}`;
}

export interface IntentsRead {
  readonly intents: ReadonlyMap<string, Intent>;
  /** Names of calls that cannot be used. */
  readonly unreadable: readonly string[];
}

/** Whatever stands there, what can be read is used: somebody may have edited the object. Throws where nothing can be read. */
export function intentsIn(text: string): IntentsRead {
  const all = unchecked(text);
  return {
    intents: new Map(all.filter((entry): entry is readonly [string, Intent] => isIntent(...entry))),
    unreadable: all.filter((entry) => !isIntent(...entry)).map(([name]) => name),
  };
}

/** By volume name; none of them need be an intent. */
export function unchecked(text: string): readonly (readonly [string, unknown])[] {
  const { shapes, calls } = (JSON.parse(text) ?? {}) as { readonly shapes?: unknown; readonly calls?: unknown };
  if (!Array.isArray(shapes) || !isObject(calls)) throw new Fault("DataLoss", "it has no shapes and calls");
  return Object.entries(calls).map(([name, row]) => [name, intentOf(shapes, name, row)] as const);
}

function intentOf(shapes: readonly unknown[], volumeName: string, row: unknown): unknown {
  const [shape, namespace, name, uid] = Array.isArray(row) ? (row as readonly unknown[]) : [];
  const shared = typeof shape === "number" ? (shapes[shape] as Partial<Intent> | undefined) : undefined;
  const call = { ...shared?.call, name: volumeName };
  return { claim: { namespace, name, uid }, ...shared, call };
}
