/** For what no cache shows: a reply has come, something has been read, a call has ended. Then a volume or a source is looked at again. */
import type { Millis } from "../../base/brand.ts";
import type { Controller } from "../../runtime/controller.ts";
import type { ClaimIndex } from "./claims/claim-index.ts";
import { type VolumeName, volumeKey } from "./identity.ts";
import { type SourceObject, sourceId } from "./sources/source.ts";

type Queue = Pick<Controller, "trigger">;

export interface LookAgain {
  volume(name: VolumeName, afterMs?: Millis): void;
  stored(name: VolumeName): void;
  /** Both: a reply tells whose it is, but not in which queue that is. */
  either(name: VolumeName): void;
  /** It has been read: all who wait for it go on. */
  source(source: SourceObject): void;
  /** They may be free. A finalizer stays for a moment: in a burst the next restore of the same snapshot is not far. */
  freed(sources: readonly SourceObject[]): void;
  /** A VolumeAttributesClass was read. */
  attributes(className: string): void;
}

const lingerMs: Millis = 2_000;

export function createLookAgain(
  claims: Pick<ClaimIndex, "keysFrom" | "keysWithAttributes">,
  queues: () => { readonly volumes: Queue; readonly stored: Queue; readonly sources: Queue },
): LookAgain {
  const volume = (name: VolumeName, afterMs?: Millis): void => queues().volumes.trigger(volumeKey(name), afterMs);
  const stored = (name: VolumeName): void => queues().stored.trigger(volumeKey(name));
  return {
    volume,
    stored,
    either: (name) => {
      volume(name);
      stored(name);
    },
    source: (source) => {
      queues().sources.trigger(sourceId(source));
      for (const key of claims.keysFrom(source)) queues().volumes.trigger(key);
    },
    freed: (sources) => {
      for (const source of sources) queues().sources.trigger(sourceId(source), lingerMs);
    },
    attributes: (className) => {
      for (const key of claims.keysWithAttributes(className)) queues().volumes.trigger(key);
    },
  };
}
