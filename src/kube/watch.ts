/** List-and-watch: everything there is, then every change, for ever. Ends only when its signal aborts, or by what `take` throws. */
import type { KindName } from "../api/kinds.ts";
import { backoffMs } from "../base/backoff.ts";
import type { Millis } from "../base/brand.ts";
import { Fault, loggable, retryAfterMsOf } from "../base/fault.ts";
import { limits } from "../base/limits.ts";
import type { Log } from "../base/log.ts";
import { controllerUnder, type World, withDeadline } from "../base/world.ts";
import type { KubeApi, WatchEvent } from "./api.ts";
import type { Seen } from "./store.ts";
import { isNewer } from "./version.ts";
import type { WatchEnd, WatchPosition } from "./watch-state.ts";
import { atFirst, positionAfter } from "./watch-state.ts";

/** Which part of the cluster. */
export interface WatchScope {
  /** The version of the kind's group, where it is not the one that the client has chosen. */
  readonly version?: string | undefined;
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

export interface WatchOptions {
  readonly world: World;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly scope?: WatchScope | undefined;
  /** A stream that brings neither an event nor a bookmark for so long is dead, whatever TCP believes. */
  readonly silenceMsMax?: Millis | undefined;
  /**
   * A watch is opened again after so long at the latest. The server asks for the permission only then, so that a right which is taken back
   * ends no open watch.
   */
  readonly openMsMax?: Millis | undefined;
}

const retry = { startMs: limits.watchRetryMsMin, maxMs: limits.watchRetryMsMax };

/** Called with what was seen, in order. */
export type Take<K extends KindName> = (seen: Seen<K>) => void;

export async function listAndWatch<K extends KindName>(
  api: KubeApi,
  kind: K,
  options: WatchOptions,
  take: Take<K>,
): Promise<void> {
  const handOver = handingTo(take);
  const { world, signal } = options;
  const log = options.log.with({ kind });
  let position = atFirst;
  let newest = "";
  while (!signal.aborted) {
    const end: WatchEnd =
      position.state.kind === "listing"
        ? await listOnce(api, kind, options, newest, handOver)
        : await watchUntilEnd(api, kind, options, position.state.version, handOver);
    if (signal.aborted) return;
    position = positionAfter(position, end);
    if (end.kind !== "unlisted") newest = end.version;
    const delayMs = delayOf(position, end, world);
    report(log, end, position, delayMs);
    if (delayMs > 0) await world.sleep(delayMs, signal).catch(() => undefined);
  }
}

function delayOf({ wait, failures }: WatchPosition, end: WatchEnd, world: World): Millis {
  if (!wait) return 0;
  const asked = "fault" in end ? retryAfterMsOf(end.fault) : 0;
  return Math.max(asked, backoffMs(retry, failures, world.random()));
}

function report(log: Log, end: WatchEnd, { failures, state }: WatchPosition, delayMs: Millis): void {
  const fields = { end: end.kind, failures, next: state.kind, delayMs: Math.round(delayMs) };
  if (!("fault" in end)) log.debug("watch request ended", fields);
  else if (failures === 0)
    log.debug("watch interrupted", { ...fields, code: end.fault.code, reason: loggable(end.fault) });
  else log.warn("watch failed, trying again", { ...fields, code: end.fault.code, reason: loggable(end.fault) });
}

/** The newest list, never a cached one: after a reconnect to a lagging API server a cache could lead us back in time. */
async function listOnce<K extends KindName>(
  api: KubeApi,
  kind: K,
  { world, signal, scope }: WatchOptions,
  newest: string,
  handOver: Take<K>,
): Promise<WatchEnd> {
  try {
    const { objects, resourceVersion } = await withDeadline(world, signal, limits.listMsMax, (signal) =>
      api.list(kind, { ...scope, signal }),
    );
    const rewound = isNewer(newest, resourceVersion) ? { rewound: true as const } : {};
    handOver({ kind: "all", objects, resourceVersion, ...rewound });
    return { kind: "listed", version: resourceVersion };
  } catch (reason) {
    if (reason instanceof NotTaken) throw reason.cause;
    return { kind: "unlisted", fault: Fault.from(reason) };
  }
}

async function watchUntilEnd<K extends KindName>(
  api: KubeApi,
  kind: K,
  { world, signal, scope, silenceMsMax = limits.watchSilenceMsMax, openMsMax }: WatchOptions,
  since: string,
  handOver: Take<K>,
): Promise<WatchEnd> {
  const watchdog = createWatchdog(world, silenceMsMax, signal);
  const startedAt = world.elapsed();
  let version = since;
  let heard = false;
  const lively = (): boolean => heard || world.elapsed() - startedAt >= limits.watchLivelyMsMin;
  try {
    const query = { ...scope, resourceVersion: since, timeoutSeconds: drawTimeoutSeconds(world, openMsMax) };
    await api.watch(kind, { ...query, signal: watchdog.signal }, (event) => {
      const came = versionOf(event);
      if (isNewer(version, came)) throw wentBack(kind, version, came);
      version = came;
      heard = true;
      if (event.kind !== "bookmark") handOver(event);
      watchdog.rearm();
    });
    return { kind: "closed", version, lively: lively(), heard };
  } catch (reason) {
    if (reason instanceof NotTaken) throw reason.cause;
    if (watchdog.barked()) return { kind: "silent", version, heard };
    return { kind: "broken", version, lively: lively(), fault: Fault.from(reason) };
  } finally {
    watchdog.end();
  }
}

/** An exception of the event callback goes to its caller: it is not a fault of the stream. */
class NotTaken extends Error {}

const handingTo =
  <K extends KindName>(take: Take<K>): Take<K> =>
  (seen) => {
    try {
      take(seen);
    } catch (reason) {
      throw new NotTaken("not taken in", { cause: reason });
    }
  };

const versionOf = (event: WatchEvent<KindName>): string =>
  event.kind === "bookmark" ? event.resourceVersion : event.object.metadata.resourceVersion;

/** A cluster restored from a backup counts from an earlier version on; what we hold is then no past of it. */
const wentBack = (kind: KindName, from: string, to: string): Fault =>
  new Fault("Expired", `the watch of ${kind} objects went back from version ${from} to ${to}`);

/** Drawn by lot, so that the watches of many clients do not end and begin together. */
function drawTimeoutSeconds(world: World, openMsMax: Millis | undefined): number {
  const [min, max] = openMsMax === undefined ? [limits.watchMsMin, limits.watchMsMax] : [openMsMax / 2, openMsMax];
  return Math.floor((min + world.random() * (max - min)) / 1_000);
}

/** Aborts the request when nothing was heard for `silenceMsMax`, counted from when we had taken in the last news. */
function createWatchdog(world: World, silenceMsMax: Millis, parent: AbortSignal) {
  const { own, release } = controllerUnder(parent);
  let heardAt = world.elapsed();
  let barked = false;
  const look = (): void => {
    const silentMs = world.elapsed() - heardAt;
    if (silentMs < silenceMsMax) {
      stopTimer = world.after(silenceMsMax - silentMs, look);
      return;
    }
    barked = true;
    own.abort(new Fault("DeadlineExceeded", `neither event nor bookmark for ${silenceMsMax} ms`));
  };
  let stopTimer = world.after(silenceMsMax, look);
  return {
    signal: own.signal,
    barked: () => barked,
    rearm: () => {
      heardAt = world.elapsed();
    },
    end: () => {
      stopTimer();
      release();
      own.abort("the watch has ended");
    },
  };
}
