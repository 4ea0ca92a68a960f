/** Bounds of one copy of a volume. */
export const copyLimits = {
  /** Files held open at once. */
  copyHandlesMax: 200,
  /** How deep the folders may be: each level costs an open file. */
  copyDepthMax: 250,
} as const;
