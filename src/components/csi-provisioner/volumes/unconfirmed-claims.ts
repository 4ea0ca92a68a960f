/**
 * Claims that the server has to confirm before the first CreateVolume for them. A cache can be behind: its claim may have had a volume, which
 * the owner has retained while claim and PersistentVolume were deleted. The same call would give this volume to a new
 * PersistentVolume that nobody uses, and with the policy Delete the data would go.
 *
 * A claim whose creation was seen as it happened needs no question, unless a PersistentVolume for it has gone since. A claim that came with a list does.
 *
 * Memory: a uid for each claim in the cache at most. What is lost with it: after a restart all claims come with a list.
 */
import type { PersistentVolume, PersistentVolumeClaim } from "../../../api/types.ts";
import { isSameOrOlder } from "../../../kube/version.ts";
import { nameOfVolume, type VolumeName } from "../identity.ts";

export interface UnconfirmedClaims {
  has(uid: string): boolean;
  /** The server has it as the cache has it. */
  confirmed(uid: string): void;
}

interface Watched<T> {
  isSynced(): boolean;
  onChange(listener: (before: T | undefined, after: T | undefined) => void): unknown;
}

export function createUnconfirmedClaims(
  claims: Watched<PersistentVolumeClaim>,
  volumes: Pick<Watched<PersistentVolume>, "onChange">,
  /** The claim that a volume of this name is for. */
  claimOf: (name: VolumeName) => PersistentVolumeClaim | undefined,
): UnconfirmedClaims {
  const uids = new Set<string>();
  let newest: string | undefined;
  claims.onChange((before, after) => {
    if (after === undefined) return void uids.delete(before?.metadata.uid ?? "");
    const { uid, resourceVersion } = after.metadata;
    const isOld = newest !== undefined && isSameOrOlder(resourceVersion, newest);
    if (before === undefined && (isOld || !claims.isSynced())) uids.add(uid);
    if (!isOld) newest = resourceVersion;
  });
  volumes.onChange((before, after) => {
    const claim = before !== undefined && after === undefined ? claimOf(nameOfVolume(before)) : undefined;
    if (claim !== undefined) uids.add(claim.metadata.uid);
  });
  return { has: (uid) => uids.has(uid), confirmed: (uid) => void uids.delete(uid) };
}
