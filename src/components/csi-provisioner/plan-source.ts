/** What to do about the finalizer on the source of restores and clones: it goes when no call needs the source any more. */
import { settled } from "../../api/plan.ts";
import type { PersistentVolume, PersistentVolumeClaim, VolumeSnapshot } from "../../api/types.ts";
import type { SnapshotPair } from "./observe.ts";
import { doing, nothing, type ProvisionerPlan } from "./plan-steps.ts";
import { type SourceObject, sourceFinalizers } from "./source.ts";

export interface SourceView {
  readonly source: SourceObject;
  readonly object: VolumeSnapshot | PersistentVolumeClaim;
  readonly driver: string;
  /** By a call that is stored, or about to be. */
  readonly isUsed: boolean;
  /** Of a snapshot; undefined: to be read first. */
  readonly pair: SnapshotPair | undefined;
  /** Of a claim. */
  readonly volume: PersistentVolume | undefined;
}

export function planSource(view: SourceView): ProvisionerPlan {
  const { source, object, isUsed, pair } = view;
  if (isUsed || object.metadata.finalizers?.includes(sourceFinalizers[source.kind]) !== true) return nothing;
  if (source.kind === "snapshot" && pair === undefined)
    return doing(settled, { kind: "readSnapshot", key: source.key });
  return isOfAnother(view) ? nothing : doing(settled, { kind: "unprotectSource", source });
}

/** The provisioner of another driver may have put the finalizer there. Without content or volume, nobody can use the source. */
function isOfAnother({ source, driver, pair, volume }: SourceView): boolean {
  const owner = source.kind === "snapshot" ? pair?.content?.spec.driver : volume?.spec?.csi?.driver;
  return owner !== undefined && owner !== driver;
}
