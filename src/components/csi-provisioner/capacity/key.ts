/** A topology segment and a class: what one CSIStorageCapacity is about. */
import type { CSIStorageCapacity } from "../../../api/types.ts";
import type { Key } from "../../../base/brand.ts";
import type { Segments } from "../driver/topology.ts";

/** The same text for the same labels, in whatever order they were read. */
export const segmentText = (segments: Segments): string =>
  JSON.stringify(Object.entries(segments).toSorted(([a], [b]) => (a < b ? -1 : 1)));

/** Names of classes have no spaces. */
export const capacityKey = (className: string, segment: string): Key => `${className} ${segment}` as Key;

export function classAndSegmentOf(key: Key): { readonly className: string; readonly segment: string } {
  const text = String(key);
  const at = text.indexOf(" ");
  return { className: text.slice(0, at), segment: text.slice(at + 1) };
}

/** Nobody publishes expressions, or no topology at all: the text of such an object is that of no segment. */
export function keyOfCapacity({ storageClassName, nodeTopology }: CSIStorageCapacity): Key {
  const isSegment = nodeTopology !== undefined && (nodeTopology.matchExpressions ?? []).length === 0;
  return capacityKey(
    storageClassName,
    isSegment ? segmentText(nodeTopology.matchLabels ?? {}) : `? ${JSON.stringify(nodeTopology ?? null)}`,
  );
}
