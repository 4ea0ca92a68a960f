/** Limits of the node driver. */
export const nodeLimits = {
  /** One SubjectAccessReview per share, namespace and service account, so often. */
  reviewEveryMs: 5_000,
  /** Where a watch of roles and bindings tells of changes; it is what a change that no watch tells of takes at most. */
  reviewWatchedEveryMs: 30_000,
  /** After a change of roles or bindings: another API server may not know it yet. */
  reviewSoonMs: 15_000,
  /** Every node learns of a change at the same moment. */
  reviewSpreadMs: 1_000,
  reviewMsMax: 3_000,
  /** An older review permits no new byte. */
  reviewFreshMsMax: 10_000,
  /** A Secret is watched for so long at most before the right to read it is asked for again: its owner may have taken it back. */
  sourceWatchMsMax: 60_000,
  /** How long a publish waits for the first list of its Secret or ConfigMap. */
  sourceWaitMsMax: 3_000,
  /** Bytes of objects with their data that are kept, to be written without another read. */
  contentBytesMax: 16 * 2 ** 20,
  /** A list of one object may have 1.5 MiB, and a node has hundreds of them at its start. */
  sourceListsAtOnceMax: 8,
  /** Sets of files that are held in memory to be written, of updates and of publishes. */
  writesAtOnceMax: 4,
  /** How often it is looked for volumes that are not as they should be. */
  inspectEveryMs: 10_000,
  /** A volume that is not as it should be for so long gets an event on its pod, repeated this often. */
  troubleEventAfterMs: 10_000,
  troubleEventEveryMs: 600_000,
  /** Bytes of a key, which becomes a file name. */
  keyBytesMax: 253,
  recordBytesMax: 64 * 2 ** 10,
  /** Records that one request to the page of volumes writes into the log, and how often it does. */
  recordsLoggedMax: 2_000,
  recordsLoggedEveryMs: 600_000,
  /** Volumes that are looked at, and emptied if need be, at once. What is to be written waits elsewhere, so that it delays no emptying. */
  looksAtOnceMax: 8,
  updateRetry: { startMs: 200, maxMs: 5_000 },
} as const;
