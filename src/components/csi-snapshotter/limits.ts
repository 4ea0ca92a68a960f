/** Bounds of the sidecar. */
export const sidecarLimits = {
  /** Contents for which the sidecar remembers CreateSnapshot calls and the version at which it requested removal of the annotation. */
  createAttemptsMax: 20_000,
  /** Pages of a driver that ignores the filter by snapshot id. */
  listSnapshotsPagesMax: 1_000,
} as const;
