/**
 * What a stored CreateVolume call is good for when another process has stored it. Whoever may update the Lease may have written it, so it
 * is judged like a stranger's: nothing of it reaches a PersistentVolume, a Secret or a DeleteVolume call.
 *
 * Where the claim is there, claim, class and source say what is asked for, as they are now; of the stored call only the place of the
 * volume is taken over, within what they allow. Where it is gone, the call is repeated under the name that is made from the claim's uid,
 * only to learn what is to be deleted, and with a secret only if a StorageClass names it for such a call.
 */
import type { StorageClass } from "../../../api/types.ts";
import { equal } from "../../../base/json.ts";
import { classParameters, metadataKeys, type Parameters, secretOf } from "../claims/parameters.ts";
import type { CreateVolumeCall } from "../driver/call.ts";
import type { Intent } from "./intent.ts";

/** What may be sent to learn the id of the volume of a call whose claim cannot be asked. */
export function learnable(stored: Intent, classes: readonly StorageClass[]): Intent {
  const { undoes: _, secrets: _secrets, ...rest } = stored;
  const { secret, ...call } = rest.call;
  const isNamed = secret !== undefined && classes.some((storageClass) => namesSecret(storageClass, stored));
  return { ...rest, secrets: {}, call: isNamed ? { ...call, secret } : call };
}

/** A secret goes only where the class sends it: parameters may say which server the driver talks to. */
function namesSecret(storageClass: StorageClass, { claim, call }: Intent): boolean {
  const names = { volumeName: call.name, claimName: claim.name, claimNamespace: claim.namespace };
  const found = secretOf("provisioner", storageClass.parameters ?? {}, names);
  return (
    found.kind === "secret" &&
    equal(found.secret, call.secret) &&
    equal(classParameters(storageClass).passed, withoutMetadata(call.parameters))
  );
}

const metadata: ReadonlySet<string> = new Set(Object.values(metadataKeys));
const withoutMetadata = (parameters: Parameters): Parameters =>
  Object.fromEntries(Object.entries(parameters).filter(([key]) => !metadata.has(key)));

export interface Judged {
  /** What is to be sent. */
  readonly intent: Intent;
  /** What the stored call says otherwise, in words. */
  readonly differences: readonly string[];
}

/** A stored call beside the one that its claim asks for now. */
export function judge(stored: Intent, wanted: Intent): Judged {
  const place = isWithin(stored.call.topology, wanted.call.topology) ? stored.call.topology : wanted.call.topology;
  const call = place === undefined ? wanted.call : { ...wanted.call, topology: place };
  // A request of the other process may still store the PersistentVolume.
  const noted = stored.published === undefined ? {} : { published: stored.published };
  return { intent: { ...wanted, call, ...noted }, differences: differencesIn(stored, { ...wanted, call }) };
}

type Topology = CreateVolumeCall["topology"];
/** Nodes come and go, and a call is best repeated as it was: every place that it names is allowed, and the first choice is the same. */
function isWithin(stored: Topology, wanted: Topology): boolean {
  if (stored === undefined || wanted === undefined) return stored === wanted;
  const isAllowed = (place: Parameters): boolean => wanted.requisite.some((other) => equal(place, other));
  return [...stored.requisite, ...stored.preferred].every(isAllowed) && equal(stored.preferred[0], wanted.preferred[0]);
}

const compared: Readonly<Record<string, (intent: Intent) => unknown>> = {
  claim: ({ claim }) => claim,
  source: ({ call, snapshotKey, claimKey }) => [call.source, snapshotKey, claimKey, call.consent?.uid],
  size: ({ call }) => call.bytes,
  "access modes, file system or mount options": ({ call, mountOptions }) => [call.capabilities, mountOptions],
  parameters: ({ call }) => call.parameters,
  secrets: ({ call, secrets }) => [call.secret, secrets],
  "reclaim policy": ({ reclaimPolicy }) => reclaimPolicy,
  VolumeAttributesClass: ({ call, attributesClass }) => [call.mutableParameters, attributesClass],
  topology: ({ call }) => call.topology,
  "volume to delete": ({ undoes }) => undoes,
};

const differencesIn = (stored: Intent, wanted: Intent): readonly string[] =>
  Object.entries(compared)
    .filter(([, read]) => !equal(read(stored), read(wanted)))
    .map(([name]) => name);
