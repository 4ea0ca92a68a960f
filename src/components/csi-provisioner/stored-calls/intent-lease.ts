/** The Lease that holds the stored CreateVolume calls, as JSON in an annotation: how it is read, and what is written into it. */
import { draftOf } from "../../../api/builders.ts";
import type { Draft, Lease } from "../../../api/types.ts";
import { loggable } from "../../../base/fault.ts";
import type { Log } from "../../../base/log.ts";
import type { LeaseTerm } from "../../../kube/lease-record.ts";
import type { VolumeName } from "../identity.ts";
import type { Intent } from "./intent.ts";
import { intentsIn } from "./intent-text.ts";

const annotation = "snapkeep.dev/create-volume-calls";
/** The API keeps the count in 32 bits. */
const transitionsMax = 2 ** 31 - 1;

export const newLease = (place: { readonly namespace: string; readonly name: string }, text: string): Draft<Lease> =>
  draftOf("Lease", { ...place, annotations: { [annotation]: text } }, { spec: {} });

/**
 * A write that is believed lost may still be on its way, and names the version that it was decided for. The API server gives no new
 * version to an object that a write leaves as it was, so a later write that stores the same calls as before would not keep the lost
 * one out. Hence every write counts: none leaves the object as it was.
 */
export function nextLease(lease: Lease, text: string): Lease {
  const { leaseTransitions: before = 0 } = lease.spec ?? {};
  const annotations = { ...lease.metadata.annotations, [annotation]: text };
  return {
    ...lease,
    metadata: { ...lease.metadata, annotations },
    spec: { ...lease.spec, leaseTransitions: before < transitionsMax ? before + 1 : 0 },
  };
}

/** What cannot be read is reported, and the rest is used. */
export function callsIn(
  lease: Lease | undefined,
  nameFor: (claimUid: string) => VolumeName,
  log: Log,
  term: LeaseTerm | undefined,
): ReadonlyMap<VolumeName, Intent> {
  const text = lease?.metadata.annotations?.[annotation];
  if (text === undefined) return new Map();
  const consequence = "volumes of deleted claims may be left at the driver";
  try {
    const { intents, unreadable } = intentsIn(text, nameFor, term);
    if (unreadable.length > 0)
      log.error("some stored CreateVolume calls cannot be read, or have not the name of their claim's volume", {
        annotation,
        volumes: unreadable,
        consequence,
      });
    return intents;
  } catch (reason) {
    log.error("stored CreateVolume calls cannot be read", { annotation, reason: loggable(reason), consequence });
    return new Map();
  }
}
