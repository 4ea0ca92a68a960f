/**
 * The cache of a kind that a cluster need not have: it exists only while the kind is served and may be read. Both are asked for first
 * and again and again, so it turns on when the CRD is installed or the right is granted, and no call of it is ever denied.
 */
import { type KindName, kindRows } from "../api/kinds.ts";
import type { Millis } from "../base/brand.ts";
import { Fault } from "../base/fault.ts";
import { limits } from "../base/limits.ts";
import type { Log } from "../base/log.ts";
import { controllerUnder, type World } from "../base/world.ts";
import { mayRead } from "./access.ts";
import type { KubeApi, PathAsker, VersionFinder } from "./api.ts";
import type { SharedStores } from "./shared-stores.ts";
import { createStore, type Listener, type Store, type StoreOptions } from "./store.ts";
import { watchInto } from "./stores.ts";

export interface OptionalStoreOptions<K extends KindName, Index extends string> {
  readonly api: KubeApi & PathAsker & VersionFinder;
  readonly world: World;
  readonly log: Log;
  readonly indexes?: StoreOptions<K, Index>["indexes"];
  readonly recheckMs?: Millis | undefined;
  /** The caches of a process with several controllers. */
  readonly shared?: SharedStores | undefined;
}

export interface OptionalStore<K extends KindName, Index extends string = string> {
  /** The store while it holds a whole list, else undefined. */
  current(): Store<K, Index> | undefined;
  /** Looks for the kind, and keeps the store current, until the signal aborts. */
  watch(signal: AbortSignal): Promise<void>;
  /** Resolves when it is known whether there is a store, and it holds a whole list if so; in any case after a while. */
  known(signal: AbortSignal): Promise<void>;
  /**
   * True while the server has not said whether the kind is served and may be read, or has not answered the whole list: nobody knows what
   * there is. It ends after a while, so that nothing waits for a server that never says.
   */
  isUndecided(): boolean;
  /** Something waits for the kind: it is looked for sooner, but no oftener than every few seconds. */
  lookSoon(): void;
  /** Told of every change; when the store turns off, all of its objects are gone. */
  onChange(listener: Listener<K>): void;
}

type Found = { readonly kind: "served"; readonly version: string } | { readonly kind: "unserved" | "unreadable" };

export function createOptionalStore<K extends KindName, Index extends string = never>(
  kind: K,
  { api, world, indexes, shared, recheckMs = limits.optionalKindRecheckMs, ...options }: OptionalStoreOptions<K, Index>,
): OptionalStore<K, Index> {
  const log = options.log.with({ kind });
  const known = Promise.withResolvers<void>();
  const listeners = new Set<Listener<K>>();
  let current: Store<K, Index> | undefined;
  let said: Found["kind"] = "unserved";
  let undecidedSinceMs: Millis | undefined = world.elapsed();

  const look = async (signal: AbortSignal): Promise<Found> => {
    const version = await api.findVersion(kind, { signal });
    if (version === undefined) return { kind: "unserved" };
    return (await mayRead(api, kind, { signal })) ? { kind: "served", version } : { kind: "unreadable" };
  };
  /** Undefined: the server could not say. Whatever was known before still holds. */
  const find = async (signal: AbortSignal): Promise<Found | undefined> => {
    try {
      const found = await look(signal);
      if (found.kind !== said) report(found);
      said = found.kind;
      return found;
    } catch (reason) {
      log.debug("cannot find out whether an optional kind is served", { reason: Fault.from(reason).message });
      return undefined;
    }
  };
  const report = (found: Found): void => {
    const { group, plural } = kindRows[kind];
    if (found.kind === "served") log.debug("optional kind is served and read", { version: found.version });
    else if (found.kind === "unserved") log.info("optional kind is no longer served");
    else
      log.info("optional kind is served but may not be read", {
        remedy: `grant get, list and watch of ${plural}.${group} in a ClusterRole`,
      });
  };
  const pause = (signal: AbortSignal, ms = recheckMs): Promise<void> => world.sleep(ms, signal).catch(() => undefined);
  /** Ends the pause before the next look, if it has lasted long enough by then. */
  let hurry = (): void => undefined;
  const pauseUntilAwaited = async (signal: AbortSignal): Promise<void> => {
    const { own: pausing, release } = controllerUnder(signal);
    const startedAt = world.elapsed();
    const end = (): void => pausing.abort(new Fault("Cancelled", "something waits for the kind"));
    hurry = () => {
      hurry = () => undefined;
      const leftMs = Math.max(0, limits.optionalKindAwaitedMs - (world.elapsed() - startedAt));
      void pause(pausing.signal, leftMs).then(end);
    };
    await pause(pausing.signal);
    end();
    hurry = () => undefined;
    release();
  };

  /** False: stopped before. Discovery can be without the kind for a moment while its CRD is changed: it is asked a second time. */
  const untilLost = async (signal: AbortSignal): Promise<boolean> => {
    for (let isMissing = false; ; ) {
      await pause(signal, isMissing ? limits.optionalKindRetryMs : recheckMs);
      if (signal.aborted) return false;
      const found = await find(signal);
      if (found?.kind === "unreadable" || (found?.kind === "unserved" && isMissing)) return true;
      isMissing = found?.kind === "unserved";
    }
  };

  const watchWhileServed = async (signal: AbortSignal): Promise<void> => {
    const { own: stop, release } = controllerUnder(signal);
    const store =
      shared?.view<K, Index>(kind, { indexes, log, scope: {} }) ?? createStore<K, Index>(kind, { indexes, log });
    for (const listener of listeners) store.onChange(listener);
    current = store;
    undecidedSinceMs ??= world.elapsed();
    void store.whenSynced.then(() => {
      undecidedSinceMs = undefined;
      known.resolve();
    });
    const watching = watchInto(api, store, { world, log, signal: stop.signal });
    const isLost = await untilLost(signal);
    stop.abort(new Fault("Cancelled", "the kind is no longer served or read"));
    await watching;
    release();
    current = undefined;
    undecidedSinceMs = world.elapsed();
    if (isLost) for (const object of store.all()) for (const listener of listeners) listener(object, undefined);
  };

  return {
    current: () => (current?.isSynced() === true ? current : undefined),
    watch: async (signal) => {
      while (!signal.aborted) {
        const found = await find(signal);
        if (found === undefined) await pause(signal, limits.optionalKindRetryMs);
        else if (found.kind === "served") await watchWhileServed(signal);
        else {
          undecidedSinceMs = undefined;
          known.resolve();
          await pauseUntilAwaited(signal);
        }
      }
    },
    known: async (signal) => {
      const { own: waiting, release } = controllerUnder(signal);
      const late = world.sleep(limits.optionalKindMsMax, waiting.signal).catch(() => undefined);
      await Promise.race([known.promise, late]);
      waiting.abort(new Fault("Cancelled", "known"));
      release();
    },
    isUndecided: () =>
      undecidedSinceMs !== undefined && world.elapsed() - undecidedSinceMs < limits.optionalKindUndecidedMsMax,
    lookSoon: () => hurry(),
    onChange: (listener) => void listeners.add(listener),
  };
}
