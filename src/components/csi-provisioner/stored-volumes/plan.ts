/** What to do about one stored PersistentVolume: keep its finalizer right, and delete its volume when it is released. */
import { refOf } from "../../../api/builders.ts";
import { provisioning } from "../../../api/names.ts";
import { edit } from "../../../api/patches.ts";
import { type Ref, settled } from "../../../api/plan.ts";
import type { PersistentVolume } from "../../../api/types.ts";
import { withCode } from "../../../errors/codes.ts";
import type { SecretRef } from "../../../rules/secret-template.ts";
import { secretOf } from "../claims/parameters.ts";
import type { DeleteVolumeCall } from "../driver/call.ts";
import { isSecretGone } from "../driver/refusals.ts";
import { deletionOf } from "../driver/target.ts";
import { nameOfVolume, uidOfVolume } from "../identity.ts";
import {
  doing,
  errorOf,
  later,
  type ProvisionerAction,
  type ProvisionerPlan,
  quoting,
  resting,
  send,
} from "../plan-steps.ts";
import { type ProvisionerReason, reasonFor, retrying } from "../reasons.ts";
import type { StoredFacts, StoredView } from "./observe.ts";
import { storedPhaseOf } from "./phase.ts";

const failed = "VolumeFailedDelete";

export function planStored(view: StoredView): ProvisionerPlan {
  const { facts, memory } = view;
  const { volume } = facts;
  switch (storedPhaseOf(view)) {
    case "deleted":
      return release(volume);
    case "foreign":
      return resting(reasonFor("NotOurs", `${named(volume)} is of another driver, provisioner or node`));
    case "kept":
      return resting(reasonFor("Settled", `${named(volume)} is kept: ${whyKept(volume)}`));
    case "unprotected":
      return memory.isBeingStored ? resting(beingStored(volume)) : planFinalizer(volume);
    case "attached":
      return planAttached(facts);
    case "deletable":
      if (memory.isBeingStored) return resting(beingStored(volume));
      return isGivenUp(view) ? resting(givenUp(view)) : planDeletion(view);
  }
}

const named = ({ metadata }: PersistentVolume): string => `PersistentVolume ${metadata.name}`;

function whyKept({ metadata, spec, status }: PersistentVolume): string {
  const policy = spec?.persistentVolumeReclaimPolicy;
  if (policy !== "Delete") return `its reclaim policy is ${policy}`;
  if (metadata.deletionTimestamp !== undefined) return "it is being deleted without our finalizer";
  return `it is ${status?.phase ?? "new"}`;
}

const beingStored = (volume: PersistentVolume): ProvisionerReason =>
  reasonFor("Writes", `${named(volume)}: a request of ours that stores it is under way, and comes first`);

const givenUp = ({ facts: { volume, driver } }: StoredView): ProvisionerReason =>
  reasonFor(
    "DriverFailed",
    `${named(volume)}: driver ${driver.name} refuses for good to delete its volume; it is asked again when the PersistentVolume changes`,
  );

function planAttached({ volume, attachments }: StoredFacts): ProvisionerPlan {
  const attachment = attachments?.[0]?.metadata.name;
  const message = withCode(
    `${named(volume)} is still attached by VolumeAttachment ${attachment ?? "(unknown)"}: it is deleted when the attachment is gone`,
    "SNAP-352",
  );
  const waitsFor: readonly Ref[] = attachment === undefined ? [] : [{ kind: "VolumeAttachment", name: attachment }];
  return doing(reasonFor("VolumeInUse", message, waitsFor), settled, errorOf(volume, failed, message));
}

/** The driver has refused several times, and for good: it is asked again when the PersistentVolume has changed, or by the next process. */
const isGivenUp = ({ facts, memory }: StoredView): boolean =>
  memory.refusedVersion === facts.volume.metadata.resourceVersion;

/**
 * On volumes whose data is deleted with them, and on no others. A PersistentVolume without the finalizer can go at any moment while its
 * owner keeps the data: first the call that created it is forgotten, or a successor would take the volume for an abandoned one.
 */
function planFinalizer(volume: PersistentVolume): ProvisionerPlan {
  const { volumeFinalizer } = provisioning;
  if (volume.spec?.persistentVolumeReclaimPolicy === "Delete")
    return doing(
      reasonFor("Writes", `${named(volume)} gets our finalizer: its volume is deleted with it`),
      settled,
      ...edit("PersistentVolume", volume, { addFinalizers: [volumeFinalizer] }),
    );
  return doing(
    reasonFor("Released", `${named(volume)} loses our finalizer: its volume is kept`),
    settled,
    { kind: "settleIntent", name: nameOfVolume(volume) },
    ...edit("PersistentVolume", volume, { removeFinalizers: [volumeFinalizer] }),
  );
}

function planDeletion(view: StoredView): ProvisionerPlan {
  const { facts, memory, nowMs } = view;
  const { volume, driver } = facts;
  const { reply } = memory;
  const deleting = reasonFor(
    "WaitsForDriver",
    `${named(volume)} is released: driver ${driver.name} is asked to delete its volume`,
    [],
    nowMs,
  );
  if (reply.kind === "unsent") {
    const message = withCode(reply.fault.message, "SNAP-338");
    const error = errorOf(volume, failed, message);
    // A secret that is gone does not come back: perhaps the driver deletes the volume without it.
    return isSecretGone(memory)
      ? doing(deleting, settled, error, sendDeletion(facts, { method: "delete", volumeId: handleOf(volume) }))
      : doing(retrying(view, `${named(volume)}: ${message}`, reply.fault), later(memory), error);
  }
  if (reply.kind === "failed") {
    const text = `driver ${driver.name} cannot delete volume ${volume.metadata.name}`;
    const message = quoting(text, reply.fault, "SNAP-351");
    return doing(retrying(view, message, reply.fault), later(memory), errorOf(volume, failed, message));
  }
  return doing(deleting, settled, sendDeletion(facts, deleteCall(facts)));
}

const sendDeletion = ({ volume }: StoredFacts, call: DeleteVolumeCall): ProvisionerAction =>
  send(
    deletionOf(volume),
    call,
    { kind: "settleIntent", name: nameOfVolume(volume) },
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
  const { deletionTimestamp, resourceVersion, finalizers = [] } = volume.metadata;
  const gone = `${named(volume)}: its volume is deleted`;
  if (deletionTimestamp === undefined)
    return doing(
      reasonFor("Writes", `${gone}, and it is deleted itself`),
      settled,
      { kind: "delete", ref, resourceVersion },
      { kind: "count", what: "deleted", about: volume, uid: uidOfVolume(volume) },
    );
  const others = finalizers.filter((name) => name !== provisioning.volumeFinalizer);
  if (others.length === finalizers.length && others.length > 0) {
    const says = `${gone}, and it has finalizers of others: ${others.join(", ")}`;
    return resting(reasonFor("VolumeInUse", says, [], Date.parse(deletionTimestamp)));
  }
  return doing(
    reasonFor("Released", `${gone}, and our finalizer is taken off`),
    settled,
    ...edit("PersistentVolume", volume, { removeFinalizers: [provisioning.volumeFinalizer] }),
  );
}

function deleteCall({ volume, storageClass }: StoredFacts): DeleteVolumeCall {
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
