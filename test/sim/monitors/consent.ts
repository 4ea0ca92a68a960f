/** I-21 and I-22: the data of a namespace leaves it only by a grant of its owner, and not after the grant is revoked. */
import { withoutAlias } from "../odd.ts";
import type { CsiSent, Seen, Write } from "../record.ts";
import { isOverdue } from "./claims.ts";
import type { Monitor } from "./monitor.ts";
import { grantsOf, type Reference, referenceOf } from "./reference.ts";
import { callsIn, claimUidIn, claimWithUid, isOfStoredCalls, snapshotHandles } from "./volume.ts";

/** From which entry of the history to which one an incarnation was there. */
function lifeOf(seen: Seen, uid: string): { readonly from: number; readonly to: number } {
  const isOf = (index: number, side: "before" | "after"): boolean => {
    const entry = seen.entries[index];
    return entry?.type === "write" && entry[side]?.metadata.uid === uid;
  };
  const indexes = [...seen.entries.keys()];
  const from = indexes.find((index) => isOf(index, "after")) ?? Number.POSITIVE_INFINITY;
  const to = indexes.find((index) => isOf(index, "before") && !isOf(index, "after")) ?? Number.POSITIVE_INFINITY;
  return { from, to };
}

/** Whether, since the sender of the call asked for a grant for the last time, one was there, and was there together with the data. */
function isConsented(seen: Seen, call: CsiSent, reference: Reference): boolean {
  const sent = seen.entries.indexOf(call);
  const asked = seen.entries.findLastIndex(
    (entry, index) =>
      index < sent &&
      entry.type === "note" &&
      entry.what === "call" &&
      entry.process === call.process &&
      entry.text.startsWith("GET ") &&
      entry.text.includes("/referencegrants/"),
  );
  if (asked === -1) return false;
  const sources = seen
    .everyPast("VolumeSnapshot")
    .map(({ object }) => object)
    .filter(({ metadata }) => `${metadata.namespace}/${metadata.name}` === reference.key)
    .filter(({ metadata }) => snapshotHandles(seen, reference.key, metadata.uid).has(withoutAlias(call.source)))
    .map(({ metadata }) => lifeOf(seen, metadata.uid));
  return grantsOf(seen, reference).some(({ metadata }) => {
    const { from, to } = lifeOf(seen, metadata.uid);
    return to > asked && from < sent && sources.some((source) => source.from < to && from < source.to);
  });
}

const isCreation = ({ method }: CsiSent): boolean => method === "CreateVolume";

const noGrantNoByte: Monitor = {
  id: "I-21",
  promise:
    "CreateVolume is sent with a snapshot that is named with its namespace only if a grant of its owner was just read, or to learn the id of a volume that may exist",
  onCall(call, seen) {
    const claim = isCreation(call) ? claimWithUid(seen, claimUidIn(call.subject)) : undefined;
    const reference = claim === undefined ? undefined : referenceOf(seen, claim);
    return reference === undefined || mayExist(seen, call) || isConsented(seen, call, reference)
      ? undefined
      : `${call.subject} is asked for from ${reference.key}, and nobody has granted it`;
  },
};

/** An earlier call may have made the volume: one that was sent, or one that a predecessor has stored. */
function mayExist(seen: Seen, call: CsiSent): boolean {
  if (seen.calls.some((other) => other !== call && isCreation(other) && other.subject === call.subject)) return true;
  const stored = seen.entries.find(
    (entry) => entry.type === "write" && isOfStoredCalls(entry) && callsIn(entry.after).has(call.subject),
  );
  return stored?.type === "write" && stored.process !== call.process;
}

const revoked: Monitor = {
  id: "I-22",
  promise: "a volume that was asked for when the grant was revoked is never given to a claim",
  onWrite(write, seen) {
    if (!isNewVolume(write) || isOverdue(seen, write)) return undefined;
    const claim = claimWithUid(seen, claimUidIn(write.key));
    const reference = claim === undefined ? undefined : referenceOf(seen, claim);
    const call = seen.calls.findLast((item) => isCreation(item) && item.subject === write.key);
    return reference === undefined || call === undefined || isConsented(seen, call, reference)
      ? undefined
      : `${write.key} is given to claim ${claim?.metadata.name}, and the last call for it had no consent`;
  },
};
const isNewVolume = ({ kind, actor, before }: Write): boolean =>
  kind === "PersistentVolume" && actor === "csi-provisioner" && before === undefined;

export const consent: readonly Monitor[] = [noGrantNoByte, revoked];
