/** Claims and volumes in use are not removed: their finalizers go when nobody uses them any more. */
import { isObject } from "../../../base/json.ts";
import { part } from "../../builtin/check.ts";
import type { ApiObject, Background, CreateBackground, Registry } from "../../contracts.ts";
import { inUseFinalizers, phaseOf } from "./words.ts";

const claims = "persistentvolumeclaims";
const volumes = "persistentvolumes";
const pods = "pods";

/** The claims a pod mounts, those made for its ephemeral volumes included. */
export function claimsOf(pod: ApiObject): readonly string[] {
  const { volumes: mounted } = part(pod, "spec");
  return (Array.isArray(mounted) ? mounted : []).filter(isObject).flatMap((volume) => {
    const { claimName } = part(volume, "persistentVolumeClaim");
    if (typeof claimName === "string") return [claimName];
    return volume.ephemeral === undefined ? [] : [`${pod.metadata.name}-${String(volume.name)}`];
  });
}

/** A pod that no node has been given has mounted nothing, and will not once the claim is going. */
const usesClaim = (pod: ApiObject, name: string): boolean =>
  (part(pod, "spec").nodeName ?? "") !== "" && claimsOf(pod).includes(name);

/** The finalizers the claim should have, or undefined when that is what it has. */
export function claimFinalizers(claim: ApiObject, podsAround: readonly ApiObject[]): readonly string[] | undefined {
  const { finalizers: present = [], deletionTimestamp, name = "" } = claim.metadata;
  const isProtected = present.includes(inUseFinalizers.claim);
  if (deletionTimestamp === undefined) return isProtected ? undefined : [...present, inUseFinalizers.claim];
  if (!isProtected || podsAround.some((pod) => usesClaim(pod, name))) return undefined;
  return present.filter((one) => one !== inUseFinalizers.claim);
}

export function volumeFinalizers(volume: ApiObject): readonly string[] | undefined {
  const { finalizers: present = [], deletionTimestamp } = volume.metadata;
  const isProtected = present.includes(inUseFinalizers.volume);
  if (deletionTimestamp === undefined) return isProtected ? undefined : [...present, inUseFinalizers.volume];
  return isProtected && phaseOf(volume) !== "Bound"
    ? present.filter((one) => one !== inUseFinalizers.volume)
    : undefined;
}

async function settle(
  registry: Registry,
  collection: string,
  namespace: string,
  name: string,
  wanted: (object: ApiObject) => readonly string[] | undefined,
): Promise<undefined> {
  const resource = registry.ofCollection(collection);
  const object = registry.get(collection, namespace, name);
  if (resource === undefined || object === undefined || wanted(object) === undefined) return undefined;
  await registry.modify(resource, namespace, name, (current) => {
    const list = wanted(current);
    return list === undefined ? undefined : { ...current, metadata: { ...current.metadata, finalizers: [...list] } };
  });
  return undefined;
}

export const createClaimInUseProtection: CreateBackground = ({ registry }): Background => ({
  name: "claim-protection",
  keysFor({ collection, now: { object } }) {
    const { namespace = "", name = "" } = object.metadata;
    if (collection === claims) return [`${namespace}/${name}`];
    return collection === pods ? claimsOf(object).map((claim) => `${namespace}/${claim}`) : [];
  },
  reconcile(key) {
    const [namespace = "", name = ""] = key.split("/");
    return settle(registry, claims, namespace, name, (claim) => claimFinalizers(claim, registry.list(pods, namespace)));
  },
});

export const createVolumeInUseProtection: CreateBackground = ({ registry }): Background => ({
  name: "volume-protection",
  keysFor: ({ collection, now }) => (collection === volumes ? [now.object.metadata.name ?? ""] : []),
  reconcile: (name) => settle(registry, volumes, "", name, volumeFinalizers),
});
