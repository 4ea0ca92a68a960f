/**
 * How much memory the volumes of this node take, and which of them wait for some.
 *
 * Memory: a few numbers per mounted volume, and the ids of those that wait. Lost with the process, and counted again from the files and
 * from what the kernel says is in use.
 */
import type { CodedMessage } from "../../../api/plan.ts";
import {
  bytesOf,
  emptyVolumeBytes,
  type Footprint,
  heldBytes,
  type MemoryDemand,
  type MemoryLimits,
  type MemorySum,
  memoryRefusal,
  noFiles,
  type TmpfsUse,
} from "./plan-memory.ts";

export interface MemoryUse {
  /** Why such a set of files must not be written now. */
  refusal(id: string, namespace: string, setBytes: number): CodedMessage | undefined;
  /** Tells when another volume needs less, and there may be room. */
  awaitRoom(id: string): void;
  /** Takes what a set of files needs, before it is written; or says why it must not be written. */
  take(id: string, namespace: string, setBytes: number): CodedMessage | undefined;
  /** A volume shows these files now, whatever they need. `use` is what the kernel says of it; undefined: as it said before. */
  settle(id: string, namespace: string, shown: Footprint, use: TmpfsUse | undefined): void;
  /** What the kernel says of a volume. */
  measured(id: string, use: TmpfsUse): void;
  /** The volume is gone. */
  release(id: string): void;
  /** Volumes that take less as soon as a process closes files, and those that wait for memory. */
  unsettled(): readonly string[];
  /** Keyed by namespace. */
  used(): ReadonlyMap<string, number>;
  total(): number;
}

interface Share {
  readonly namespace: string;
  /** Undefined: none has been written yet. */
  readonly shown: Footprint | undefined;
  /** What is shown takes with the empty volume; more while a larger set is written. */
  readonly bytes: number;
  readonly held: number;
  readonly pending: number;
}

export interface MemoryUseOptions {
  readonly limits: MemoryLimits;
  readonly pageBytes: number;
  /** There is room again: those that were refused may try, in the order in which they were. */
  onRoom(ids: readonly string[]): void;
}

const nothing: MemorySum = { used: 0, held: 0, pending: 0 };

export function createMemoryUse({ limits, pageBytes, onRoom }: MemoryUseOptions): MemoryUse {
  const shares = new Map<string, Share>();
  const byNamespace = new Map<string, MemorySum>();
  const refused = new Set<string>();
  let byNode = nothing;

  const put = (id: string, share: Share | undefined): void => {
    const before = shares.get(id);
    if (before !== undefined) add(before, -1);
    if (share === undefined) shares.delete(id);
    else {
      shares.set(id, share);
      add(share, 1);
    }
    if (refused.size > 0 && roomOf(before) > roomOf(share)) onRoom([...refused]);
  };
  const add = (share: Share, sign: 1 | -1): void => {
    byNode = sumOf(byNode, share, sign);
    const sum = sumOf(byNamespace.get(share.namespace) ?? nothing, share, sign);
    if (sum.used === 0) byNamespace.delete(share.namespace);
    else byNamespace.set(share.namespace, sum);
  };
  const emptyShare = (namespace: string): Share => ({
    namespace,
    shown: undefined,
    bytes: 0,
    held: 0,
    pending: 0,
  });

  const volumeBytes = (shown: Footprint): number => emptyVolumeBytes + bytesOf(shown, pageBytes);

  const demandOf = (id: string, namespace: string, setBytes: number): MemoryDemand => {
    const { bytes: before, shown, held, pending } = shares.get(id) ?? emptyShare(namespace);
    const withoutOwn = (sum: MemorySum): MemorySum => ({ ...sum, pending: sum.pending - pending });
    return {
      namespace,
      before,
      after: emptyVolumeBytes + setBytes,
      replaced: shown === undefined ? 0 : volumeBytes(shown),
      held,
      byNamespace: withoutOwn(byNamespace.get(namespace) ?? nothing),
      byNode: withoutOwn(byNode),
    };
  };
  const awaitRoom = (id: string): void => {
    if (shares.has(id)) refused.add(id);
  };

  return {
    refusal: (id, namespace, setBytes) => memoryRefusal(demandOf(id, namespace, setBytes), limits),
    awaitRoom,
    take(id, namespace, setBytes) {
      const demand = demandOf(id, namespace, setBytes);
      const { before, after, replaced } = demand;
      const refusal = memoryRefusal(demand, limits);
      if (refusal !== undefined) {
        awaitRoom(id);
        return refusal;
      }
      refused.delete(id);
      // Until the write has ended, the old files are there, and for longer if a process has them open.
      const bytes = Math.max(before, after);
      put(id, { ...(shares.get(id) ?? emptyShare(namespace)), bytes, pending: Math.max(0, replaced + after - bytes) });
      return undefined;
    },
    settle(id, namespace, shown, use) {
      refused.delete(id);
      const { held: heldBefore } = shares.get(id) ?? emptyShare(namespace);
      const held = use === undefined ? heldBefore : heldBytes(use, shown, pageBytes);
      put(id, { namespace, shown, bytes: volumeBytes(shown), held, pending: 0 });
    },
    measured(id, use) {
      const share = shares.get(id);
      if (share !== undefined) put(id, { ...share, held: heldBytes(use, share.shown ?? noFiles, pageBytes) });
    },
    release(id) {
      refused.delete(id);
      put(id, undefined);
    },
    unsettled: () => [...new Set([...refused, ...[...shares].flatMap(([id, { held }]) => (held > 0 ? [id] : []))])],
    used: () => new Map([...byNamespace].map(([namespace, { used }]) => [namespace, used])),
    total: () => byNode.used,
  };
}

const sumOf = (sum: MemorySum, { bytes, held, pending }: Share, sign: 1 | -1): MemorySum => ({
  used: sum.used + sign * (bytes + held),
  held: sum.held + sign * held,
  pending: sum.pending + sign * pending,
});

const roomOf = (share: Share | undefined): number =>
  share === undefined ? 0 : share.bytes + share.held + share.pending;
