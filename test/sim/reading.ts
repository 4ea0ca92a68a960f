/** All simulated processes live in one, with the server: what comes to several of them is read once, what was stored not at all. */
import { isObject, type JsonObject, type JsonValue, parse } from "../../src/base/json.ts";
import type { ReadText } from "../../src/kube/objects.ts";
import { numberAt, versionFrom } from "./versions.ts";

/** What the server keeps, and how it words it. */
interface Kept {
  readonly object: JsonObject;
  readonly version: number;
  text(): string;
}

export interface SharedReader {
  readonly read: ReadText;
  /** Called for every object that the server stores. */
  learn(kept: Kept): void;
}

const eventHead = '{"type":"';
const objectMember = ',"object":';
/** Types of events are short. */
const headMax = 30;

/** Two strings are compared by the block; `startsWith` goes letter by letter. */
const holdsAt = (text: string, words: string, start: number): boolean =>
  text.slice(start, start + words.length) === words;

/** No component changes read objects below their top level (reading.test.ts), so sharing them is safe. */
export function createSharedReader(): SharedReader {
  const stored = new Map<number, Kept>();
  const known = new Map<string, JsonValue>();

  /** Finds a text by the first version that it names, and then by every letter: an answer, which ends with a new line, or an event. */
  function storedIn(text: string): JsonValue | undefined {
    const at = versionFrom(text);
    const kept = at === -1 ? undefined : stored.get(numberAt(text, at));
    if (kept === undefined) return undefined;
    const words = kept.text();
    const isWhole = text.length === words.length || (text.length === words.length + 1 && text.endsWith("\n"));
    if (isWhole && holdsAt(text, words, 0)) return { ...kept.object };
    const head = text.startsWith(eventHead) ? text.indexOf(objectMember) : -1;
    const start = head + objectMember.length;
    const isEvent =
      head !== -1 && head <= headMax && text.length === start + words.length + 1 && holdsAt(text, words, start);
    // The quotation mark before the comma is not part of the type.
    return isEvent ? { type: text.slice(eventHead.length, head - 1), object: { ...kept.object } } : undefined;
  }

  return {
    learn: (kept) => void stored.set(kept.version, kept),
    read: (text) => {
      const kept = storedIn(text);
      if (kept !== undefined) return kept;
      const value = known.get(text) ?? readList(text) ?? parse(text);
      known.set(text, value);
      return ownTop(value);
    },
  };
}

/** Lists of what stood there from the start: the same items in every world, whatever the version of the list is. */
const fixtureLists = ["VolumeSnapshotClassList", "PersistentVolumeList", "PersistentVolumeClaimList"];
const itemsMember = ',"items":';
const itemsKnown = new Map<string, JsonValue>();
const itemsKnownMax = 5_000;

function readList(text: string): JsonValue | undefined {
  const isOne = fixtureLists.some((name) => text.startsWith(`{"kind":"${name}"`));
  const at = isOne ? text.indexOf(itemsMember) : -1;
  if (at === -1) return undefined;
  const head = parse(`${text.slice(0, at)}}`) as JsonObject;
  const words = text.slice(at);
  const items = itemsKnown.get(words) ?? (parse(`{${words.slice(1)}`) as JsonObject).items;
  if (items === undefined) return undefined;
  if (itemsKnown.size < itemsKnownMax) itemsKnown.set(words, items);
  return { ...head, items };
}

/** The client writes kind and version at the top. */
const ownTop = (value: JsonValue): JsonValue => (isObject(value) ? { ...value } : value);
