/** The pair that brings a snapshot without content back into the cluster: pre-provisioned, and kept whatever becomes of it. Pure. */
import { createHash } from "node:crypto";
import { draftOf } from "../../api/builders.ts";
import type { Draft, VolumeSnapshot, VolumeSnapshotContent } from "../../api/types.ts";

export interface AdoptedPair {
  readonly content: Draft<VolumeSnapshotContent>;
  readonly snapshot: Draft<VolumeSnapshot>;
}

/** Handles are no names; the same handle gets the same name, so that adopting twice is harmless. */
const nameFor = (handle: string): string => `adopted-${createHash("sha256").update(handle).digest("hex").slice(0, 16)}`;

export function adoptedPair(driver: string, handle: string, namespace: string): AdoptedPair {
  const name = nameFor(handle);
  return {
    content: draftOf(
      "VolumeSnapshotContent",
      { name },
      {
        spec: {
          driver,
          deletionPolicy: "Retain",
          source: { snapshotHandle: handle },
          volumeSnapshotRef: { namespace, name },
        },
      },
    ),
    snapshot: draftOf("VolumeSnapshot", { namespace, name }, { spec: { source: { volumeSnapshotContentName: name } } }),
  };
}
