/**
 * The finalizers that keep the source of a restore or of a clone: put on before CreateVolume is sent, removed when no call needs the
 * source any more. Many restores of one snapshot share one finalizer, so each write serves all who ask meanwhile.
 *
 * In use is a source that a stored call names, or that a call in this process is about to be sent for.
 *
 * The finalizer in the cache is not enough: a request that removes it may still land (kube/fence.ts). A source counts as protected
 * when this process has put the finalizer on, or renewed it, and has sent no removal since.
 */
import { editByReplacing } from "../../../api/patches.ts";
import type { ClusterAction } from "../../../api/plan.ts";
import type { PersistentVolumeClaim, VolumeSnapshot } from "../../../api/types.ts";
import type { Key } from "../../../base/brand.ts";
import { Fault } from "../../../base/fault.ts";
import { createFence, isRenewable, renewal } from "../../../kube/fence.ts";
import { replaceNoted } from "../../../kube/fenced-writes.ts";
import type { IntentLog } from "../stored-calls/intent-log.ts";
import { type SourceObject, sourceFinalizers } from "./source.ts";

export interface SourceProtection {
  /** Counts as a use until the function returned is called. */
  hold(source: SourceObject): () => void;
  isUsed(source: SourceObject): boolean;
  /**
   * Resolves when the source has the finalizer, or cannot get it because it is gone or being deleted; a Conflict then, if it is
   * required.
   */
  protect(source: SourceObject, signal: AbortSignal, isRequired?: boolean): Promise<void>;
  /** Does nothing if the source is in use. */
  unprotect(source: SourceObject, signal: AbortSignal): Promise<void>;
}

export interface SourceProtectionOptions {
  snapshotOf(key: Key): VolumeSnapshot | undefined;
  claimOf(key: Key): PersistentVolumeClaim | undefined;
  readonly intents: Pick<IntentLog, "all">;
  replace(action: ReplaceAction, signal: AbortSignal): Promise<void>;
}

type ReplaceAction = Extract<ClusterAction, { kind: "replace" }>;

const sourcesMax = 10_000;

export function createSourceProtection(options: SourceProtectionOptions): SourceProtection {
  const uses = new Map<string, number>();
  const writing = new Map<string, Promise<void>>();
  const idOf = ({ kind, key }: SourceObject): string => `${kind} ${key}`;

  const fence = createFence(sourcesMax);
  const objectOf = ({ kind, key }: SourceObject): VolumeSnapshot | PersistentVolumeClaim | undefined =>
    kind === "snapshot" ? options.snapshotOf(key) : options.claimOf(key);
  const kindOf = ({ kind }: SourceObject) => (kind === "snapshot" ? "VolumeSnapshot" : "PersistentVolumeClaim");
  const perform = async (actions: readonly ClusterAction[], own: string, signal: AbortSignal): Promise<void> => {
    for (const action of actions as readonly ReplaceAction[])
      await replaceNoted(fence, own, action.object, async () => {
        await options.replace(action, signal);
        return action.object;
      });
  };

  const remove = async (source: SourceObject, signal: AbortSignal): Promise<void> => {
    const object = objectOf(source);
    if (object === undefined) return;
    const own = sourceFinalizers[source.kind];
    await perform(editByReplacing(kindOf(source), object, { removeFinalizers: [own] }), own, signal);
    fence.forget(object.metadata.uid);
  };
  const put = async (source: SourceObject, signal: AbortSignal): Promise<void> => {
    const object = objectOf(source);
    if (object === undefined) return;
    const own = sourceFinalizers[source.kind];
    const protection = fence.protectionBy(own, object);
    if (protection === "certain") return;
    // Kubernetes allows no new finalizers on what is being deleted.
    if (protection === "none" && object.metadata.deletionTimestamp !== undefined) return;
    const wanted =
      protection === "none"
        ? editByReplacing(kindOf(source), object, { addFinalizers: [own] })
        : renewal(kindOf(source), object, own);
    await perform(wanted, own, signal);
    // It was alone, and had to be removed first.
    if (protection === "doubtful" && !isRenewable(own, object)) return put(source, signal);
  };
  const start = (source: SourceObject, wants: "finalizer" | "no finalizer", signal: AbortSignal): Promise<void> => {
    const id = idOf(source);
    const write = wants === "finalizer" ? put : remove;
    const started = write(source, signal).finally(() => writing.delete(id));
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
    protect: async (source, signal, isRequired = false) => {
      // What runs may be the removal of the finalizer: the object is looked at again afterwards.
      await writing.get(idOf(source))?.catch(() => undefined);
      await (writing.get(idOf(source)) ?? start(source, "finalizer", signal));
      if (isRequired && objectOf(source)?.metadata.finalizers?.includes(sourceFinalizers[source.kind]) !== true)
        throw new Fault("Conflict", `${kindOf(source)} ${source.key} is gone or being deleted, and cannot be kept`);
    },
    unprotect: async (source, signal) => {
      if (!isUsed(source) && !writing.has(idOf(source))) await start(source, "no finalizer", signal);
    },
  };
}
