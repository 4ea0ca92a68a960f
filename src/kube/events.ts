/**
 * Events for people: `kubectl describe` shows them. A courtesy, so recording one returns at once and cannot fail, whatever
 * the API server does; a bounded number waits to be sent, one after the other, in the background, where it takes a small
 * part of one connection and the less of it the longer the server takes to answer.
 */
import type { EventText } from "../api/plan.ts";
import type { Draft, Event, KubeObject } from "../api/types.ts";
import { backoffMs } from "../base/backoff.ts";
import type { Millis } from "../base/brand.ts";
import { Fault, isFault, isFinal, retryAfterMsOf } from "../base/fault.ts";
import { limits } from "../base/limits.ts";
import type { Log } from "../base/log.ts";
import { createLru } from "../base/lru.ts";
import { rfc3339 } from "../base/time.ts";
import type { World } from "../base/world.ts";
import { shortened } from "../errors/codes.ts";
import type { KubeApi } from "./api.ts";
import { createEventSeries } from "./event-series.ts";

export interface EventRecorderOptions {
  readonly api: KubeApi;
  readonly world: World;
  readonly log: Log;
  /** Who says so: "snapshot-controller". */
  readonly component: string;
  readonly host?: string | undefined;
  /** Whether the component is in the middle of work that events would slow down. Good news then waits for a while; warnings do not. */
  readonly isBusy?: (() => boolean) | undefined;
}

export interface EventRecorder {
  record(about: KubeObject, event: EventText): void;
  /** Sends what waits, without lingering, and gives up after `ms`; what is recorded later is dropped. Never rejects. */
  close(ms: Millis): Promise<void>;
  waiting(): number;
}

/** Happened `count` times since it was last sent. */
interface Waiting {
  readonly about: KubeObject;
  readonly event: EventText;
  readonly name: string;
  readonly firstAt: Millis;
  /** When the series began, on the monotonic clock. */
  readonly sinceMs: Millis;
  message: string;
  lastAt: Millis;
  count: number;
}

/** What the API server holds of a series. */
interface Sent {
  readonly namespace: string;
  readonly name: string;
  readonly count: number;
}

const retry = { startMs: limits.eventRetryMsMin, maxMs: limits.eventRetryMsMax };

export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  const { world, log } = options;
  const series = createEventSeries();
  const sent = createLru<Sent>(limits.eventSeriesMax);
  const queue = new Map<string, Waiting>();
  const hurry = new AbortController();
  const over = new AbortController();
  let draining: Promise<void> | undefined;

  const enqueue = (about: KubeObject, event: EventText): void => {
    const now = world.now();
    const { key, message } = series.seriesOf(about, event, world.elapsed());
    const waiting = queue.get(key);
    if (waiting !== undefined) {
      waiting.count += 1;
      waiting.lastAt = now;
      waiting.message = message;
      return;
    }
    if (!series.allows(about, world.elapsed())) {
      log.debug("event dropped, too many about this object", { key });
      return;
    }
    dropOldest();
    const times = { firstAt: now, lastAt: now, sinceMs: world.elapsed() };
    queue.set(key, { about, event, message, name: nameFor(about, world), ...times, count: 1 });
    draining ??= drain();
  };

  const dropOldest = (): void => {
    for (const oldest of queue.keys()) {
      if (queue.size < limits.eventsWaitingMax) return;
      queue.delete(oldest);
      log.debug("event dropped, queue is full", { key: oldest });
    }
  };

  const nextDue = (): readonly [string, Waiting] | undefined => {
    const isBusy = !hurry.signal.aborted && options.isBusy?.() === true;
    const isDue = ({ event, sinceMs }: Waiting): boolean =>
      !isBusy || event.type === "Warning" || world.elapsed() - sinceMs >= limits.eventBusyMsMax;
    for (const entry of queue) if (isDue(entry[1])) return entry;
    return undefined;
  };

  /** Waits a moment first: what happens again meanwhile is counted instead of sent. */
  const drain = async (): Promise<void> => {
    await world.sleep(limits.eventLingerMs, hurry.signal).catch(() => undefined);
    while (queue.size > 0 && !over.signal.aborted) {
      const next = nextDue();
      if (next === undefined) {
        await world.sleep(limits.eventBusyLookMs, hurry.signal).catch(() => undefined);
        continue;
      }
      const [key, waiting] = next;
      queue.delete(key);
      const startedAt = world.elapsed();
      await send(key, waiting);
      await breathe(world.elapsed() - startedAt);
    }
    draining = undefined; // In the same step in which the queue was seen empty: whoever comes next starts anew.
  };

  /** A server that is busy with the work itself answers late, and is then left alone for longer. */
  const breathe = async (tookMs: Millis): Promise<void> => {
    const ms = Math.min(tookMs * limits.eventPausesPerAnswer, limits.eventPauseMsMax);
    if (ms > 0) await world.sleep(ms, hurry.signal).catch(() => undefined);
  };

  const send = async (key: string, waiting: Waiting): Promise<void> => {
    for (let tries = 0; tries < limits.eventTriesMax && !over.signal.aborted; tries++) {
      try {
        sent.set(key, await write(options, waiting, sent.get(key), over.signal));
        return;
      } catch (reason) {
        const fault = Fault.from(reason);
        const expired = isFault(fault, "NotFound") && sent.get(key) !== undefined;
        if (expired) sent.delete(key);
        else if (isFinal(fault)) break;
        else await pause(fault, tries);
      }
    }
    log.debug("event not sent", { key });
  };

  const pause = (fault: Fault, tries: number): Promise<void> => {
    const ms = Math.max(retryAfterMsOf(fault), backoffMs(retry, tries, world.random()));
    return world.sleep(ms, over.signal).catch(() => undefined);
  };

  return {
    record: (about, event) => {
      try {
        if (!hurry.signal.aborted) enqueue(about, event);
      } catch (reason) {
        log.debug("event cannot be recorded", { reason });
      }
    },
    close: async (ms) => {
      hurry.abort();
      const deadline = world.sleep(ms, over.signal).then(
        () => over.abort(new Fault("DeadlineExceeded", `events not sent within ${ms} ms`)),
        () => undefined,
      );
      await Promise.race([draining, deadline]);
      over.abort();
    },
    waiting: () => queue.size,
  };
}

/** One request: a new event, or a higher count on the one there is. */
async function write(
  { api, component, host = "" }: EventRecorderOptions,
  { about, event, message, name, firstAt, lastAt, count }: Waiting,
  known: Sent | undefined,
  signal: AbortSignal,
): Promise<Sent> {
  const reported = { message: shortened(message, limits.eventMessageCharsMax), lastTimestamp: rfc3339(lastAt) };
  if (known !== undefined) {
    const sum = known.count + count;
    const { namespace, name } = known;
    await api.patch(
      { kind: "Event", namespace, name },
      { type: "merge", body: { ...reported, count: sum } },
      { signal },
    );
    return { ...known, count: sum };
  }
  const { uid, resourceVersion, namespace } = about.metadata;
  const draft: Draft<Event> = {
    apiVersion: "v1",
    kind: "Event",
    metadata: { namespace: namespace ?? "default", name },
    involvedObject: {
      apiVersion: about.apiVersion,
      kind: about.kind,
      name: about.metadata.name,
      uid,
      resourceVersion,
      ...(namespace === undefined ? {} : { namespace }),
    },
    type: event.type,
    reason: event.reason,
    ...reported,
    firstTimestamp: rfc3339(firstAt),
    count,
    source: { component, ...(host === "" ? {} : { host }) },
    reportingComponent: component,
    reportingInstance: host,
  };
  await api.create("Event", draft, { signal }).catch((reason: unknown) => {
    // The name is drawn once per event: it exists because an earlier try did succeed and its reply was lost.
    if (!isFault(reason, "AlreadyExists")) throw reason;
  });
  return { namespace: namespace ?? "default", name, count };
}

/** The object's name, then the time and five lots in hexadecimal digits: unique, and valid even where the name is as long as names may be. */
function nameFor(about: KubeObject, world: World): string {
  const lots = Math.floor(world.random() * 16 ** 5);
  const suffix = Math.floor(world.now()).toString(16) + lots.toString(16).padStart(5, "0");
  const stem = about.metadata.name.slice(0, limits.nameCharsMax - suffix.length - 1).replace(/[^a-z0-9]+$/, "");
  return `${stem}.${suffix}`;
}
