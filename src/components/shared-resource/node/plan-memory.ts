/**
 * What a volume costs in memory, and whether the node can afford it. A file takes whole pages of data, and the kernel keeps an inode, a
 * directory entry and a name for each file, link and folder; test/e2e/pods/share-memory.test.ts measures all of it in a memory cgroup.
 *
 *   one volume     at most `volumeBytes`
 *   one namespace  at most `namespaceBytes` on this node, so that no tenant takes the memory of the others
 *   the node       at most `nodeBytes`, which the container's limit is made for
 *
 * A set that an update replaces stays whole for the process that has its files open, and takes its memory until they are closed. What is
 * held so counts, and a set can be held that nobody held before it was replaced: such sets may exceed the limit of a namespace by one
 * volume, and that of the node by as many as are updated at once, which the container's limit allows for.
 *
 * Where nothing is held, what takes no more than it did is always written: a set that shrinks, and one that is put back.
 */
import type { CodedMessage } from "../../../api/plan.ts";
import { mebibyte, shareMemory } from "../../../api/share-memory.ts";
import { withCode } from "../../../errors/codes.ts";
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
/** The mount's own folder, and the folder of the set with its link; they are in `emptyVolumeBytes`. */
const emptyVolumeInodes = 3;

/** What the kernel says is in use in a tmpfs, also by files that are removed and still open. */
export interface TmpfsUse {
  readonly pages: number;
  readonly inodes: number;
}

/** What files take. */
export interface Footprint extends TmpfsUse {
  readonly indexes: number;
}

/** Names and sizes of files. */
export type FileSizes = Iterable<readonly [name: string, bytes: number]>;

export const noFiles: Footprint = { pages: 0, inodes: 0, indexes: 0 };

/** What one set of files takes, with its links. */
export function footprintOf(files: FileSizes, page: number): Footprint {
  let { pages, inodes, indexes } = noFiles;
  for (const [name, bytes] of files) {
    const own = Math.ceil(bytes / page);
    pages += own + (linkPrefix.length + name.length > linkCharsMax ? 1 : 0);
    inodes += 2;
    indexes += own > 1 ? Math.ceil(own / pagesPerIndex) : 0;
  }
  return { pages, inodes, indexes };
}

const footprintBytes = ({ pages, inodes, indexes }: Footprint, page: number): number =>
  pages * page + inodes * inodeBytes + indexes * indexBytes;

/** In whole pages; an empty volume comes on top. */
export const bytesOf = (set: Footprint, page: number): number => Math.ceil(footprintBytes(set, page) / page) * page;

export const setBytes = (files: FileSizes, page: number): number => bytesOf(footprintOf(files, page), page);

/** What is in use beside the set that is shown: sets that updates have replaced, and of which a process has files open. */
export function heldBytes(use: TmpfsUse, shown: Footprint, page: number): number {
  const pages = Math.max(0, use.pages - shown.pages);
  const inodes = Math.max(0, use.inodes - shown.inodes - emptyVolumeInodes);
  // The sizes of single files are not known: as many as can be have two pages, which takes the most.
  const indexes = Math.ceil(pages / pagesPerIndex) + Math.min(inodes, Math.floor(pages / 2));
  return footprintBytes({ pages, inodes, indexes: pages > 1 ? indexes : 0 }, page);
}

export function* sizesOf(files: FileSet): FileSizes {
  for (const [name, { length }] of files) yield [name, length];
}

/** What all volumes of a namespace, or of the node, take together, the one that is asked for included. */
export interface MemorySum {
  readonly used: number;
  /** The part of `used` that is in sets which were replaced and are open. */
  readonly held: number;
  /** What the writes of others, which have begun, take beside if the sets that they replace are open. */
  readonly pending: number;
}

export interface MemoryDemand {
  readonly namespace: string;
  /** What is counted for the set of the volume now, and what the new one will take. */
  readonly before: number;
  readonly after: number;
  /** What the shown set takes, which stays if it is open; 0: the volume is not mounted yet. */
  readonly replaced: number;
  /** What its replaced sets take beside. */
  readonly held: number;
  readonly byNamespace: MemorySum;
  readonly byNode: MemorySum;
}

/** Why the volume must stay as it is; undefined: it may be written. */
export function memoryRefusal(demand: MemoryDemand, limits: MemoryLimits): CodedMessage | undefined {
  const { namespace, before, after, held, byNamespace, byNode } = demand;
  const grown = Math.max(0, after - before);
  if ((grown > 0 || held > 0) && after + held > limits.volumeBytes)
    return withCode(
      `the volume would take ${mib(after + held)} of memory${ofWhichHeld(held)}, but a volume may take ${mib(limits.volumeBytes)}: ${closeFiles(held)}use fewer keys (each takes a page and the kernel's records, about 7 KiB) or raise --volume-memory`,
      "SNAP-711",
    );
  const inNamespace = exceeding(demand, byNamespace, limits.namespaceBytes, limits.volumeBytes);
  if (inNamespace !== undefined)
    return withCode(
      `the volumes of namespace ${namespace} would take ${mib(inNamespace)} of memory on this node${ofWhichHeld(byNamespace.held)}, but a namespace may take ${mib(limits.namespaceBytes)}: ${closeFiles(byNamespace.held)}use fewer or smaller volumes per node, or raise --namespace-memory`,
      "SNAP-712",
    );
  const onNode = exceeding(demand, byNode, limits.nodeBytes, shareMemory.updatesAtOnceMax * limits.volumeBytes);
  if (onNode !== undefined)
    return withCode(
      `the volumes of this node would take ${mib(onNode)} of memory${ofWhichHeld(byNode.held)}, but they may take ${mib(limits.nodeBytes)}: ${closeFiles(byNode.held)}move pods to other nodes, or raise --node-memory and the container's limit`,
      "SNAP-713",
    );
  return undefined;
}

/** What would be used, if that is too much. `besideBytes`: what sets that are replaced may take beyond the limit. */
function exceeding(
  { before, after, replaced }: MemoryDemand,
  { used, held, pending }: MemorySum,
  limitBytes: number,
  besideBytes: number,
): number | undefined {
  const grown = after - before;
  if (grown > 0 && used + grown > limitBytes) return used + grown;
  const atMost = used - before + replaced + after + pending;
  return replaced > 0 && held + pending > 0 && atMost > limitBytes + besideBytes ? atMost : undefined;
}

const ofWhichHeld = (held: number): string =>
  held > 0 ? `, ${mib(held)} of it in replaced sets that processes have open` : "";
const closeFiles = (held: number): string => (held > 0 ? "let the pods close what they have read, " : "");

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
