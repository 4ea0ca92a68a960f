/** A CreateVolume call that may have been sent, as it is stored: all that is needed to repeat it, or to undo it, without its claim. */
import { isObject } from "../../../base/json.ts";
import type { SecretRef } from "../../../rules/secret-template.ts";
import type { SecretsByRole } from "../claims/parameters.ts";
import type { CreateVolumeCall } from "../driver/call.ts";

export interface Intent {
  readonly claim: { readonly namespace: string; readonly name: string; readonly uid: string };
  readonly call: CreateVolumeCall;
  /** The rest of what the PersistentVolume is made of, as the class had it when the call was prepared. */
  readonly secrets: SecretsByRole;
  readonly reclaimPolicy?: string;
  readonly mountOptions?: readonly string[];
  /** The VolumeAttributesClass that the call was made with. */
  readonly attributesClass?: string;
  /** "namespace/name" of the VolumeSnapshot, or of the claim, that must stay until the volume is stored. */
  readonly snapshotKey?: string;
  readonly claimKey?: string;
  /** The id of the volume, which nobody may use and the driver has not deleted: it is all that is left to do. */
  readonly undoes?: string;
  /**
   * A PersistentVolume may have been stored with the volume of this id; empty: of an unknown id. Without it, none was: a process notes
   * this before it sends the first request that stores one.
   */
  readonly published?: string;
}

/**
 * Whether this has the form of a call, so that nothing fails on it later. Whether it may be sent is judged in judge.ts: somebody
 * may have edited the object. A call under another name than its own could undo the volume of another claim.
 */
export function isIntent(volumeName: string, value: unknown): value is Intent {
  if (!isObject(value) || !isShallow(value, levelsMax)) return false;
  const { claim, call, secrets, mountOptions = [] } = value;
  const optional = ["reclaimPolicy", "attributesClass", "snapshotKey", "claimKey", "undoes", "published"];
  return (
    isObject(claim) &&
    [claim.namespace, claim.name, claim.uid].every(isText) &&
    isObject(secrets) &&
    Object.values(secrets).every(isSecretRef) &&
    isTexts(mountOptions) &&
    optional.every((field) => value[field] === undefined || isText(value[field])) &&
    isCall(volumeName, call)
  );
}

/** A call has six. Text that is nested as deep as it is long can be parsed, and nothing else be done with it. */
const levelsMax = 10;
const isShallow = (value: unknown, levels: number): boolean =>
  typeof value !== "object" ||
  value === null ||
  (levels > 0 && Object.values(value).every((member) => isShallow(member, levels - 1)));

function isCall(volumeName: string, call: unknown): boolean {
  if (!isObject(call)) return false;
  const { capabilities, source, topology, mutableParameters, secret, consent } = call;
  return (
    call.method === "create" &&
    call.name === volumeName &&
    isText(call.bytes) &&
    /^\d{1,19}$/.test(call.bytes) &&
    Array.isArray(capabilities) &&
    capabilities.every(isCapability) &&
    isStringMap(call.parameters) &&
    isOptional(source, isSource) &&
    isOptional(topology, isTopology) &&
    isOptional(mutableParameters, isStringMap) &&
    isOptional(secret, isSecretRef) &&
    isOptional(consent, isConsent)
  );
}

const isText = (value: unknown): value is string => typeof value === "string";
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const isStringMap = (value: unknown): boolean => isObject(value) && Object.values(value).every(isText);
const isOptional = (value: unknown, isRight: (value: unknown) => boolean): boolean =>
  value === undefined || isRight(value);
const isSecretRef = (value: unknown): value is SecretRef =>
  isObject(value) && isText(value.namespace) && isText(value.name);
const isSource = (value: unknown): boolean =>
  isObject(value) && (value.kind === "snapshot" || value.kind === "volume") && isText(value.handle);
const isTopology = (value: unknown): boolean =>
  isObject(value) &&
  [value.requisite, value.preferred].every((terms) => Array.isArray(terms) && terms.every(isStringMap));
const isConsent = (value: unknown): boolean =>
  isObject(value) &&
  [value.from, value.to].every((side) => isObject(side) && isText(side.namespace)) &&
  isText((value.to as { readonly name?: unknown }).name) &&
  isText(value.uid);

const accessModes: ReadonlySet<unknown> = new Set([
  "SINGLE_NODE_WRITER",
  "SINGLE_NODE_SINGLE_WRITER",
  "SINGLE_NODE_MULTI_WRITER",
  "MULTI_NODE_READER_ONLY",
  "MULTI_NODE_MULTI_WRITER",
]);
const isCapability = (value: unknown): boolean =>
  isObject(value) &&
  accessModes.has(value.mode) &&
  isOptional(value.mount, (mount) => isObject(mount) && isText(mount.fsType) && isTexts(mount.flags));
