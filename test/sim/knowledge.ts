/**
 * What each process knows: the versions of objects that it received in responses, lists and watches. A decision may rest on
 * an old version only as long as no newer one was there to be looked at.
 */
import type { WatchedKind } from "./record.ts";
import { numberAt, versionFrom } from "./versions.ts";

export interface Knowledge {
  /** A version that exists from now on. */
  exists(version: number, kind: WatchedKind, uid: string): void;
  /** The text that a process has just taken in: one object, a list, or events. A list may be that of one namespace only. */
  reported(process: string, atMs: number, text: string, isOfNamespace?: boolean): void;
  /** A call of the process has been answered. It may have waited since, as it was asked to, before it goes on. */
  answered(process: string, decidedMs: number, endedMs: number): void;
  /** The oldest version of the object on which what the process sent at this time can rest; undefined: it has not heard of it. */
  floorOf(process: string, uid: string, decidedMs: number): number | undefined;
  /** Whether the last list that the process had when it decided left out the object, although it existed when the list came. */
  wasOmitted(process: string, uid: string, decidedMs: number): boolean;
  /** Whether the process had a list of the kind when it decided. */
  hasListed(process: string, kind: WatchedKind, decidedMs: number): boolean;
}

interface Heard {
  readonly atMs: number;
  readonly version: number | undefined;
  readonly how: "answer" | "list" | "event";
}
interface Span {
  readonly decidedMs: number;
  readonly endedMs: number;
}
interface Mind {
  readonly heard: Map<string, Heard[]>;
  readonly spans: Span[];
  /** When each list of each kind came, and whatever existed then and was not in it. */
  readonly lists: Map<string, { readonly atMs: number; readonly omitted: ReadonlySet<string> }[]>;
}

/** Between taking something in and the first call that follows from it. */
const thinkingMs = 250;
const bookmark = '{"type":"BOOKMARK"';
const listHead = /^\{"kind":"(\w+)List"/;

const afterLine = (text: string, start: number): number => text.indexOf("\n", start) + 1 || text.length;

/** Only a list can lead back in time. */
const floorAfter = (floor: number | undefined, { version, how }: Heard): number | undefined =>
  how === "list" || version === undefined ? version : Math.max(floor ?? version, version);

/** Looked at already or not: a list that leads back in time may be what a decision rests on. */
const floorPerhapsAfter = (floor: number | undefined, { version, how }: Heard): number | undefined =>
  how === "list" && version !== undefined && floor !== undefined ? Math.min(floor, version) : floor;

export function createKnowledge(): Knowledge {
  const minds = new Map<string, Mind>();
  const owners = new Map<number, { readonly kind: WatchedKind; readonly uid: string }>();
  const kinds = new Map<string, WatchedKind>();
  const mindOf = (process: string): Mind => {
    const known = minds.get(process);
    if (known !== undefined) return known;
    const mind: Mind = { heard: new Map(), spans: [], lists: new Map() };
    minds.set(process, mind);
    return mind;
  };
  const hear = ({ heard }: Mind, uid: string, item: Heard): void => {
    const known = heard.get(uid);
    if (known === undefined) heard.set(uid, [item]);
    else known.push(item);
  };

  function reportedList(mind: Mind, atMs: number, text: string, kind: string, isOfNamespace: boolean): void {
    const there = new Set<string>();
    for (let at = versionFrom(text); at !== -1; at = versionFrom(text, at)) {
      const version = numberAt(text, at);
      const owner = owners.get(version);
      // A list has a version of its own, which may be that of any object.
      if (owner?.kind !== kind || there.has(owner.uid)) continue;
      there.add(owner.uid);
      hear(mind, owner.uid, { atMs, version, how: "list" });
    }
    const omitted = new Set([...kinds].filter(([uid, of]) => of === kind && !there.has(uid)).map(([uid]) => uid));
    mind.lists.set(kind, [...(mind.lists.get(kind) ?? []), { atMs, omitted }]);
    if (isOfNamespace) return;
    for (const uid of omitted) if (mind.heard.has(uid)) hear(mind, uid, { atMs, version: undefined, how: "list" });
  }

  /** The object, or the event about it, that begins there. */
  function reportedOne(mind: Mind, atMs: number, text: string, start: number, how: Heard["how"]): void {
    const at = versionFrom(text, start);
    const version = at === -1 ? Number.NaN : numberAt(text, at);
    const owner = owners.get(version);
    if (owner !== undefined) hear(mind, owner.uid, { atMs, version, how });
  }

  /** When the work began that led to this: calls follow one another without looking at what comes in meanwhile. */
  function beginOf({ spans }: Mind, decidedMs: number): number {
    let begin = decidedMs;
    for (let index = spans.length - 1; index >= 0; index--) {
      const { decidedMs: from, endedMs: to } = spans[index] as Span;
      if (to <= decidedMs && to >= begin - thinkingMs) begin = Math.min(begin, from);
    }
    return begin;
  }

  return {
    exists: (version, kind, uid) => {
      owners.set(version, { kind, uid });
      kinds.set(uid, kind);
    },
    answered: (process, decidedMs, endedMs) => void mindOf(process).spans.push({ decidedMs, endedMs }),
    reported(process, atMs, text, isOfNamespace = false) {
      const mind = mindOf(process);
      const list = text.startsWith('{"kind":"') ? listHead.exec(text)?.[1] : undefined;
      if (list !== undefined) return reportedList(mind, atMs, text, list, isOfNamespace);
      if (!text.startsWith('{"type":')) return reportedOne(mind, atMs, text, 0, "answer");
      for (let start = 0; start < text.length; start = afterLine(text, start))
        if (!text.startsWith(bookmark, start)) reportedOne(mind, atMs, text, start, "event");
    },
    floorOf(process, uid, decidedMs) {
      const mind = minds.get(process);
      const heard = mind?.heard.get(uid);
      if (mind === undefined || heard === undefined) return undefined;
      const newsMs = beginOf(mind, decidedMs) - thinkingMs;
      let floor: number | undefined;
      for (const item of heard) {
        if (item.atMs > decidedMs) continue;
        const wasLookedAt = item.how === "answer" || item.atMs <= newsMs;
        floor = wasLookedAt ? floorAfter(floor, item) : floorPerhapsAfter(floor, item);
      }
      return floor;
    },
    wasOmitted: (process, uid, decidedMs) =>
      minds
        .get(process)
        ?.lists.get(kinds.get(uid) ?? "")
        ?.findLast(({ atMs }) => atMs <= decidedMs)
        ?.omitted.has(uid) === true,
    hasListed: (process, kind, decidedMs) =>
      minds
        .get(process)
        ?.lists.get(kind)
        ?.some(({ atMs }) => atMs <= decidedMs) === true,
  };
}
