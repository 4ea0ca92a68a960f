/** Bounds of what the snapshot-controller remembers. memory.ts says what is lost beyond them. */
export const memoryLimits = {
  /** Snapshots that were deleted before their user saw that they were taken. */
  deletedSnapshotsMax: 10_000,
  /** Restoring claims, of all snapshots together, that left the cache: a list may have missed them. */
  missingClaimsMax: 10_000,
  /** Deleted snapshots for which the claims of their namespaces were listed. */
  readClaimsMax: 10_000,
  /** Unready snapshots that left the cache: a list may have missed them. */
  missingSnapshotsMax: 10_000,
  /** Claims to which the controller added its finalizer, or sent the request that removes it. */
  protectedClaimsMax: 10_000,
  /** How long after its last write a sidecar counts as active. */
  activeSidecarMsMax: 60_000,
} as const;
