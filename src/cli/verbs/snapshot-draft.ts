/** The VolumeSnapshot that `take` creates, and why a claim cannot be snapshotted. Pure. */
import { draftOf } from "../../api/builders.ts";
import type { CodedMessage } from "../../api/plan.ts";
import type { Draft, PersistentVolumeClaim, VolumeSnapshot } from "../../api/types.ts";
import { fix, withCode } from "../../errors/codes.ts";

export interface TakeWishes {
  readonly namespace: string;
  readonly claim: string;
  readonly name: string;
  /** Empty: the default class of the driver. */
  readonly snapshotClass: string;
}

export const snapshotDraft = ({ namespace, claim, name, snapshotClass }: TakeWishes): Draft<VolumeSnapshot> =>
  draftOf(
    "VolumeSnapshot",
    { namespace, name },
    {
      spec: {
        source: { persistentVolumeClaimName: claim },
        ...(snapshotClass === "" ? {} : { volumeSnapshotClassName: snapshotClass }),
      },
    },
  );

/** A claim without a volume yet is no reason: the snapshot waits for it. */
export function whyNotTaken(place: string, claim: PersistentVolumeClaim | undefined): CodedMessage | undefined {
  const refused = (text: string): CodedMessage => withCode(`${text}; ${fix("SNAP-872")}`, "SNAP-872");
  if (claim === undefined) return refused(`PersistentVolumeClaim ${place} does not exist`);
  if (claim.metadata.deletionTimestamp !== undefined) return refused(`PersistentVolumeClaim ${place} is being deleted`);
  return undefined;
}
