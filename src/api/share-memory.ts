/**
 * The memory of the node driver of shares. A tmpfs counts for the container that has written it, so the container's limit must hold the
 * volumes of all tenants and the process. The flags' defaults and the limit in the manifests are both from here.
 */
export const mebibyte = 2 ** 20;

export const shareMemory = {
  /** What one volume may take: its files, and what the kernel keeps about each of them. */
  volumeMiB: 64,
  /** All volumes of the pods of one namespace, on one node. */
  namespaceMiB: 128,
  /** All volumes of a node. */
  nodeMiB: 512,
  /** Volumes that are updated at once: each has two sets of files for a moment. */
  updatesAtOnceMax: 2,
  /** The process itself. */
  processMiB: 384,
} as const;

/** Beside the sets of all volumes: the second sets of those that are updated, and the process. */
export const besideVolumesMiB = (volumeMiB: number): number =>
  shareMemory.updatesAtOnceMax * volumeMiB + shareMemory.processMiB;

export const containerMiB: number = shareMemory.nodeMiB + besideVolumesMiB(shareMemory.volumeMiB);
