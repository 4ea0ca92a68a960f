/**
 * Contents created with the being-created annotation (docs/decisions/0014): all of it on the controller's side. If a sidecar is
 * known to be active for a driver, the create request of a content carries the being-created annotation with the sidecar's id,
 * which saves the sidecar a write before CreateSnapshot. Without this file everything works, with one write more.
 *
 * Only our sidecars write their id on contents and remove it, and only one that did so lately is used: upstream's sidecar could not
 * remove the annotation from a content for which it cannot call the driver. It leaves the id where it is, whatever else it writes.
 */
import { annotations, labels } from "../../api/names.ts";
import type { VolumeSnapshotContent } from "../../api/types.ts";
import type { Millis } from "../../base/brand.ts";
import type { World } from "../../base/world.ts";
import { memoryLimits } from "./limits.ts";

export interface ActiveSidecars {
  /** Called for every change of a content. */
  see(before: VolumeSnapshotContent | undefined, after: VolumeSnapshotContent | undefined): void;
  /** The id of the sidecar that was active for the driver lately; with node-local sidecars, on that node. */
  of(driver: string, node: string | undefined): string | undefined;
}

/** `size` is the number of drivers and nodes that something is remembered of. */
export function createActiveSidecars({ elapsed }: Pick<World, "elapsed">): ActiveSidecars & { size(): number } {
  const byPlace = new Map<string, { readonly id: string; readonly atMs: Millis }>();
  const placeOf = (driver: string, node = ""): string => `${driver}\n${node}`;
  const isOver = ({ atMs }: { readonly atMs: Millis }): boolean => elapsed() - atMs >= memoryLimits.activeSidecarMsMax;
  /** The latest is last. Nodes come and go under ever new names: a sidecar that was silent for long is forgotten. */
  const note = (place: string, id: string): void => {
    byPlace.delete(place);
    byPlace.set(place, { id, atMs: elapsed() });
    for (const [oldest, seen] of byPlace) {
      if (!isOver(seen)) break;
      byPlace.delete(oldest);
    }
  };
  return {
    see: (before, after) => {
      if (before === undefined || after === undefined || sidecarOf(before) === sidecarOf(after)) return;
      const id = sidecarOf(after) ?? sidecarOf(before);
      if (id !== undefined) note(placeOf(after.spec.driver, after.metadata.labels?.[labels.managedBy]), id);
    },
    of: (driver, node) => {
      const last = byPlace.get(placeOf(driver, node));
      return last === undefined || isOver(last) ? undefined : last.id;
    },
    size: () => byPlace.size,
  };
}

const sidecarOf = (content: VolumeSnapshotContent | undefined): string | undefined =>
  content?.metadata.annotations?.[annotations.snapshotterId];

/**
 * Annotations of a new content. None where CreateSnapshot needs a secret: if the secret cannot be read, the driver cannot be called,
 * and a successor of the sidecar could not know whether it ever was.
 */
export const creationAnnotations = (activeSidecar: string | undefined, needsSecret: boolean) =>
  activeSidecar === undefined || needsSecret
    ? {}
    : { [annotations.beingCreated]: "yes", [annotations.snapshotterId]: activeSidecar };
