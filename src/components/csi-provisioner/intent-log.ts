/**
 * CreateVolume calls that may have been sent, stored before they are sent. Whoever leads next finds them here: it repeats the call of a
 * claim that is still there, and for a claim that is gone it learns the volume's id by the same call and deletes the volume.
 *
 * All calls share one Lease object of our own, whose annotation holds them as JSON: many claims of a burst are stored with one write
 * (group commit), and nothing stays on claims. A call is removed with the next write; it stays until then only beside its
 * PersistentVolume, and `settle` removes it before that volume is deleted.
 */
import { draftOf } from "../../api/builders.ts";
import type { Lease } from "../../api/types.ts";
import { Fault, isFault, loggable } from "../../base/fault.ts";
import { isObject } from "../../base/json.ts";
import type { Log } from "../../base/log.ts";
import type { KubeApi } from "../../kube/api.ts";
import type { CreateVolumeCall } from "./call.ts";
import type { SecretsByRole } from "./parameters.ts";

export interface Intent {
  readonly claim: { readonly namespace: string; readonly name: string; readonly uid: string };
  readonly call: CreateVolumeCall;
  /** The rest of what the PersistentVolume is made of, as the class had it when the call was prepared. */
  readonly secrets: SecretsByRole;
  readonly reclaimPolicy?: string;
  readonly mountOptions?: readonly string[];
  /** "namespace/name" of the VolumeSnapshot that must stay until the volume is stored. */
  readonly snapshotKey?: string;
}

export interface IntentLog {
  get(volumeName: string): Intent | undefined;
  all(): Iterable<readonly [string, Intent]>;
  /** Reads what is stored. To be called by each new leader before anything else. */
  load(signal: AbortSignal): Promise<void>;
  /** Resolves when the intent is stored. */
  add(volumeName: string, intent: Intent, signal: AbortSignal): Promise<void>;
  /** Removed from the view at once, from the server with the next write. */
  remove(volumeName: string): void;
  /** Resolves when nothing is stored under this name any more. */
  settle(volumeName: string, signal: AbortSignal): Promise<void>;
}

export interface IntentLogOptions {
  readonly api: Pick<KubeApi, "get" | "create" | "replace">;
  readonly namespace: string;
  readonly name: string;
  readonly log: Log;
  readonly bytesMax?: number | undefined;
}

const annotation = "snapkeep.dev/create-volume-calls";
/** Kubernetes allows 256 KiB of annotations on one object. */
const bytesMaxDefault = 200_000;

export function createIntentLog(options: IntentLogOptions): IntentLog {
  const { api, namespace, name, log, bytesMax = bytesMaxDefault } = options;
  const ref = { kind: "Lease", namespace, name } as const;
  const intents = new Map<string, Intent>();
  /** As the server has it; undefined: not yet read, or not there. */
  let lease: Lease | undefined;
  let stored: ReadonlySet<string> = new Set();
  let writing: Promise<void> | undefined;
  /** Adopted while waiting for a write: the next write stores them all. */
  let isDirty = false;

  const read = async (signal: AbortSignal): Promise<void> => {
    lease = await api.get(ref, { signal }).catch((reason: unknown) => {
      if (isFault(reason, "NotFound")) return undefined;
      throw reason;
    });
    const found = parse(lease?.metadata.annotations?.[annotation], log);
    stored = new Set(found.keys());
    for (const [volumeName, intent] of found) if (!intents.has(volumeName)) intents.set(volumeName, intent);
  };

  const write = async (signal: AbortSignal): Promise<void> => {
    isDirty = false;
    const names = new Set(intents.keys());
    const text = JSON.stringify(Object.fromEntries(intents));
    const metadata = { namespace, name, annotations: { [annotation]: text } };
    try {
      lease =
        lease === undefined
          ? await api.create("Lease", draftOf("Lease", metadata, { spec: {} }), { signal })
          : await api.replace(
              "Lease",
              {
                ...lease,
                metadata: {
                  ...lease.metadata,
                  annotations: { ...lease.metadata.annotations, ...metadata.annotations },
                },
              },
              { signal },
            );
      stored = names;
    } catch (reason) {
      // Another leader may have written: its intents are adopted, and the caller tries again.
      if (isFault(reason, "Conflict", "AlreadyExists", "NotFound")) await read(signal);
      throw reason;
    }
  };

  /** One write at a time. All who wait when it starts are served by it. */
  const commit = async (signal: AbortSignal): Promise<void> => {
    isDirty = true;
    while (isDirty) {
      writing ??= write(signal).finally(() => {
        writing = undefined;
      });
      await writing;
    }
  };

  return {
    get: (volumeName) => intents.get(volumeName),
    all: () => intents,
    load: async (signal) => {
      intents.clear();
      await read(signal);
    },
    add: async (volumeName, intent, signal) => {
      if (stored.has(volumeName) && intents.has(volumeName)) return;
      if (sizeOf(intents) + sizeOf([[volumeName, intent]]) > bytesMax)
        throw new Fault(
          "ResourceExhausted",
          `${intents.size} CreateVolume calls without an outcome fill Lease ${namespace}/${name}: the driver has to answer some of them first`,
        );
      intents.set(volumeName, intent);
      await commit(signal);
    },
    remove: (volumeName) => void intents.delete(volumeName),
    settle: async (volumeName, signal) => {
      intents.delete(volumeName);
      if (stored.has(volumeName)) await commit(signal);
    },
  };
}

const sizeOf = (entries: Iterable<readonly [string, Intent]>): number => {
  let bytes = 0;
  for (const [volumeName, intent] of entries)
    bytes += Buffer.byteLength(JSON.stringify(intent)) + volumeName.length + 4;
  return bytes;
};

/** Whatever stands there, what can be read is used: somebody may have edited the object. */
function parse(text: string | undefined, log: Log): ReadonlyMap<string, Intent> {
  if (text === undefined) return new Map();
  try {
    const found: unknown = JSON.parse(text);
    if (!isObject(found as never)) throw new Fault("DataLoss", "it is not an object");
    return new Map(Object.entries(found as Record<string, Intent>).filter(([, intent]) => isIntent(intent)));
  } catch (reason) {
    log.error("stored CreateVolume calls cannot be read; volumes of deleted claims may be left at the driver", {
      annotation,
      reason: loggable(reason),
    });
    return new Map();
  }
}

const isIntent = (value: Partial<Intent> | null): boolean =>
  typeof value?.call?.name === "string" && typeof value.claim?.uid === "string";
