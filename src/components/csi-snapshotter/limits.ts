/** Bounds of the sidecar. */
export const sidecarLimits = {
  /** Idle time of the driver before leftover being-created annotations are removed, and the maximum delay. */
  annotationIdleMs: 3_000,
  annotationDelayMsMax: 60_000,
  /** Contents for which the sidecar remembers CreateSnapshot calls and the version at which it requested removal of the annotation. */
  createAttemptsMax: 20_000,
  /** Pages of a driver that ignores the filter by snapshot id. */
  listSnapshotsPagesMax: 1_000,
} as const;
