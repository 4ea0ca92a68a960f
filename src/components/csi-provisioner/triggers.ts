/** Which volumes, stored volumes and sources are looked at when an object of a cache comes, changes or goes. */
import { type KubeObject, keyOf } from "../../api/types.ts";
import { keyIn } from "../../base/brand.ts";
import type { Triggers } from "../../runtime/controller.ts";
import type { ProvisionerStores } from "./caches.ts";
import type { ClaimIndex } from "./claims/claim-index.ts";
import { type SourceObject, sourceFinalizers, sourceId } from "./sources/source.ts";

export const isProtected = ({ metadata }: KubeObject, kind: SourceObject["kind"]): boolean =>
  metadata.finalizers?.includes(sourceFinalizers[kind]) === true;

export const volumeTriggers = (claims: ClaimIndex): Triggers<ProvisionerStores> => ({
  PersistentVolumeClaim: (claim) => [claims.keyFor(claim), ...claims.keysFrom({ kind: "claim", key: keyOf(claim) })],
  PersistentVolume: ({ metadata, spec }) => [
    keyIn(undefined, metadata.name),
    ...claims.keysFrom({ kind: "claim", key: keyIn(spec?.claimRef?.namespace, spec?.claimRef?.name ?? "") }),
  ],
  StorageClass: ({ metadata }) => claims.keysOfClass(metadata.name),
});

export const storedTriggers: Triggers<ProvisionerStores> = {
  PersistentVolume: ({ metadata }) => [keyIn(undefined, metadata.name)],
  VolumeAttachment: ({ spec }) =>
    spec?.source?.persistentVolumeName ? [keyIn(undefined, spec.source.persistentVolumeName)] : [],
};

export const sourceTriggers: Triggers<ProvisionerStores> = {
  PersistentVolumeClaim: (claim) =>
    isProtected(claim, "claim") ? [sourceId({ kind: "claim", key: keyOf(claim) })] : [],
};
