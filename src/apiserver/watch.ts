/**
 * Watches. One observer of the store serves all of them: an event is put into words once per form and shared. A watch starts
 * with what there is, or with history; from then on it hears every commit in order.
 */
import type { Millis } from "../base/brand.ts";
import type { HttpResponse } from "../base/http.ts";
import { equal, print } from "../base/json.ts";
import { createMultimap } from "../base/multimap.ts";
import type { World } from "../base/world.ts";
import { jsonHeaders } from "./answer.ts";
import { type Channel, createChannel } from "./channel.ts";
import type { Store, Stored, StoreEvent } from "./contracts.ts";
import { asDefinition } from "./custom.ts";
import { type Listing, selects, tooNew, versionOf } from "./list.ts";
import { collectionOf, definitionsCollection } from "./rows.ts";
import { expired, Refusal } from "./status.ts";
import { createWording, type EventType, type WatchForm, type Wording } from "./watch-words.ts";

/** What may wait for a slow reader. */
const queued = { textsMax: 10_000, charsMax: 64 * 2 ** 20 } as const;
const bookmarkMs = 60_000;
/** A watch that names no timeout lives between half an hour and an hour. */
const watchMsMin = 1_800_000;
/** A last bookmark shortly before the end lets the client resume where it stopped. */
const lastBookmarkMs = 2_000;
/** Timers may ring a millisecond early, and clients complain of a watch that was shorter than they asked for. */
const marginMs = 20;

interface Watcher {
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined;
  /** Hears only of later versions. */
  readonly after: number;
  readonly passes: (stored: Stored) => boolean;
  readonly wording: Wording;
  readonly channel: Channel;
}

/** Where a watch begins: at a refusal, with everything there is, or after some version. */
type Beginning =
  | { readonly kind: "refused"; readonly refusal: Refusal }
  | { readonly kind: "everything" }
  | { readonly kind: "after"; readonly version: number; readonly events: readonly StoreEvent[] };

export interface WatchHub {
  watch(listing: Listing, form: WatchForm, signal: AbortSignal | undefined): HttpResponse;
  /** Watches now open, for tests and metrics. */
  count(): number;
}

/** What an event means to a watcher that sees only part of the collection. */
function seenAs(
  { passes }: Watcher,
  { type, now, before }: StoreEvent,
): { type: EventType; stored: Stored } | undefined {
  const wasIn = before !== undefined && passes(before);
  const isIn = type !== "DELETED" && passes(now);
  if (isIn) return { type: wasIn ? "MODIFIED" : "ADDED", stored: now };
  if (!wasIn) return undefined;
  // One that no longer fits the selector is shown as it was when it still did, at the version of the change.
  return { type: "DELETED", stored: type === "DELETED" ? now : restamped(before, now.version) };
}

function restamped({ object }: Stored, version: number): Stored {
  const stamped = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
  return { object: stamped, version, text: () => print(stamped) };
}

/** The collection whose definition has changed, or is gone. */
function redefinedBy({ collection, type, now, before }: StoreEvent): string | undefined {
  if (collection !== definitionsCollection || before === undefined) return undefined;
  const [{ spec }, old] = [asDefinition(now.object), asDefinition(before.object)];
  return type === "DELETED" || !equal(spec, old.spec) ? collectionOf(spec.group, spec.names.plural) : undefined;
}

function beginningOf(store: Store, { resource, query }: Listing): Beginning {
  const { resourceVersion: asked, sendInitialEvents: initial } = query;
  const unset = asked === "" || asked === "0";
  const version = unset ? store.version() : versionOf(asked, (why) => new Refusal(500, "", why));
  if (initial === true)
    return version > store.version()
      ? { kind: "refused", refusal: tooNew(version, store.version()) }
      : { kind: "everything" };
  const events = store.eventsAfter(resource.collection, version);
  if (events === "expired")
    return { kind: "refused", refusal: expired(`too old resource version: ${version} (${store.version()})`) };
  return { kind: "after", version, events };
}

export function createWatchHub(store: Store, world: World): WatchHub {
  const watchers = createMultimap<string, Watcher>();
  /** The lines of the event now being told: the first watcher of a form makes one, the others reuse it. */
  let told: StoreEvent | undefined;
  const lines = new Map<string, string>();

  store.onCommit((events) => {
    for (const event of events) {
      for (const watcher of watchers.get(event.collection)) tellOrEnd(watcher, event);
      // They were begun by the rules of another definition, perhaps in a version that is served no longer: kube-apiserver ends them.
      for (const { channel } of [...watchers.get(redefinedBy(event) ?? "")]) channel.close();
    }
  });

  /** A watch must not go on as if there had been nothing. Its client lists again, and is then told why that cannot be done. */
  function tellOrEnd(watcher: Watcher, event: StoreEvent): void {
    try {
      tell(watcher, event);
    } catch {
      watcher.channel.close();
    }
  }

  function tell(watcher: Watcher, event: StoreEvent): void {
    if (event.now.version <= watcher.after) return;
    if (watcher.namespace !== undefined && event.now.object.metadata.namespace !== watcher.namespace) return;
    const seen = seenAs(watcher, event);
    if (seen !== undefined) watcher.channel.push(lineFor(watcher.wording, event, seen));
  }

  function lineFor(wording: Wording, event: StoreEvent, { type, stored }: { type: EventType; stored: Stored }): string {
    if (wording.key === undefined) return wording.event(type, stored);
    if (told !== event) lines.clear();
    told = event;
    const key = `${type} ${wording.key}`;
    const known = lines.get(key) ?? wording.event(type, stored);
    lines.set(key, known);
    return known;
  }

  function join(collection: string, watcher: Watcher): () => void {
    watchers.add(collection, watcher);
    return () => watchers.delete(collection, watcher);
  }

  function watch(listing: Listing, form: WatchForm, signal: AbortSignal | undefined): HttpResponse {
    const { resource, namespace, query } = listing;
    const passes = selects(listing);
    const beginning = beginningOf(store, listing);
    const onClose: (() => void)[] = [];
    const channel = createChannel(queued, () => {
      for (const step of onClose) step();
    });
    const wording = createWording(resource, form);
    const watcher = { namespace, after: 0, passes, wording, channel };
    if (beginning.kind === "refused") {
      channel.push(wording.error(beginning.refusal));
      channel.close();
    } else {
      begin(watcher, beginning, listing);
      onClose.push(
        join(resource.collection, { ...watcher, after: beginning.kind === "after" ? beginning.version : 0 }),
      );
      signal?.addEventListener("abort", channel.close, { once: true });
      onClose.push(() => signal?.removeEventListener("abort", channel.close));
      if (signal?.aborted) channel.close();
      if (!channel.isClosed()) onClose.push(untilItsEnd(channel, query, wording));
    }
    return { status: 200, headers: jsonHeaders, body: channel };
  }

  function begin(watcher: Watcher, beginning: Exclude<Beginning, { kind: "refused" }>, listing: Listing): void {
    const { channel, wording, passes } = watcher;
    if (beginning.kind === "after") {
      for (const event of beginning.events) tell(watcher, event);
      return;
    }
    const items = store.list(listing.resource.collection, listing.namespace).filter(passes);
    // One piece, however many there are: the bound on what may wait is for what happens later.
    if (items.length > 0) channel.push(items.map((stored) => wording.event("ADDED", stored)).join(""));
    if (listing.query.bookmarks) channel.push(wording.bookmark(store.version(), true));
  }

  /** Bookmarks now and then, a last one, and the end. The answer stops it before its time. */
  function untilItsEnd(
    channel: Channel,
    { timeoutSeconds, bookmarks }: Listing["query"],
    wording: Wording,
  ): () => void {
    // Zero is as good as nothing said.
    let left = timeoutSeconds ? timeoutSeconds * 1_000 + marginMs : watchMsMin * (1 + world.random());
    const nextStep = (): Millis => (left > lastBookmarkMs ? Math.min(bookmarkMs, left - lastBookmarkMs) : left);
    const ring = (passedMs: Millis): void => {
      left -= passedMs;
      if (left > 0 && bookmarks) channel.push(wording.bookmark(store.version(), false));
      if (left > 0) wait();
      else channel.close();
    };
    const wait = (): void => {
      const stepMs = nextStep();
      stopTimer = world.after(stepMs, () => ring(stepMs));
    };
    let stopTimer = (): void => undefined;
    wait();
    return () => stopTimer();
  }

  return { watch, count: () => [...watchers.sets()].reduce((sum, { size }) => sum + size, 0) };
}
