/**
 * How much memory the volumes of this node take, and which of them wait for some.
 *
 * Memory: a number per mounted volume, and the ids of those that wait. Lost with the process, and counted again from the files.
 */
import type { CodedMessage } from "../../../api/plan.ts";
import { emptyVolumeBytes, type MemoryLimits, memoryRefusal } from "./plan-memory.ts";

export interface MemoryUse {
  /** Takes what a set of files needs, before it is written; or says why it must not be written. */
  take(id: string, namespace: string, setBytes: number): CodedMessage | undefined;
  /** A volume has these files now, whatever they need. */
  settle(id: string, namespace: string, setBytes: number): void;
  /** The volume is gone. */
  release(id: string): void;
  /** By namespace. */
  used(): ReadonlyMap<string, number>;
  total(): number;
}

interface Share {
  readonly namespace: string;
  readonly bytes: number;
}

export interface MemoryUseOptions {
  readonly limits: MemoryLimits;
  /** There is room again: those that were refused may try, in the order in which they were. */
  onRoom(ids: readonly string[]): void;
}

export function createMemoryUse({ limits, onRoom }: MemoryUseOptions): MemoryUse {
  const shares = new Map<string, Share>();
  const byNamespace = new Map<string, number>();
  const refused = new Set<string>();
  let total = 0;

  const put = (id: string, share: Share | undefined): void => {
    const before = shares.get(id);
    if (before !== undefined) add(before.namespace, -before.bytes);
    if (share === undefined) shares.delete(id);
    else {
      shares.set(id, share);
      add(share.namespace, share.bytes);
    }
    if (refused.size > 0 && (before?.bytes ?? 0) > (share?.bytes ?? 0)) onRoom([...refused]);
  };
  const add = (namespace: string, bytes: number): void => {
    total += bytes;
    const sum = (byNamespace.get(namespace) ?? 0) + bytes;
    if (sum === 0) byNamespace.delete(namespace);
    else byNamespace.set(namespace, sum);
  };

  return {
    take(id, namespace, setBytes) {
      const before = shares.get(id)?.bytes ?? 0;
      const after = emptyVolumeBytes + setBytes;
      const usedByNamespace = byNamespace.get(namespace) ?? 0;
      const refusal = memoryRefusal({ namespace, before, after, usedByNamespace, usedByNode: total }, limits);
      if (refusal !== undefined) {
        if (shares.has(id)) refused.add(id);
        return refusal;
      }
      refused.delete(id);
      // Until the write has ended, the old files may still be there.
      if (after > before) put(id, { namespace, bytes: after });
      return undefined;
    },
    settle(id, namespace, setBytes) {
      refused.delete(id);
      put(id, { namespace, bytes: emptyVolumeBytes + setBytes });
    },
    release(id) {
      refused.delete(id);
      put(id, undefined);
    },
    used: () => byNamespace,
    total: () => total,
  };
}
