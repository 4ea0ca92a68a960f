/**
 * How intents are written into one annotation. Calls of a burst differ in little: what they share (class, size, source) is written
 * once, as a shape, and each call names its shape. So a call takes some 120 bytes instead of 700, and a thousand fit.
 *
 *   {"notes":true,"term":["uid of the election's Lease",3],"shapes":[{…}],
 *    "calls":{"pvc-1":[0,"namespace","claim","uid"],"pvc-2":[0,"namespace","claim","uid","id"]}}
 *
 * The id is the note that a PersistentVolume may have been stored with this volume. That there is none proves something only while nobody
 * else has led in between: a text without "notes" is from a version that left none, and the term says whether another provisioner had
 * the election's Lease since. Otherwise any of the calls may have its PersistentVolume.
 */
import { Fault } from "../../../base/fault.ts";
import { isObject } from "../../../base/json.ts";
import type { LeaseTerm } from "../../../kube/lease-record.ts";
import type { VolumeName } from "../identity.ts";
import { type Intent, isIntent } from "./intent.ts";

/** The two parts of an intent as JSON. */
export interface IntentParts {
  readonly shape: string;
  readonly claim: string;
}

export function partsOf({ claim, published, ...shared }: Intent): IntentParts {
  const { namespace, name, uid } = claim;
  const row = published === undefined ? [namespace, name, uid] : [namespace, name, uid, published];
  return {
    // The name keeps its place: a call that is read again is compared as text.
    shape: JSON.stringify({ ...shared, call: { ...shared.call, name: "" } }),
    claim: JSON.stringify(row).slice(1),
  };
}

/** More than what the call adds to the text beside its shape. */
export const bytesOfCall = (volumeName: string, { claim }: IntentParts): number =>
  Buffer.byteLength(volumeName) + Buffer.byteLength(claim) + 16;

export function textOf(calls: Iterable<readonly [string, IntentParts]>, term?: LeaseTerm): string {
  const shapes = new Map<string, number>();
  const numberOf = (shape: string): number => {
    const known = shapes.get(shape) ?? shapes.size;
    shapes.set(shape, known);
    return known;
  };
  const rows = Array.from(calls, ([name, { shape, claim }]) => `${JSON.stringify(name)}:[${numberOf(shape)},${claim}`);
  const led = term === undefined ? "" : `"term":${JSON.stringify([term.uid, term.transitions])},`;
  return `{"notes":true,${led}"shapes":[${[...shapes.keys()].join(",")}],"calls":{${rows.join(",")}}}`;
}

export interface IntentsRead {
  readonly intents: ReadonlyMap<VolumeName, Intent>;
  /** Names of calls that cannot be used. */
  readonly unreadable: readonly string[];
}

/**
 * Whatever stands there, what can be read is used: somebody may have edited the object. A call is ours only under the name that is made
 * from its claim's uid. Throws where nothing can be read.
 */
export function intentsIn(text: string, nameFor: (claimUid: string) => VolumeName, term?: LeaseTerm): IntentsRead {
  const all = unchecked(text, term);
  const isUsable = (entry: readonly [string, unknown]): entry is readonly [VolumeName, Intent] => {
    const [name, value] = entry;
    return isIntent(name, value) && nameFor(value.claim.uid) === name;
  };
  return {
    intents: new Map(all.filter(isUsable)),
    unreadable: all.filter((entry) => !isUsable(entry)).map(([name]) => name),
  };
}

/** The rows by volume name; none of them need be an intent. */
export function unchecked(text: string, term?: LeaseTerm): readonly (readonly [string, unknown])[] {
  const {
    notes,
    term: writtenIn,
    shapes,
    calls,
  } = (JSON.parse(text) ?? {}) as {
    readonly [Part in "notes" | "term" | "shapes" | "calls"]?: unknown;
  };
  if (!Array.isArray(shapes) || !isObject(calls)) throw new Fault("DataLoss", "it has no shapes and calls");
  const areNoted = notes === true && isNext(writtenIn, term);
  return Object.entries(calls).map(([name, row]) => [name, intentOf(shapes, name, row, areNoted)] as const);
}

/** Who led between the two terms has left no notes. The same term is that of this process. */
function isNext(writtenIn: unknown, now: LeaseTerm | undefined): boolean {
  if (now === undefined || !Array.isArray(writtenIn)) return now === undefined && writtenIn === undefined;
  const [uid, transitions] = writtenIn as readonly unknown[];
  return uid === now.uid && (transitions === now.transitions || transitions === now.transitions - 1);
}

function intentOf(shapes: readonly unknown[], volumeName: string, row: unknown, hasNotes: boolean): unknown {
  const [shape, namespace, name, uid, noted] = Array.isArray(row) ? (row as readonly unknown[]) : [];
  const shared = typeof shape === "number" ? (shapes[shape] as Partial<Intent> | undefined) : undefined;
  const published = noted ?? (hasNotes ? undefined : "");
  return {
    ...shared,
    claim: { namespace, name, uid },
    call: { ...shared?.call, name: volumeName },
    ...(published === undefined ? {} : { published }),
  };
}
