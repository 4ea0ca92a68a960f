/**
 * Which sidecar cuts for a driver just now, as far as its writes have shown. A content that is made for it can be born with the
 * mark of the cut and the sidecar's name on it, which spares the sidecar a write before it asks the driver.
 *
 * Only a sidecar of ours puts its name on contents, and only one that has done so lately is named: another one, upstream's say,
 * could not take such a mark off a content that it cannot ask the driver about.
 */
import { annotations, labels } from "../../api/names.ts";
import type { VolumeSnapshotContent } from "../../api/types.ts";
import type { Millis } from "../../base/brand.ts";
import { limits } from "../../base/limits.ts";
import type { World } from "../../base/world.ts";

export interface ActiveSidecars {
  /** To be told of every change of a content. */
  see(before: VolumeSnapshotContent | undefined, after: VolumeSnapshotContent | undefined): void;
  /** The term of the sidecar that was at work for the driver, on the node if there is one for each, not long ago. */
  of(driver: string, node: string | undefined): string | undefined;
}

/** With the number of those that something is remembered of. */
export function createActiveSidecars({ elapsed }: Pick<World, "elapsed">): ActiveSidecars & { size(): number } {
  const byPlace = new Map<string, { readonly term: string; readonly atMs: Millis }>();
  const placeOf = (driver: string, node = ""): string => `${driver}\n${node}`;
  const isOver = ({ atMs }: { readonly atMs: Millis }): boolean => elapsed() - atMs >= limits.activeSidecarMsMax;
  /** The latest stands last. Nodes come and go under ever new names: who has been silent for long is forgotten. */
  const note = (place: string, term: string): void => {
    byPlace.delete(place);
    byPlace.set(place, { term, atMs: elapsed() });
    for (const [oldest, seen] of byPlace) {
      if (!isOver(seen)) break;
      byPlace.delete(oldest);
    }
  };
  return {
    see: (before, after) => {
      const term = sidecarOf(after);
      if (before === undefined || after === undefined || term === undefined) return;
      const isAtWork = sidecarOf(before) !== term || isTaken(before) !== isTaken(after);
      const place = placeOf(after.spec.driver, after.metadata.labels?.[labels.managedBy]);
      if (isAtWork) note(place, term);
    },
    of: (driver, node) => {
      const last = byPlace.get(placeOf(driver, node));
      return last === undefined || isOver(last) ? undefined : last.term;
    },
    size: () => byPlace.size,
  };
}

const sidecarOf = (content: VolumeSnapshotContent | undefined): string | undefined =>
  content?.metadata.annotations?.[annotations.snapshotterId];
/** Upstream's sidecar takes the mark off before it writes what was cut; ours after, so the name is still on. */
const isTaken = ({ status }: VolumeSnapshotContent): boolean => Boolean(status?.snapshotHandle);
