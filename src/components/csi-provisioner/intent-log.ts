/**
 * CreateVolume calls that may have been sent, stored before they are sent. Whoever leads next finds them here: it repeats the call of a
 * claim that is still there, and for a claim that is gone it learns the volume's id by the same call and deletes the volume.
 *
 * All calls share one Lease object of our own, whose annotation holds them as JSON: many claims of a burst are stored with one write
 * (group commit), and nothing stays on claims. A call is removed with the next write, or after a while; it stays until then only beside
 * its PersistentVolume, and `settle` removes it before that volume is deleted, or its PersistentVolume may go.
 */
import { draftOf } from "../../api/builders.ts";
import type { Lease } from "../../api/types.ts";
import type { Millis } from "../../base/brand.ts";
import { Fault, isFault, loggable } from "../../base/fault.ts";
import { equal, isObject } from "../../base/json.ts";
import type { Log } from "../../base/log.ts";
import { controllerUnder, type World } from "../../base/world.ts";
import type { KubeApi } from "../../kube/api.ts";
import { notLeading } from "../../runtime/action-handlers.ts";
import { type Intent, isIntent } from "./intent.ts";

export interface IntentLog {
  /** What is stored, and may have been sent. */
  get(volumeName: string): Intent | undefined;
  all(): Iterable<readonly [string, Intent]>;
  /** Whether a call of this name may have created a volume, as far as its callers know. */
  isUncertain(volumeName: string): boolean;
  /** Reads what is stored. To be called by each new leader before anything else. */
  load(signal: AbortSignal): Promise<void>;
  /** Resolves when the intent is stored. */
  add(volumeName: string, intent: Intent, signal: AbortSignal): Promise<void>;
  /** To be called when the call is sent. The function returned is to be called if the driver has refused it: then it did nothing. */
  sending(volumeName: string): () => void;
  /** Removed from the view at once, from the server with the next write. */
  remove(volumeName: string): void;
  /** Resolves when nothing is stored under this name any more. */
  settle(volumeName: string, signal: AbortSignal): Promise<void>;
  /** Removes from the server what is over, as far as that is possible soon: to be called when the process stops. */
  close(): Promise<void>;
}

export interface IntentLogOptions {
  readonly api: Pick<KubeApi, "get" | "create" | "replace">;
  readonly world: Pick<World, "sleep">;
  readonly namespace: string;
  readonly name: string;
  readonly log: Log;
  leading(): boolean;
  /** Told of the calls of another writer that were found while this one wrote. */
  adopted?(volumeName: string): void;
  readonly bytesMax?: number | undefined;
}

const annotation = "snapkeep.dev/create-volume-calls";
/** Kubernetes allows 256 KiB of annotations on one object. */
const bytesMaxDefault = 200_000;
/** Calls that are over are removed after this long if nothing else is written. */
const flushMs: Millis = 30_000;
/** How long a call waits for others to end when all together would be too large. */
const roomMsMax: Millis = 60_000;
const triesMax = 4;
/** How long the end of the process waits for its last write. */
const closeMsMax: Millis = 2_000;

interface Entry {
  readonly intent: Intent;
  readonly bytes: number;
  isStored: boolean;
  isUncertain: boolean;
}

export function createIntentLog(options: IntentLogOptions): IntentLog {
  const { api, world, namespace, name, log, leading, bytesMax = bytesMaxDefault } = options;
  const ref = { kind: "Lease", namespace, name } as const;
  const entries = new Map<string, Entry>();
  let bytes = 0;
  /** As the server has it; undefined: not yet read, or not there. */
  let lease: Lease | undefined;
  /** Names that the server may have, by our own reads and writes. */
  let stored: ReadonlySet<string> = new Set();
  let writing: Promise<void> | undefined;
  let queued: Promise<void> | undefined;
  let removal = Promise.withResolvers<void>();
  let isFlushPlanned = false;
  let running: AbortSignal | undefined;

  const put = (volumeName: string, entry: Entry): void => {
    drop(volumeName);
    entries.set(volumeName, entry);
    bytes += entry.bytes;
  };
  const drop = (volumeName: string): void => {
    bytes -= entries.get(volumeName)?.bytes ?? 0;
    if (!entries.delete(volumeName)) return;
    removal.resolve();
    removal = Promise.withResolvers();
  };

  /** What we have removed ourselves is not taken in again; what another has added is. */
  const read = async (signal: AbortSignal): Promise<readonly string[]> => {
    lease = await api.get(ref, { signal }).catch((reason: unknown) => {
      if (isFault(reason, "NotFound")) return undefined;
      throw reason;
    });
    const found = parse(lease?.metadata.annotations?.[annotation], log);
    const added = [...found].filter(([volumeName]) => !entries.has(volumeName) && !stored.has(volumeName));
    stored = new Set(found.keys());
    for (const [volumeName, intent] of added)
      put(volumeName, { intent, bytes: sizeOf(volumeName, intent), isStored: true, isUncertain: true });
    return added.map(([volumeName]) => volumeName);
  };

  const writeOnce = async (signal: AbortSignal): Promise<void> => {
    const written = [...entries];
    const text = JSON.stringify(Object.fromEntries(written.map(([volumeName, { intent }]) => [volumeName, intent])));
    const names = written.map(([volumeName]) => volumeName);
    stored = new Set([...stored, ...names]);
    const metadata = { namespace, name, annotations: { ...lease?.metadata.annotations, [annotation]: text } };
    lease =
      lease === undefined
        ? await api.create("Lease", draftOf("Lease", metadata, { spec: {} }), { signal })
        : await api.replace("Lease", { ...lease, metadata: { ...lease.metadata, ...metadata } }, { signal });
    stored = new Set(names);
    for (const [, entry] of written) entry.isStored = true;
  };

  /** Another leader may have written: what it has added is kept. */
  const write = async (signal: AbortSignal): Promise<void> => {
    for (let tries = 1; ; tries++) {
      if (!leading()) throw notLeading();
      try {
        return await writeOnce(signal);
      } catch (reason) {
        if (!isFault(reason, "Conflict", "AlreadyExists", "NotFound") || tries === triesMax) throw reason;
        for (const volumeName of await read(signal)) options.adopted?.(volumeName);
      }
    }
  };

  /** One write at a time. All who ask while one runs are served by the next. */
  const commit = (signal: AbortSignal): Promise<void> => {
    queued ??= (async () => {
      await writing?.catch(() => undefined);
      writing = queued;
      queued = undefined;
      await write(signal);
    })();
    return queued;
  };

  /** Those who wait are served by those who end. */
  const waitForRoom = async (volumeName: string, needed: number, signal: AbortSignal): Promise<void> => {
    const isFull = (): boolean => {
      const others = bytes - (entries.get(volumeName)?.bytes ?? 0);
      return others > 0 && others + needed > bytesMax;
    };
    if (!isFull()) return;
    const { own: waiting, release } = controllerUnder(signal);
    const late = world.sleep(roomMsMax, waiting.signal).then(
      () => "late" as const,
      () => "late" as const,
    );
    try {
      while (isFull())
        if ((await Promise.race([removal.promise, late])) === "late")
          throw new Fault(
            "ResourceExhausted",
            `${entries.size} CreateVolume calls without an outcome fill Lease ${namespace}/${name}: the driver has to answer some of them first`,
          );
    } finally {
      waiting.abort(new Fault("Cancelled", "there is room"));
      release();
    }
  };

  const hasRemains = (): boolean => [...stored].some((volumeName) => !entries.has(volumeName));
  const planFlush = (): void => {
    const signal = running;
    if (isFlushPlanned || signal === undefined || !hasRemains()) return;
    isFlushPlanned = true;
    const flush = async (): Promise<void> => {
      await world.sleep(flushMs, signal);
      if (hasRemains()) await commit(signal);
    };
    void flush()
      .catch((reason: unknown) =>
        log.debug("CreateVolume calls that are over stay stored", { reason: loggable(reason) }),
      )
      .finally(() => {
        isFlushPlanned = false;
        if (!signal.aborted) planFlush();
      });
  };

  return {
    get: (volumeName) => {
      const entry = entries.get(volumeName);
      return entry?.isStored === true || entry?.isUncertain === true ? entry.intent : undefined;
    },
    all: () => [...entries].map(([volumeName, { intent }]) => [volumeName, intent] as const),
    isUncertain: (volumeName) => entries.get(volumeName)?.isUncertain === true,
    load: async (signal) => {
      running = signal;
      for (const volumeName of [...entries.keys()]) drop(volumeName);
      stored = new Set();
      await read(signal);
    },
    add: async (volumeName, intent, signal) => {
      const before = entries.get(volumeName);
      if (before?.isStored === true && equal(before.intent, intent)) return;
      const size = sizeOf(volumeName, intent);
      await waitForRoom(volumeName, size, signal);
      const entry = { intent, bytes: size, isStored: false, isUncertain: before?.isUncertain === true };
      put(volumeName, entry);
      try {
        await commit(signal);
      } catch (reason) {
        // Nothing was sent, so nothing is lost; if it was stored after all, the next write removes it.
        if (entries.get(volumeName) === entry) {
          if (before === undefined) drop(volumeName);
          else put(volumeName, before);
        }
        throw reason;
      }
    },
    sending: (volumeName) => {
      const entry = entries.get(volumeName);
      if (entry === undefined || entry.isUncertain) return () => undefined;
      entry.isUncertain = true;
      return () => {
        entry.isUncertain = false;
      };
    },
    remove: (volumeName) => {
      drop(volumeName);
      planFlush();
    },
    close: async () => {
      if (!hasRemains()) return;
      const giveUp = new AbortController();
      const late = world.sleep(closeMsMax, giveUp.signal).catch(() => undefined);
      await Promise.race([commit(giveUp.signal).catch(() => undefined), late]);
      giveUp.abort(new Fault("Cancelled", "the process ends"));
    },
    settle: async (volumeName, signal) => {
      drop(volumeName);
      if (stored.has(volumeName)) await commit(signal);
    },
  };
}

const sizeOf = (volumeName: string, intent: Intent): number =>
  Buffer.byteLength(JSON.stringify(intent)) + volumeName.length + 4;

/** Whatever stands there, what can be read is used: somebody may have edited the object. */
function parse(text: string | undefined, log: Log): ReadonlyMap<string, Intent> {
  if (text === undefined) return new Map();
  const consequence = "volumes of deleted claims may be left at the driver";
  try {
    const found: unknown = JSON.parse(text);
    if (!isObject(found as never)) throw new Fault("DataLoss", "it is not an object");
    const all = Object.entries(found as Record<string, unknown>);
    const unreadable = all
      .filter(([volumeName, value]) => !isIntent(volumeName, value))
      .map(([volumeName]) => volumeName);
    if (unreadable.length > 0)
      log.error("some stored CreateVolume calls cannot be read", { annotation, volumes: unreadable, consequence });
    return new Map(all.filter((entry): entry is [string, Intent] => isIntent(...entry)));
  } catch (reason) {
    log.error("stored CreateVolume calls cannot be read", { annotation, reason: loggable(reason), consequence });
    return new Map();
  }
}
