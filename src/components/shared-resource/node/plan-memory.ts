/**
 * What a volume costs in memory, and whether the node can afford it. A file takes whole pages of data, and the kernel keeps an inode, a
 * directory entry and a name for each file, link and folder; test/e2e/share-memory.test.ts measures all of it in a memory cgroup.
 *
 *   one volume     at most `volumeBytes`
 *   one namespace  at most `namespaceBytes` on this node, so that no tenant takes the memory of the others
 *   the node       at most `nodeBytes`, which the container's limit is made for
 *
 * What takes no more than it did is always written: a set that shrinks, and one that is put back.
 */
import type { CodedMessage } from "../../../api/plan.ts";
import { mebibyte } from "../../../api/share-memory.ts";
import { withCode } from "../../../rules/error-codes.ts";
import type { FileSet } from "./types.ts";

export interface MemoryLimits {
  readonly volumeBytes: number;
  readonly namespaceBytes: number;
  readonly nodeBytes: number;
}

/** Rounded up from what was measured: an inode, a directory entry and a name of 253 characters take 1,224 bytes. */
const inodeBytes = 1_536;
/** The target of a longer link takes a page of its own. */
const linkCharsMax = 127;
const linkPrefix = "..data/";
/** The kernel finds the pages of a larger file by an index, one piece for each 64 of them. */
const indexBytes = 640;
const pagesPerIndex = 64;
/** The mount, the folder of a set, and what the process keeps for a volume: its request, its permission, the watch of its source. */
export const emptyVolumeBytes = 65_536;

const fileBytes = (bytes: number, page: number): number => {
  const pages = Math.ceil(bytes / page);
  return pages * page + (pages > 1 ? Math.ceil(pages / pagesPerIndex) * indexBytes : 0) + inodeBytes;
};

const linkBytes = (name: string, page: number): number =>
  inodeBytes + (linkPrefix.length + name.length > linkCharsMax ? page : 0);

/** Names and sizes of files. */
export type FileSizes = Iterable<readonly [name: string, bytes: number]>;

/** Of one set of files with its links, in whole pages; an empty volume comes on top. */
export function setBytes(files: FileSizes, page: number): number {
  let sum = 0;
  for (const [name, bytes] of files) sum += fileBytes(bytes, page) + linkBytes(name, page);
  return Math.ceil(sum / page) * page;
}

export function* sizesOf(files: FileSet): FileSizes {
  for (const [name, { length }] of files) yield [name, length];
}

export interface MemoryDemand {
  readonly namespace: string;
  /** What the volume takes now, and will take. */
  readonly before: number;
  readonly after: number;
  /** Of all volumes, this one included. */
  readonly usedByNamespace: number;
  readonly usedByNode: number;
}

/** Why the volume must stay as it is; undefined: it may be written. */
export function memoryRefusal(demand: MemoryDemand, limits: MemoryLimits): CodedMessage | undefined {
  const { namespace, before, after, usedByNamespace, usedByNode } = demand;
  if (after <= before) return undefined;
  const grown = after - before;
  if (after > limits.volumeBytes)
    return withCode(
      `the volume would take ${mib(after)} of memory, but a volume may take ${mib(limits.volumeBytes)}: use fewer keys (each takes a page and the kernel's records, about 7 KiB) or raise --volume-memory`,
      "SNAP-711",
    );
  if (usedByNamespace + grown > limits.namespaceBytes)
    return withCode(
      `the volumes of namespace ${namespace} would take ${mib(usedByNamespace + grown)} of memory on this node, but a namespace may take ${mib(limits.namespaceBytes)}: use fewer or smaller volumes per node, or raise --namespace-memory`,
      "SNAP-712",
    );
  if (usedByNode + grown > limits.nodeBytes)
    return withCode(
      `the volumes of this node would take ${mib(usedByNode + grown)} of memory, but they may take ${mib(limits.nodeBytes)}: move pods to other nodes, or raise --node-memory and the container's limit`,
      "SNAP-713",
    );
  return undefined;
}

const mib = (bytes: number): string => `${(bytes / mebibyte).toFixed(1)} MiB`;

/**
 * What the flags say, lowered to what the container has: with a manifest that is older than the program, or a limit that was lowered,
 * the driver refuses volumes instead of being killed. `containerBytes` is undefined where the process has no limit.
 */
export function fittingLimits(
  wanted: MemoryLimits,
  { containerBytes, besideBytes }: { readonly containerBytes: number | undefined; readonly besideBytes: number },
): MemoryLimits {
  if (containerBytes === undefined) return wanted;
  const nodeBytes = Math.max(0, Math.min(wanted.nodeBytes, containerBytes - besideBytes));
  return {
    volumeBytes: Math.min(wanted.volumeBytes, nodeBytes),
    namespaceBytes: Math.min(wanted.namespaceBytes, nodeBytes),
    nodeBytes,
  };
}
