/** What a claim asks for: by whom, of which class, and how large. */
import { provisioning } from "../../../api/names.ts";
import type { PersistentVolumeClaim } from "../../../api/types.ts";
import { parseQuantity, wholeUnits } from "../../../base/quantity.ts";
import { type VolumeName, volumeName } from "../identity.ts";

/** The provisioner that kube-controller-manager has chosen for the claim, under its name of today or of before. */
export const provisionerOf = ({ metadata }: PersistentVolumeClaim): string | undefined =>
  metadata.annotations?.[provisioning.storageProvisioner] ??
  metadata.annotations?.[provisioning.betaStorageProvisioner];

/** The annotation of Kubernetes 1.5 still wins over the field. */
export const classNameOf = ({ metadata, spec }: PersistentVolumeClaim): string =>
  metadata.annotations?.[provisioning.betaStorageClass] ?? spec?.storageClassName ?? "";

/** The VolumeAttributesClass of the claim, where they are obeyed; an empty name is none. */
export const attributesClassOf = (
  { usesAttributesClasses }: { readonly usesAttributesClasses?: boolean | undefined },
  { spec }: PersistentVolumeClaim,
): string | undefined => (usesAttributesClasses === true ? spec?.volumeAttributesClassName || undefined : undefined);

export const selectedNodeOf = ({ metadata }: PersistentVolumeClaim): string | undefined =>
  metadata.annotations?.[provisioning.selectedNode] || undefined;

/** Bytes that are requested, rounded up; undefined where nothing, or nothing readable, is requested. */
export function requestedBytes({ spec }: PersistentVolumeClaim): bigint | undefined {
  const requested = spec?.resources?.requests?.storage;
  if (requested === undefined) return undefined;
  try {
    return bytesIn(requested);
  } catch {
    return undefined;
  }
}

export const bytesIn = (quantity: string | number): bigint => wholeUnits(parseQuantity(quantity));

export interface NameOptions {
  readonly volumeNamePrefix: string;
  /** Characters of the claim's uid without dashes; -1: the uid as it is. */
  readonly volumeNameUuidLength: number;
}

/** Name of the volume at the driver and of its PersistentVolume: the same for every attempt. */
export const volumeNameFor = ({ volumeNamePrefix, volumeNameUuidLength }: NameOptions, claimUid: string): VolumeName =>
  volumeName(
    `${volumeNamePrefix}-${volumeNameUuidLength < 0 ? claimUid : claimUid.replaceAll("-", "").slice(0, volumeNameUuidLength)}`,
  );
