/** Shares that are read because what they refer to is gone: once per share after each observation of a source, however many volumes there are. */
import { isFault, loggable } from "../../../base/fault.ts";
import type { Log } from "../../../base/log.ts";
import type { SourceState } from "./sources.ts";
import { shareKey, type VolumeSpec } from "./types.ts";

export interface ShareReadsOptions {
  /** Reads the share from the API server into the cache. */
  readShare(spec: Pick<VolumeSpec, "shareKind" | "share">): Promise<void>;
  readonly log: Log;
}

/** Memory: the reads after an observation, which go with it. */
export function createShareReads({ readShare, log }: ShareReadsOptions) {
  const readsSince = new WeakMap<SourceState, Map<string, Promise<void>>>();
  return (state: SourceState, spec: VolumeSpec): Promise<void> => {
    const reads = readsSince.get(state) ?? new Map<string, Promise<void>>();
    readsSince.set(state, reads);
    const read =
      reads.get(shareKey(spec)) ??
      readShare(spec).catch((reason: unknown) => {
        // The deletion was seen, and this read only orders two watches: where it is refused, there is nothing to wait for.
        if (isFault(reason, "PermissionDenied"))
          return log.warn("share cannot be read; the deletion of its source counts", {
            share: shareKey(spec),
            reason: loggable(reason),
            remedy: "let the service account of the driver get shares",
          });
        reads.delete(shareKey(spec));
        throw reason;
      });
    reads.set(shareKey(spec), read);
    return read;
  };
}
