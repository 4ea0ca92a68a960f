/**
 * The finalizers that keep the source of a restore or of a clone: put on before CreateVolume is sent, removed when no call needs the
 * source any more. Many restores of one snapshot share one finalizer, so each write serves all who ask meanwhile.
 *
 * In use is a source that a stored call names, or that a call in this process is about to be sent for.
 */
import { editByReplacing } from "../../api/patches.ts";
import type { ClusterAction } from "../../api/plan.ts";
import type { PersistentVolumeClaim, VolumeSnapshot } from "../../api/types.ts";
import type { Key } from "../../base/brand.ts";
import type { IntentLog } from "./intent-log.ts";
import { type SourceObject, sourceFinalizers } from "./source.ts";

export interface SourceProtection {
  /** Counts as a use until the function returned is called. */
  hold(source: SourceObject): () => void;
  isUsed(source: SourceObject): boolean;
  /** Resolves when the source has the finalizer, or cannot get it because it is gone or being deleted. */
  protect(source: SourceObject, signal: AbortSignal): Promise<void>;
  /** Does nothing if the source is in use. */
  unprotect(source: SourceObject, signal: AbortSignal): Promise<void>;
}

export interface SourceProtectionOptions {
  snapshotOf(key: Key): VolumeSnapshot | undefined;
  claimOf(key: Key): PersistentVolumeClaim | undefined;
  readonly intents: Pick<IntentLog, "all">;
  replace(action: Extract<ClusterAction, { kind: "replace" }>, signal: AbortSignal): Promise<void>;
}

export function createSourceProtection(options: SourceProtectionOptions): SourceProtection {
  const uses = new Map<string, number>();
  const writing = new Map<string, Promise<void>>();
  const idOf = ({ kind, key }: SourceObject): string => `${kind} ${key}`;

  const write = async (
    source: SourceObject,
    wants: "finalizer" | "no finalizer",
    signal: AbortSignal,
  ): Promise<void> => {
    const { kind, key } = source;
    const object = kind === "snapshot" ? options.snapshotOf(key) : options.claimOf(key);
    // Kubernetes allows no new finalizers on what is being deleted.
    if (object === undefined || (wants === "finalizer" && object.metadata.deletionTimestamp !== undefined)) return;
    const names = [sourceFinalizers[kind]];
    const edits = wants === "finalizer" ? { addFinalizers: names } : { removeFinalizers: names };
    const objectKind = kind === "snapshot" ? "VolumeSnapshot" : "PersistentVolumeClaim";
    for (const action of editByReplacing(objectKind, object, edits))
      await options.replace(action as Extract<ClusterAction, { kind: "replace" }>, signal);
  };
  const start = (source: SourceObject, wants: "finalizer" | "no finalizer", signal: AbortSignal): Promise<void> => {
    const id = idOf(source);
    const started = write(source, wants, signal).finally(() => writing.delete(id));
    writing.set(id, started);
    return started;
  };
  const isUsed = (source: SourceObject): boolean => {
    if ((uses.get(idOf(source)) ?? 0) > 0) return true;
    const field = source.kind === "snapshot" ? "snapshotKey" : "claimKey";
    for (const [, intent] of options.intents.all()) if (intent[field] === source.key) return true;
    return false;
  };

  return {
    hold: (source) => {
      const id = idOf(source);
      uses.set(id, (uses.get(id) ?? 0) + 1);
      return () => {
        const left = (uses.get(id) ?? 1) - 1;
        if (left === 0) uses.delete(id);
        else uses.set(id, left);
      };
    },
    isUsed,
    protect: async (source, signal) => {
      // What runs may be the removal of the finalizer: the object is looked at again afterwards.
      await writing.get(idOf(source))?.catch(() => undefined);
      await (writing.get(idOf(source)) ?? start(source, "finalizer", signal));
    },
    unprotect: async (source, signal) => {
      if (!isUsed(source) && !writing.has(idOf(source))) await start(source, "no finalizer", signal);
    },
  };
}
