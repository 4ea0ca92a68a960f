/** Shares that are read because what they refer to is gone: once per share after each observation of a source, however many volumes there are. */
import { isFault, loggable } from "../../../base/fault.ts";
import type { Log } from "../../../base/log.ts";
import { type SourceState, shareKey, type VolumeSpec } from "./types.ts";

export interface ShareReadsOptions {
  /** Reads the share from the API server into the cache. */
  readShare(spec: Pick<VolumeSpec, "shareKind" | "share">): Promise<void>;
  readonly log: Log;
}

/** Memory: the reads after an observation, which go with it. */
export function createShareReads({ readShare, log }: ShareReadsOptions) {
  const readsSince = new WeakMap<SourceState, Map<string, { readonly ended: Promise<void>; isDone: boolean }>>();
  const start = async (spec: VolumeSpec): Promise<void> => {
    try {
      await readShare(spec);
    } catch (reason) {
      // The deletion was seen, and this read only orders two watches: where it is refused, there is nothing to wait for.
      if (!isFault(reason, "PermissionDenied")) throw reason;
      log.warn("share cannot be read; the deletion of its source counts", {
        share: shareKey(spec),
        reason: loggable(reason),
        remedy: "let the service account of the driver get shares",
      });
    }
  };
  return {
    isRead: (state: SourceState, spec: VolumeSpec): boolean =>
      readsSince.get(state)?.get(shareKey(spec))?.isDone === true,
    read(state: SourceState, spec: VolumeSpec): Promise<void> {
      const reads = readsSince.get(state) ?? new Map();
      readsSince.set(state, reads);
      const key = shareKey(spec);
      const known = reads.get(key);
      if (known !== undefined) return known.ended;
      const read = { ended: start(spec), isDone: false };
      reads.set(key, read);
      const end = (isDone: boolean) => (): void => {
        read.isDone = isDone;
        if (!isDone) reads.delete(key);
      };
      read.ended.then(end(true), end(false));
      return read.ended;
    },
  };
}
