/** What to do about one stored PersistentVolume: keep its finalizer right, and delete its volume when it is released. */
import { refOf } from "../../api/builders.ts";
import { provisioning } from "../../api/names.ts";
import { edit } from "../../api/patches.ts";
import { settled } from "../../api/plan.ts";
import type { PersistentVolume } from "../../api/types.ts";
import { withCode } from "../../rules/error-codes.ts";
import type { SecretRef } from "../../rules/secret-template.ts";
import type { DeleteVolumeCall } from "./call.ts";
import type { StoredVolumeFacts, StoredVolumeView } from "./observe.ts";
import { isAccessible } from "./own-node.ts";
import { secretOf } from "./parameters.ts";
import {
  doing,
  errorOf,
  isSecretGone,
  later,
  nothing,
  type ProvisionerAction,
  type ProvisionerPlan,
  quoting,
  send,
  type VolumeTarget,
} from "./plan-steps.ts";

const failed = "VolumeFailedDelete";

export const deletionOf = ({ metadata: { name, uid, resourceVersion } }: PersistentVolume): VolumeTarget => ({
  metadata: { name, uid },
  goal: "delete",
  version: resourceVersion,
});

export type StoredPhase = "foreign" | "kept" | "unprotected" | "attached" | "deletable";

export function storedPhaseOf({ volume, attachments, driver, ownNode }: StoredVolumeFacts): StoredPhase {
  if (!isOurs(volume, driver.name) || (ownNode !== undefined && !isAccessible(ownNode, volume))) return "foreign";
  const { metadata, spec, status } = volume;
  const hasFinalizer = metadata.finalizers?.includes(provisioning.volumeFinalizer) === true;
  const isDeleted = metadata.deletionTimestamp !== undefined;
  if (spec?.persistentVolumeReclaimPolicy !== "Delete") return hasFinalizer ? "unprotected" : "kept";
  if (status?.phase === "Bound" && !isDeleted && !hasFinalizer) return "unprotected";
  if (status?.phase !== "Released" || (isDeleted && !hasFinalizer)) return "kept";
  return driver.controller.has("PUBLISH_UNPUBLISH_VOLUME") && attachments?.length !== 0 ? "attached" : "deletable";
}

const isOurs = ({ metadata, spec }: PersistentVolume, driver: string): boolean =>
  (metadata.annotations?.[provisioning.provisionedBy] ?? spec?.csi?.driver) === driver && spec?.csi?.driver === driver;

export function planStored(view: StoredVolumeView): ProvisionerPlan {
  const { volume, attachments } = view.facts;
  // Whoever decides now to retain it comes too late: without its volume, the object has to go.
  if (view.memory.reply.kind === "deleted") return release(volume);
  switch (storedPhaseOf(view.facts)) {
    case "unprotected":
      return view.memory.isBeingStored ? nothing : planFinalizer(volume);
    case "attached":
      return doing(
        settled,
        errorOf(
          volume,
          failed,
          withCode(
            `PersistentVolume ${volume.metadata.name} is still attached by VolumeAttachment ${attachments?.[0]?.metadata.name ?? "(unknown)"}: it is deleted when the attachment is gone`,
            "SNAP-352",
          ),
        ),
      );
    case "deletable":
      return view.memory.isBeingStored || isGivenUp(view) ? nothing : planDeletion(view);
    default:
      return nothing;
  }
}

/** The driver has refused several times, and for good: it is asked again when the PersistentVolume has changed, or by the next process. */
const isGivenUp = ({ facts, memory }: StoredVolumeView): boolean =>
  memory.refusedVersion === facts.volume.metadata.resourceVersion;

/**
 * On volumes whose data is deleted with them, and on no others. A PersistentVolume without the finalizer can go at any moment while its
 * owner keeps the data: first the call that created it is forgotten, or a successor would take the volume for an abandoned one.
 */
function planFinalizer(volume: PersistentVolume): ProvisionerPlan {
  const { volumeFinalizer } = provisioning;
  if (volume.spec?.persistentVolumeReclaimPolicy === "Delete")
    return doing(settled, ...edit("PersistentVolume", volume, { addFinalizers: [volumeFinalizer] }));
  return doing(
    settled,
    { kind: "settleIntent", name: volume.metadata.name },
    ...edit("PersistentVolume", volume, { removeFinalizers: [volumeFinalizer] }),
  );
}

function planDeletion({ facts, memory }: StoredVolumeView): ProvisionerPlan {
  const { volume } = facts;
  const { reply } = memory;
  if (reply.kind === "unsent") {
    const error = errorOf(volume, failed, withCode(reply.fault.message, "SNAP-338"));
    // A secret that is gone does not come back: perhaps the driver deletes the volume without it.
    return isSecretGone(memory)
      ? doing(settled, error, sendDeletion(facts, { method: "delete", volumeId: handleOf(volume) }))
      : doing(later(memory), error);
  }
  if (reply.kind === "failed")
    return doing(
      later(memory),
      errorOf(
        volume,
        failed,
        quoting(`driver ${facts.driver.name} cannot delete volume ${volume.metadata.name}`, reply.fault, "SNAP-351"),
      ),
    );
  return doing(settled, sendDeletion(facts, deleteCall(facts)));
}

const sendDeletion = ({ volume }: StoredVolumeFacts, call: DeleteVolumeCall): ProvisionerAction =>
  send(
    deletionOf(volume),
    call,
    { kind: "settleIntent", name: volume.metadata.name },
    {
      kind: "confirm",
      ref: refOf("PersistentVolume", volume),
      resourceVersion: volume.metadata.resourceVersion,
    },
  );

const handleOf = ({ spec }: PersistentVolume): string => spec?.csi?.volumeHandle ?? "";

/** First the object is deleted, then its finalizer: nobody sees a PersistentVolume without a volume as usable. */
function release(volume: PersistentVolume): ProvisionerPlan {
  const ref = refOf("PersistentVolume", volume);
  const { deletionTimestamp, resourceVersion } = volume.metadata;
  if (deletionTimestamp === undefined)
    return doing(
      settled,
      { kind: "delete", ref, resourceVersion },
      { kind: "count", what: "deleted", about: volume, uid: volume.metadata.uid },
    );
  return doing(settled, ...edit("PersistentVolume", volume, { removeFinalizers: [provisioning.volumeFinalizer] }));
}

function deleteCall({ volume, storageClass }: StoredVolumeFacts): DeleteVolumeCall {
  const secret = deletionSecret(volume, storageClass?.parameters);
  return {
    method: "delete",
    volumeId: handleOf(volume),
    ...(secret === undefined ? {} : { secret }),
  };
}

/** As the annotations of the volume say; a volume that has none of them was made by an older provisioner, and its class says. */
function deletionSecret(
  { metadata, spec }: PersistentVolume,
  parameters: Readonly<Record<string, string>> | undefined,
): SecretRef | undefined {
  const name = metadata.annotations?.[provisioning.deletionSecretName];
  const namespace = metadata.annotations?.[provisioning.deletionSecretNamespace];
  if (name !== undefined && namespace !== undefined) return name === "" ? undefined : { name, namespace };
  const found = secretOf("provisioner", parameters ?? {}, {
    volumeName: metadata.name,
    claimName: spec?.claimRef?.name ?? "",
    claimNamespace: spec?.claimRef?.namespace ?? "",
  });
  return found.kind === "secret" ? found.secret : undefined;
}
