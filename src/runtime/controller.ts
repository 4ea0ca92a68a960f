/**
 * The loop of every component: a key is due → observe → plan → act → when to look again.
 *
 * Whatever one object does to us (a fault, a mistake in its plan, an action that takes minutes) stays with its key: that
 * key backs off, all others go on. Nothing runs before all stores are complete, because until then absence means nothing, unless
 * `observe` says itself what is not known yet.
 */
import type { KindName } from "../api/kinds.ts";
import type { Plan, Planner } from "../api/plan.ts";
import type { ReasonCode } from "../api/reasons.ts";
import { type KubeObject, keyOf, type ObjectOf } from "../api/types.ts";
import type { Backoff } from "../base/backoff.ts";
import type { Key, Millis } from "../base/brand.ts";
import { Fault, isFault, loggable, retryAfterMsOf } from "../base/fault.ts";
import { limits } from "../base/limits.ts";
import type { Fields, Log } from "../base/log.ts";
import { type World, whenAborted } from "../base/world.ts";
import type { AnyStores } from "../kube/stores.ts";
import { type ActionHandlers, perform } from "./action-handlers.ts";
import { createDecisions, type Waiting } from "./decisions.ts";
import { reasonOfFailure } from "./failures.ts";
import { createLogThrottle } from "./log-throttle.ts";
import type { QueueObserver, QueueStats } from "./queue.ts";
import { createQueue } from "./queue.ts";
import { createResync } from "./resync.ts";

/** Which keys want attention when an object of this kind comes, changes or goes. Read it and you know every trigger. */
export type Triggers<Stores extends AnyStores> = {
  readonly [K in keyof Stores & KindName]?: (object: ObjectOf<K>, stores: Stores) => readonly Key[];
};

/** What every plan is decided by: what the caches show, what this process remembers beside them, and the date for what is written. */
export interface DecidedBy {
  readonly facts: unknown;
  readonly memory: unknown;
  readonly nowMs: Millis;
}

export interface ControllerOptions<
  Stores extends AnyStores,
  Context,
  View extends DecidedBy,
  Action extends { readonly kind: string },
> {
  readonly name: string;
  readonly stores: Stores;
  readonly triggers: Triggers<Stores>;
  /** `observe` says what has not been listed yet, so that reconciles need not wait for all stores. */
  readonly startsUnsynced?: boolean | undefined;
  /** What a look needs beside the stores: memory, flags, the date. Made anew for each look. */
  context(): Context;
  /** One synchronous look at all stores; undefined when the object is gone. */
  observe(stores: NoInfer<Stores>, context: NoInfer<Context>, key: Key): View | undefined;
  /** Called with each view before it is planned: the only step of a reconcile that may write what the process remembers. */
  readonly remember?: ((view: View) => void) | undefined;
  readonly plan: Planner<View, Action>;
  /** Names where the object is in its life, for the log. */
  readonly phase: (view: View) => string;
  readonly handlers: ActionHandlers<Action>;
  /** Runs each reconcile, where others than the controller work on the same objects: one at a time per key. */
  readonly serial?: ((key: Key, reconcile: () => Promise<void>) => Promise<void>) | undefined;
  /** Keys worked on at once. */
  readonly workers: number;
  readonly world: World;
  readonly log: Log;
  readonly backoff: Backoff;
  readonly observer?: ControllerObserver | undefined;
  /** Every object is looked at again after this long, whatever happened; 0 or absent: never. */
  readonly resyncMs?: Millis | undefined;
  /** No run starts while this is false. */
  readonly leading?: (() => boolean) | undefined;
  readonly queueKeysMax?: number | undefined;
  /** Told of each run that failed, conflicts aside: those are no failure but news. */
  readonly onFailure?: ((key: Key, failure: Failure<Action>) => void) | undefined;
}

export interface ControllerObserver extends QueueObserver {
  /** Called once, with a function that counts on scrape which objects wait, by reason. */
  bindWaiting?(waiting: () => ReadonlyMap<ReasonCode, Waiting>): void;
}

export interface Failure<Action> {
  readonly reason: unknown;
  /** What was being done; undefined: nothing yet. */
  readonly action: Action | undefined;
}

export interface Controller {
  readonly name: string;
  /** Works until the signal aborts, then lets running work end, within a bound. */
  run(signal: AbortSignal): Promise<void>;
  /** For what no store shows: a reply has come, a file has changed. */
  trigger(key: Key, afterMs?: Millis): void;
  /** The same for all objects there are. */
  resync(): void;
  stats(): QueueStats;
}

/** After a conflict the newer version is usually already on its way to us. */
const conflictStartMs = 10;

export function createController<
  Stores extends AnyStores,
  Context,
  View extends DecidedBy,
  Action extends { readonly kind: string },
>(options: ControllerOptions<Stores, Context, View, Action>): Controller {
  const { name, stores, world, handlers } = options;
  const log = options.log.with({ controller: name });
  const { leading = () => true, serial = (_key, reconcile) => reconcile() } = options;
  const queue = createQueue({
    world,
    backoff: options.backoff,
    observer: options.observer,
    keysMax: options.queueKeysMax,
    onRoom: () => resync.resume(),
  });
  const resync = createResync(() => keysOfAll(stores, options.triggers, log), queue.add);
  const decisions = createDecisions(log, world);
  options.observer?.bindWaiting?.(decisions.waiting);
  const addOrResync = (key: Key): void => {
    if (!queue.add(key)) resync.start();
  };

  const decide = (key: Key, view: View): Plan<Action> => {
    options.remember?.(view);
    const plan = options.plan(view);
    const { actions, reason } = plan;
    decisions.note(key, { reason, actions, phase: () => options.phase(view) });
    return plan;
  };

  const runOnce = async (key: Key, signal: AbortSignal, reported: AbortSignal): Promise<void> => {
    let current: Action | undefined;
    try {
      const view = options.observe(stores, options.context(), key);
      const plan = view && decide(key, view);
      if (plan === undefined) decisions.forget(key);
      for (const action of plan?.actions ?? []) {
        current = action;
        await perform(handlers, action, signal);
      }
      decisions.succeeded(key);
      queue.forget(key);
      if (plan?.next.kind === "after") queue.add(key, plan.next.ms);
    } catch (reason) {
      // What was given up because we are told to stop has not failed.
      if (signal.aborted || (reported.aborted && isFault(reason, "Cancelled"))) return;
      putBack(key, reason, current);
    }
  };

  const putBack = (key: Key, reason: unknown, action: Action | undefined): void => {
    const isConflict = isFault(reason, "Conflict");
    const retryMs = queue.retry(key, {
      startMs: isConflict ? Math.min(conflictStartMs, options.backoff.startMs) : undefined,
      atLeastMs: isFault(reason) ? retryAfterMsOf(reason) : undefined,
      // An API server that is not there says nothing against the object, and is soon back.
      atMostMs: isFault(reason, "Unavailable") ? limits.unreachedRetryMsMax : undefined,
    });
    const fields = { key, retryMs: Math.round(retryMs) };
    const why = reasonOfFailure(reason);
    if (why !== undefined) decisions.failed(key, why, action);
    if (!isConflict) tellFailure(key, { reason, action });
    if (isConflict)
      log.debug("object changed in the meantime, reconciling again", { ...fields, reason: reason.message });
    else if (isFault(reason)) logFault(reason, fields);
    else log.error("reconcile failed with an unexpected error", { ...fields, reason });
  };

  /** Whoever is told may fail on an odd object: that stays with its key. */
  const tellFailure = (key: Key, failure: Failure<Action>): void => {
    try {
      options.onFailure?.(key, failure);
    } catch (reason) {
      log.error("a failed reconcile cannot be counted", { key, reason });
    }
  };

  // Without an API server every object that wants something fails, every few seconds, for the same reason.
  const throttled = createLogThrottle(world, limits.unreachedRetryMsMax);
  const logFault = (fault: Fault, fields: Fields): void => {
    const { code } = fault;
    const report = (more: Fields): void =>
      log.warn("reconcile failed", { ...fields, fault: code, reason: loggable(fault), ...more });
    if (code !== "Unavailable") report({});
    else throttled((unsaid) => report(unsaid === 0 ? {} : { alikeBefore: unsaid }));
  };

  /** Whoever gets busy brings the next one: there are never more workers than were needed at once, and one. */
  const startWorker = async (size: number, signal: AbortSignal, work: AbortSignal): Promise<void> => {
    let others: Promise<void> | undefined;
    for (let key = await queue.next(signal); key !== undefined; key = await queue.next(signal)) {
      if (size > 1) others ??= startWorker(size - 1, signal, work);
      // A process that was stopped past its lease must not start anything when it goes on, even before it is told.
      if (leading()) await serial(key, () => runOnce(key, work, signal));
      else queue.retry(key);
      queue.done(key);
    }
    await others;
  };

  return {
    name,
    async run(signal) {
      const work = new AbortController();
      const ends = subscribe(stores, options.triggers, addOrResync);
      try {
        if (!options.startsUnsynced && !(await untilSynced(stores, signal))) return;
        log.debug("controller started", { workers: options.workers });
        resync.start();
        const working = startWorker(options.workers, signal, work.signal);
        void everySoOften(options.resyncMs ?? 0, world, signal, resync.start);
        const late = afterAbort(signal, world, work.signal).then(() => queue.stats().runningMs.length);
        const unfinished = await Promise.race([working.then(() => 0), late]);
        if (unfinished > 0) log.warn("work did not end before the stop timeout", { unfinished });
      } finally {
        for (const end of ends) end();
        work.abort(new Fault("Cancelled", "shutting down"));
      }
    },
    trigger: (key, afterMs) => void queue.add(key, afterMs),
    resync: resync.start,
    stats: queue.stats,
  };
}

function subscribe<Stores extends AnyStores>(
  stores: Stores,
  triggers: Triggers<Stores>,
  add: (key: Key) => void,
): readonly (() => void)[] {
  return triggerRows(stores, triggers).map(({ store, keysFor }) =>
    store.onChange((before, after) => {
      // Both states matter: an object that no longer points somewhere triggers the keys that it used to trigger.
      const due = new Set(before === undefined ? undefined : keysFor(before));
      if (after !== undefined) for (const key of keysFor(after)) due.add(key);
      for (const key of due) add(key);
    }),
  );
}

interface AnyStore {
  readonly whenSynced: Promise<void>;
  all(): IterableIterator<KubeObject>;
  onChange(listener: (before: KubeObject | undefined, after: KubeObject | undefined) => void): () => void;
}

/** The table with its kinds forgotten: from here on an object is an object. */
const triggerRows = <Stores extends AnyStores>(stores: Stores, triggers: Triggers<Stores>) =>
  (Object.keys(triggers) as (keyof Stores & KindName)[]).flatMap((kind) => {
    const store = stores[kind] as unknown as AnyStore | undefined;
    const trigger = triggers[kind] as ((object: KubeObject, stores: Stores) => readonly Key[]) | undefined;
    return store === undefined || trigger === undefined
      ? []
      : [{ store, keysFor: (o: KubeObject) => trigger(o, stores) }];
  });

function* keysOfAll<Stores extends AnyStores>(stores: Stores, triggers: Triggers<Stores>, log: Log): Generator<Key> {
  /** An object so broken that it cannot be asked must not end the process, start after start. */
  const keysOrNone = (keysFor: (object: KubeObject) => readonly Key[], object: KubeObject): readonly Key[] => {
    try {
      return keysFor(object);
    } catch (reason) {
      log.error("triggers of an object cannot be read", { kind: object.kind, key: keyOf(object), reason });
      return [];
    }
  };
  for (const { store, keysFor } of triggerRows(stores, triggers))
    for (const object of store.all()) yield* keysOrNone(keysFor, object);
}

async function untilSynced(stores: AnyStores, signal: AbortSignal): Promise<boolean> {
  const aborted = whenAborted(signal);
  const synced = Promise.all(Object.values(stores).map((store) => store.whenSynced));
  await Promise.race([synced, aborted]);
  return !signal.aborted;
}

/** Resolves when the time for running work to end, counted from the abort, is over. */
async function afterAbort(signal: AbortSignal, world: World, ended: AbortSignal): Promise<void> {
  await whenAborted(signal);
  await world.sleep(limits.shutdownMsMax, ended).catch(() => undefined);
}

async function everySoOften(ms: Millis, world: World, signal: AbortSignal, work: () => void): Promise<void> {
  while (ms > 0 && !signal.aborted) {
    await world.sleep(ms, signal).then(work, () => undefined);
  }
}
