/** What to do about the finalizer on the source of restores and clones: it goes when no call needs the source any more. */
import { settled } from "../../api/plan.ts";
import type { PersistentVolume, PersistentVolumeClaim, VolumeSnapshot } from "../../api/types.ts";
import type { SnapshotPair } from "./observe.ts";
import { doing, type ProvisionerPlan, resting } from "./plan-steps.ts";
import { because, type ProvisionerReason } from "./reasons.ts";
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
  const named = `${object.kind} ${source.key}`;
  if (object.metadata.finalizers?.includes(sourceFinalizers[source.kind]) !== true)
    return resting(because("Settled", `${named} does not have our finalizer`));
  if (isUsed) return resting(keptBy(view, named));
  if (source.kind === "snapshot" && pair === undefined)
    return doing(because("Writes", `${named} is read, to see whose it is`), settled, {
      kind: "readSnapshot",
      key: source.key,
    });
  return isOfAnother(view)
    ? resting(because("NotOurs", `${named} is of another driver, whose provisioner takes its finalizer off`))
    : doing(because("Released", `${named}: no call needs it any more, and our finalizer is taken off`), settled, {
        kind: "unprotectSource",
        source,
      });
}

/** Whoever deletes it waits for the volume that is made from it. */
function keptBy({ object }: SourceView, named: string): ProvisionerReason {
  const { deletionTimestamp } = object.metadata;
  const says = `${named} is kept by our finalizer, because a volume is being made from it`;
  return deletionTimestamp === undefined
    ? because("Settled", says)
    : because("InUseByClaim", says, [], Date.parse(deletionTimestamp));
}

/** The provisioner of another driver may have put the finalizer there. Without content or volume, nobody can use the source. */
function isOfAnother({ source, driver, pair, volume }: SourceView): boolean {
  const owner = source.kind === "snapshot" ? pair?.content?.spec.driver : volume?.spec?.csi?.driver;
  return owner !== undefined && owner !== driver;
}
