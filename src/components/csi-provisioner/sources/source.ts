/** What a volume is made from, as an object of the cluster that must stay while the volume is made. */
import { finalizers, provisioning } from "../../../api/names.ts";
import type { Key } from "../../../base/brand.ts";
import type { Intent } from "../stored-calls/intent.ts";

export interface SourceObject {
  readonly kind: "snapshot" | "claim";
  readonly key: Key;
}

/** Those of external-provisioner: if somebody swaps back, it knows how to remove them. */
export const sourceFinalizers: Readonly<Record<SourceObject["kind"], string>> = {
  snapshot: finalizers.snapshotRestoring,
  claim: provisioning.claimCloningFinalizer,
};

export const sourcesOf = (intent: Intent | undefined): readonly SourceObject[] => [
  ...(intent?.snapshotKey === undefined ? [] : [{ kind: "snapshot" as const, key: intent.snapshotKey as Key }]),
  ...(intent?.claimKey === undefined ? [] : [{ kind: "claim" as const, key: intent.claimKey as Key }]),
];

/** One key for both kinds, and for the index of claims by their source. */
export const sourceId = ({ kind, key }: SourceObject): Key => `${kind} ${key}` as Key;
export function sourceIn(id: Key): SourceObject {
  const [kind, key] = String(id).split(" ", 2);
  return { kind: kind === "snapshot" ? "snapshot" : "claim", key: key as Key };
}
