/**
 * CreateVolume calls that may have been sent, stored before they are sent. Whoever leads next finds them here: it repeats the call of a
 * claim that is still there, and for a claim that is gone it learns the volume's id by the same call and deletes the volume.
 *
 * All calls share one Lease object of our own, whose annotation holds them as JSON: many claims of a burst are stored with one write
 * (group commit), and nothing stays on claims. A call is removed with the next write, within a second; it stays until then only beside
 * its PersistentVolume, and `settle` removes it before that volume is deleted, or its PersistentVolume may go.
 *
 * Before the first request that stores the PersistentVolume of a call, `publishing` notes that beside the call: without the note, whoever
 * finds the call knows that there never was one, and may delete the volume of a claim that is gone.
 */
import type { Lease } from "../../../api/types.ts";
import type { Millis } from "../../../base/brand.ts";
import { Fault, isFault, loggable } from "../../../base/fault.ts";
import { equal } from "../../../base/json.ts";
import type { Log } from "../../../base/log.ts";
import { controllerUnder, type World } from "../../../base/world.ts";
import type { KubeApi } from "../../../kube/api.ts";
import { writeUntilCarriedOut } from "../../../kube/fenced-writes.ts";
import type { LeaseTerm } from "../../../kube/lease-record.ts";
import { createLimiter } from "../../../kube/limiter.ts";
import { notLeading } from "../../../runtime/action-handlers.ts";
import type { VolumeName } from "../identity.ts";
import type { Intent } from "./intent.ts";
import { callsIn, newLease, nextLease } from "./intent-lease.ts";
import { bytesOfCall, type IntentParts, partsOf, textOf } from "./intent-text.ts";

export interface IntentLog {
  /** What is stored, and may have been sent. */
  get(volumeName: VolumeName): Intent | undefined;
  all(): Iterable<readonly [VolumeName, Intent]>;
  /** Whether a call of this name may have created a volume, as far as its callers know. */
  isUncertain(volumeName: VolumeName): boolean;
  /** The call is as another process has stored it, or somebody else has written it: none of this process has made it from its claim. */
  isAdopted(volumeName: VolumeName): boolean;
  /** Another process has noted that it was about to store the PersistentVolume. */
  mayBePublished(volumeName: VolumeName): boolean;
  /** Reads what is stored, and keeps late writes of predecessors out. To be called by each new leader before anything else. */
  load(signal: AbortSignal): Promise<void>;
  /** Resolves when the intent is stored. What was made from the claim by this process is not adopted any more. */
  add(volumeName: VolumeName, intent: Intent, signal: AbortSignal, from?: "claim"): Promise<void>;
  /** Resolves when it is stored that a PersistentVolume with the volume of this id may have been; without an id, that none was. */
  publishing(volumeName: VolumeName, id: string | undefined, signal: AbortSignal): Promise<void>;
  /**
   * To be called when the call is sent. The function returned is to be called if the driver has refused it: then it did nothing. A
   * refusal may say that a volume of this name is there (`exists`): as many as you like say nothing else.
   */
  sending(volumeName: VolumeName): (says?: "exists") => void;
  /** Removed from the view at once, from the server with the next write. */
  remove(volumeName: VolumeName): void;
  /** Resolves when nothing is stored under this name any more. */
  settle(volumeName: VolumeName, signal: AbortSignal): Promise<void>;
  /** Removes from the server what is over, as far as that is possible soon: to be called when the process stops. */
  close(): Promise<void>;
}

export interface IntentLogOptions {
  readonly api: Pick<KubeApi, "get" | "create" | "replace">;
  readonly world: Pick<World, "sleep" | "elapsed">;
  readonly namespace: string;
  readonly name: string;
  readonly log: Log;
  /** The name of the volume that is made for a claim. */
  nameFor(claimUid: string): VolumeName;
  leading(): boolean;
  /** The term of the election, which another provisioner may take part in; absent: there is none. */
  readonly term?: (() => LeaseTerm | undefined) | undefined;
  /** Told of the calls of another writer that were found while this one wrote. */
  adopted?(volumeName: VolumeName): void;
  readonly bytesMax?: number | undefined;
}

/** Kubernetes allows 256 KiB of annotations on one object. */
const bytesMaxDefault = 200_000;
/** The rest is for notes, which must never wait for others to end. */
const bytesMaxWithNotes = 240_000;
/** An id that is longer is not noted: people can find the volume by its name. */
const idBytesMax = 256;
/** Calls that are over are removed after this long if nothing else is written. */
const flushMs: Millis = 1_000;
/** How long a call waits for others to end when all together would be too large. */
const roomMsMax: Millis = 60_000;
/**
 * How often a burst writes. On an idle machine a write is over before the next claim comes, and each would cost a write of its own; a
 * fifth of a second costs a burst nothing, because kube-controller-manager binds its claims one after the other.
 */
const writeRate = { qps: 5, burst: 5 };
/** How long the end of the process waits for its last write. */
const closeMsMax: Millis = 2_000;

const cannotWrite =
  "CreateVolume calls cannot be stored, so no volume is created: let the role create Leases, and update and get this one";

interface Entry {
  readonly intent: Intent;
  readonly parts: IntentParts;
  /** perhaps: a write that was to replace it has no outcome, so the server has this one or the other. */
  stored: "no" | "perhaps" | "yes";
  isUncertain: boolean;
  isAdopted: boolean;
  readonly mayBePublished: boolean;
  /** In a row, of the last calls. */
  refusals: number;
}
/**
 * A driver answers an earlier call under the same name that is still running with ABORTED, and a volume that exists with its id. So
 * many refusals in a row say that there is none, whatever has happened before.
 */
const refusalsMax = 5;

export function createIntentLog(options: IntentLogOptions): IntentLog {
  const { api, world, namespace, name, log, nameFor, leading, bytesMax = bytesMaxDefault } = options;
  const ref = { kind: "Lease", namespace, name } as const;
  const entries = new Map<VolumeName, Entry>();
  /** How many calls have each shape: it is written once. */
  const shapes = new Map<string, number>();
  let bytes = 0;
  /** As the server has it; undefined: not yet read, or not there. */
  let lease: Lease | undefined;
  /** Names that the server may have, by our own reads and writes. */
  let stored: ReadonlySet<VolumeName> = new Set();
  let writing: Promise<void> | undefined;
  let queued: Promise<void> | undefined;
  let removal = Promise.withResolvers<void>();
  let isFlushPlanned = false;
  let running: AbortSignal | undefined;

  const count = (volumeName: VolumeName, { parts }: Entry, by: 1 | -1): void => {
    const before = shapes.get(parts.shape) ?? 0;
    if (before + by === 0) shapes.delete(parts.shape);
    else shapes.set(parts.shape, before + by);
    const isAlone = by === 1 ? before === 0 : before === 1;
    bytes += by * (bytesOfCall(volumeName, parts) + (isAlone ? Buffer.byteLength(parts.shape) : 0));
  };
  const put = (volumeName: VolumeName, entry: Entry): void => {
    drop(volumeName);
    entries.set(volumeName, entry);
    count(volumeName, entry, 1);
  };
  const drop = (volumeName: VolumeName): void => {
    const entry = entries.get(volumeName);
    if (entry === undefined) return;
    entries.delete(volumeName);
    count(volumeName, entry, -1);
    removal.resolve();
    removal = Promise.withResolvers();
  };

  /** What we have removed ourselves is not taken in again; what another has added is. */
  const read = async (signal: AbortSignal): Promise<readonly VolumeName[]> => {
    lease = await api.get(ref, { signal }).catch((reason: unknown) => {
      if (isFault(reason, "NotFound")) return undefined;
      throw reason;
    });
    const found = callsIn(lease, nameFor, log, options.term?.());
    const added = [...found].filter(([volumeName]) => !entries.has(volumeName) && !stored.has(volumeName));
    stored = new Set(found.keys());
    for (const [volumeName, intent] of added)
      put(volumeName, {
        intent,
        parts: partsOf(intent),
        stored: "yes",
        isUncertain: true,
        isAdopted: true,
        mayBePublished: intent.published !== undefined,
        refusals: 0,
      });
    return added.map(([volumeName]) => volumeName);
  };

  const writeOnce = async (signal: AbortSignal): Promise<void> => {
    const written = [...entries];
    const text = textOf(
      written.map(([volumeName, { parts }]) => [volumeName, parts] as const),
      options.term?.(),
    );
    const names = written.map(([volumeName]) => volumeName);
    stored = new Set([...stored, ...names]);
    lease =
      lease === undefined
        ? await api.create("Lease", newLease({ namespace, name }, text), { signal })
        : await api.replace("Lease", nextLease(lease, text), { signal });
    stored = new Set(names);
    for (const [, entry] of written) entry.stored = "yes";
  };

  /** Another leader may have written: what it has added is kept. */
  const write = (signal: AbortSignal): Promise<void> =>
    writeUntilCarriedOut(
      async () => {
        if (!leading()) throw notLeading();
        await writeOnce(signal);
      },
      async () => {
        for (const volumeName of await read(signal)) options.adopted?.(volumeName);
      },
    );

  /**
   * A request of the predecessor may still land: it would remove calls that are repeated here (see `nextLease`), or store one that is
   * never sent, also where there is nothing yet.
   */
  const fence = (signal: AbortSignal): Promise<void> =>
    writeUntilCarriedOut(
      async () => {
        try {
          await writeOnce(signal);
        } catch (reason) {
          // Without the right to write nothing is created; what is stored already can be deleted all the same.
          if (entries.size > 0 || !isFault(reason, "PermissionDenied")) throw reason;
          log.warn(cannotWrite, { lease: ref });
        }
      },
      () => reload(signal),
    );
  const reload = async (signal: AbortSignal): Promise<void> => {
    for (const volumeName of [...entries.keys()]) drop(volumeName);
    stored = new Set();
    await read(signal);
  };

  const turn = createLimiter(writeRate, world);
  /** One write at a time. All who ask while one runs, or waits for its turn, are served by the next. */
  const commit = (signal: AbortSignal): Promise<void> => {
    queued ??= (async () => {
      await writing?.catch(() => undefined);
      await turn(signal).catch(() => undefined);
      writing = queued;
      queued = undefined;
      await write(signal);
    })();
    return queued;
  };

  /** Those who wait are served by those who end. */
  const waitForRoom = async (volumeName: VolumeName, parts: IntentParts, signal: AbortSignal): Promise<void> => {
    const isFull = (): boolean => {
      const hasOthers = entries.size > (entries.has(volumeName) ? 1 : 0);
      const shape = shapes.has(parts.shape) ? 0 : Buffer.byteLength(parts.shape);
      return hasOthers && bytes + bytesOfCall(volumeName, parts) + shape > bytesMax;
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

  /** An id where there is room for it. */
  const notable = (id: string): string => {
    const length = Buffer.byteLength(JSON.stringify(id));
    return length <= idBytesMax && bytes + length <= bytesMaxWithNotes ? id : "";
  };
  const isStored = (volumeName: VolumeName, intent: Intent): boolean => {
    const entry = entries.get(volumeName);
    return entry?.stored === "yes" && equal(entry.intent, intent);
  };
  const store = async (volumeName: VolumeName, intent: Intent, signal: AbortSignal): Promise<void> => {
    const before = entries.get(volumeName);
    const { isUncertain = false, mayBePublished = false } = before ?? {};
    const parts = partsOf(intent);
    const entry: Entry = {
      intent,
      parts,
      stored: "no",
      isUncertain,
      isAdopted: before?.isAdopted === true && before.parts.shape === parts.shape,
      mayBePublished,
      refusals: 0,
    };
    put(volumeName, entry);
    try {
      await commit(signal);
    } catch (reason) {
      // Nothing was sent, so nothing is lost; if it was stored after all, the next write removes it, and there will be one.
      if (entries.get(volumeName) === entry) {
        if (before === undefined) drop(volumeName);
        else {
          if (before.stored === "yes") before.stored = "perhaps";
          put(volumeName, before);
        }
      }
      planFlush();
      throw reason;
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
      return entry !== undefined && (entry.stored !== "no" || entry.isUncertain) ? entry.intent : undefined;
    },
    all: () => [...entries].map(([volumeName, { intent }]) => [volumeName, intent] as const),
    isUncertain: (volumeName) => entries.get(volumeName)?.isUncertain === true,
    isAdopted: (volumeName) => entries.get(volumeName)?.isAdopted === true,
    mayBePublished: (volumeName) => entries.get(volumeName)?.mayBePublished === true,
    load: async (signal) => {
      running = signal;
      await reload(signal);
      await fence(signal);
    },
    add: async (volumeName, intent, signal, from) => {
      if (!isStored(volumeName, intent)) {
        await waitForRoom(volumeName, partsOf(intent), signal);
        await store(volumeName, intent, signal);
      }
      const entry = entries.get(volumeName);
      if (from === "claim" && entry !== undefined) entry.isAdopted = false;
    },
    publishing: async (volumeName, id, signal) => {
      const known = entries.get(volumeName)?.intent;
      if (known === undefined) throw new Fault("Conflict", `the call of ${volumeName} has been settled meanwhile`);
      const { published: _, ...rest } = known;
      const intent = id === undefined ? rest : { ...rest, published: notable(id) };
      if (!isStored(volumeName, intent)) await store(volumeName, intent, signal);
    },
    sending: (volumeName) => {
      const entry = entries.get(volumeName);
      if (entry === undefined) return () => undefined;
      const { isUncertain, refusals } = entry;
      entry.isUncertain = true;
      entry.refusals = 0;
      return (says) => {
        entry.refusals = says === "exists" ? refusals : refusals + 1;
        entry.isUncertain = isUncertain && entry.refusals < refusalsMax;
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
