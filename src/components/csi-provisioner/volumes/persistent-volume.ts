/** The PersistentVolume that is stored for a volume, field by field as external-provisioner writes it. */
import { draftOf } from "../../../api/builders.ts";
import { provisioning } from "../../../api/names.ts";
import type { Draft, PersistentVolume, PersistentVolumeClaim, StorageClass } from "../../../api/types.ts";
import { binaryQuantity, printQuantity } from "../../../base/quantity.ts";
import type { SecretRef } from "../../../rules/secret-template.ts";
import { classNameOf } from "../claims/claim.ts";
import type { SecretsByRole } from "../claims/parameters.ts";
import type { CreatedVolume, CreateVolumeCall } from "../driver/call.ts";

export interface VolumeToStore {
  readonly claim: PersistentVolumeClaim;
  readonly storageClass: Pick<StorageClass, "reclaimPolicy" | "mountOptions">;
  readonly driver: string;
  /** Names this process, for people who look for the one that made a volume. */
  readonly identity: string;
  readonly call: CreateVolumeCall;
  readonly created: CreatedVolume;
  readonly secrets: SecretsByRole;
  readonly controllerPublishReadonly: boolean;
  readonly attributesClass?: string | undefined;
}

export function persistentVolumeOf(stored: VolumeToStore): Draft<PersistentVolume> {
  const { claim, storageClass, driver, call, created, secrets } = stored;
  const { namespace, name, uid, resourceVersion } = claim.metadata;
  const bytes = created.bytes === 0n ? BigInt(call.bytes) : created.bytes;
  const { provisioner, "controller-modify": modify } = secrets;
  return draftOf(
    "PersistentVolume",
    {
      name: call.name,
      finalizers: [provisioning.volumeFinalizer],
      annotations: {
        [provisioning.provisionedBy]: driver,
        [provisioning.deletionSecretName]: provisioner?.name ?? "",
        [provisioning.deletionSecretNamespace]: provisioner?.namespace ?? "",
        ...(modify === undefined
          ? {}
          : {
              [provisioning.modifySecretName]: modify.name,
              [provisioning.modifySecretNamespace]: modify.namespace,
            }),
      },
    },
    {
      spec: {
        accessModes: [...(claim.spec?.accessModes ?? [])],
        ...(claim.spec?.volumeMode === undefined ? {} : { volumeMode: claim.spec.volumeMode }),
        ...(storageClass.mountOptions === undefined ? {} : { mountOptions: [...storageClass.mountOptions] }),
        capacity: { storage: printQuantity(binaryQuantity(bytes)) },
        persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? "Delete",
        storageClassName: classNameOf(claim),
        claimRef: {
          ...{ apiVersion: "v1", kind: "PersistentVolumeClaim", name, uid, resourceVersion },
          ...(namespace === undefined ? {} : { namespace }),
        },
        ...(stored.attributesClass === undefined ? {} : { volumeAttributesClassName: stored.attributesClass }),
        ...nodeAffinityOf(created),
        csi: csiSource(stored),
      },
    },
  );
}

function csiSource({ driver, identity, call, created, secrets, controllerPublishReadonly }: VolumeToStore) {
  const [only, ...more] = call.capabilities;
  const isReadOnly = controllerPublishReadonly && more.length === 0 && only?.mode === "MULTI_NODE_READER_ONLY";
  return {
    driver,
    volumeHandle: created.id,
    ...(only?.mount?.fsType ? { fsType: only.mount.fsType } : {}),
    ...(isReadOnly ? { readOnly: true } : {}),
    volumeAttributes: { [provisioning.identityAttribute]: identity, ...created.context },
    ...secretRef("controllerPublishSecretRef", secrets["controller-publish"]),
    ...secretRef("nodeStageSecretRef", secrets["node-stage"]),
    ...secretRef("nodePublishSecretRef", secrets["node-publish"]),
    ...secretRef("controllerExpandSecretRef", secrets["controller-expand"]),
    ...secretRef("nodeExpandSecretRef", secrets["node-expand"]),
  };
}

const secretRef = (field: string, secret: SecretRef | undefined) =>
  secret === undefined ? {} : { [field]: { name: secret.name, namespace: secret.namespace } };

/** One term for each topology that the volume is accessible from. */
function nodeAffinityOf({ topology }: CreatedVolume) {
  const terms = topology
    .filter((segments) => Object.keys(segments).length > 0)
    .map((segments) => ({
      matchExpressions: Object.entries(segments).map(([key, value]) => ({ key, operator: "In", values: [value] })),
    }));
  return terms.length === 0 ? {} : { nodeAffinity: { required: { nodeSelectorTerms: terms } } };
}
