/** Which claims a change concerns, from the indexes of the caches, and the volume that is made for each. */
import type { PersistentVolumeClaim } from "../../../api/types.ts";
import type { Key } from "../../../base/brand.ts";
import type { GrantFrom } from "../../../rules/reference-grant.ts";
import type { Links } from "../../../runtime/links.ts";
import { consentId, type ProvisionerStores } from "../caches.ts";
import { type VolumeName, volumeKey } from "../identity.ts";
import { type SourceObject, sourceId } from "../sources/source.ts";
import { type NameOptions, volumeNameFor } from "./claim.ts";

export interface ClaimIndex {
  /** The name of the volume that is made for the claim. */
  nameFor(claimUid: string): VolumeName;
  /** The claim that a volume of this name is made for. */
  claimOf(name: VolumeName): PersistentVolumeClaim | undefined;
  /** The key of its volume. */
  keyFor(claim: PersistentVolumeClaim): Key;
  /** Keys of the volumes that are to be made from the source, by claims that name it or a link to it. */
  keysFrom(source: SourceObject): readonly Key[];
  keysOfClass(className: string): readonly Key[];
  keysWithAttributes(attributesClass: string): readonly Key[];
  claimsByLink(link: Key): readonly PersistentVolumeClaim[];
  /** Claims that the owner of the namespace has to consent to: they refer from there into it, by themselves or by a link. */
  claimsAcross(from: Partial<GrantFrom>, namespace: string): readonly PersistentVolumeClaim[];
}

export function createClaimIndex(
  { PersistentVolumeClaim: claims }: Pick<ProvisionerStores, "PersistentVolumeClaim">,
  options: NameOptions,
  links: Pick<Links, "pointingAt" | "across"> | undefined,
): ClaimIndex {
  const nameFor = (claimUid: string): VolumeName => volumeNameFor(options, claimUid);
  const keyFor = ({ metadata }: PersistentVolumeClaim): Key => volumeKey(nameFor(metadata.uid));
  const claimsByLink = (link: Key): readonly PersistentVolumeClaim[] => claims.by("link", link);
  return {
    nameFor,
    claimOf: (name) => claims.by("volume", name)[0],
    keyFor,
    keysFrom: (source) => {
      const pointing = source.kind === "snapshot" ? (links?.pointingAt(source.key) ?? []) : [];
      return [...claims.by("source", sourceId(source)), ...pointing.flatMap(claimsByLink)].map(keyFor);
    },
    keysOfClass: (className) => claims.by("class", className).map(keyFor),
    keysWithAttributes: (attributesClass) => claims.by("attributes", attributesClass).map(keyFor),
    claimsByLink,
    claimsAcross: (from, namespace) => [
      ...claims.by("consent", consentId(namespace, from)),
      ...(links?.across(from.namespace ?? "", namespace) ?? []).flatMap(claimsByLink),
    ],
  };
}
