/**
 * The Secrets and ConfigMaps that were seen last, with their data. All of them would take more memory than the volumes: what is not here
 * is read from the API server again before it is written.
 *
 * Memory: objects of `contentBytesMax` in total, in base64 as they came. Lost with the process, and read again.
 */
import type { ObjectOf } from "../../../api/types.ts";
import { nodeLimits } from "./limits.ts";
import type { Source } from "./types.ts";

type SourceObject = ObjectOf<Source["kind"]>;

export function createContents(bytesMax: number = nodeLimits.contentBytesMax) {
  const kept = new Map<string, { readonly object: SourceObject; readonly bytes: number }>();
  let total = 0;
  const drop = (key: string): void => {
    total -= kept.get(key)?.bytes ?? 0;
    kept.delete(key);
  };
  return {
    put(key: string, object: SourceObject): void {
      drop(key);
      const bytes = sizeOf(object);
      if (bytes > bytesMax) return;
      kept.set(key, { object, bytes });
      total += bytes;
      for (const oldest of kept.keys()) {
        if (total <= bytesMax) return;
        drop(oldest);
      }
    },
    get: (key: string): SourceObject | undefined => kept.get(key)?.object,
    drop,
    bytes: (): number => total,
  };
}

/** The cost of the two texts of a key and its value, and of their places in the object. */
const entryBytes = 128;

function sizeOf(object: SourceObject): number {
  const all = [object.data ?? {}, object.kind === "ConfigMap" ? (object.binaryData ?? {}) : {}];
  let sum = 0;
  for (const texts of all) for (const key in texts) sum += entryBytes + key.length + (texts[key]?.length ?? 0);
  return sum;
}
