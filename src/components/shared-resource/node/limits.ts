/** Limits of the node driver. */
export const nodeLimits = {
  /** One SubjectAccessReview per share, namespace and service account, so often. */
  reviewEveryMs: 5_000,
  reviewMsMax: 3_000,
  /** An older review permits no new byte. */
  reviewFreshMsMax: 10_000,
  /** A Secret is watched for so long at most before the right to read it is asked for again: its owner may have taken it back. */
  sourceWatchMsMax: 60_000,
  /** How long a publish waits for the first list of its Secret or ConfigMap. */
  sourceWaitMsMax: 3_000,
  /** Of one tmpfs. A Secret holds 1 MiB, but each of its keys takes a page, and a swap holds two sets. */
  volumeBytesMax: 64 * 2 ** 20,
  /** Of a key, which becomes a file name. */
  keyBytesMax: 253,
  recordBytesMax: 64 * 2 ** 10,
  /** Volumes that are updated at once. */
  updatesAtOnceMax: 8,
  updateRetry: { startMs: 200, maxMs: 5_000 },
} as const;
