/**
 * A volume that CreateVolume may have made, and that nobody may use: its claim is gone or has another volume, or the owner of its source
 * does not consent any more. The same call tells the id of what may have been created; then it is deleted.
 *
 * Whatever the driver does, its source can be deleted: a volume that the driver does not delete is known by its id from then on, and
 * needs no source; a driver whose replies cannot be read is asked a few times, and an event names what may be left there.
 *
 * A volume whose PersistentVolume may have been stored and may be gone is not deleted, but reported: its owner may have retained it.
 */
import { refOf } from "../../../api/builders.ts";
import { provisioning } from "../../../api/names.ts";
import { type CodedMessage, settled } from "../../../api/plan.ts";
import type { KubeObject } from "../../../api/types.ts";
import { type Fault, isFault } from "../../../base/fault.ts";
import { limits } from "../../../base/limits.ts";
import { withCode } from "../../../errors/codes.ts";
import type { CreateVolumeCall, VolumeCall } from "../driver/call.ts";
import { isRefusal, isSecretGone } from "../driver/refusals.ts";
import { learningOf, undoingOf } from "../driver/target.ts";
import {
  doing,
  forget,
  inMs,
  later,
  type ProvisionerAction,
  type ProvisionerPlan,
  pause,
  send,
} from "../plan-steps.ts";
import { failing, type ProvisionerReason, pausing, reasonFor, retrying } from "../reasons.ts";
import { sourcesOf } from "../sources/source.ts";
import type { Intent } from "../stored-calls/intent.ts";
import { learnable } from "../stored-calls/judge.ts";
import type { VolumeView } from "./observe.ts";

export function planAbandoned(view: VolumeView, stored: Intent): ProvisionerPlan {
  const { facts, memory } = view;
  const intent = memory.isAdopted ? learnable(stored, facts.classes ?? []) : stored;
  const { reply } = memory;
  if (memory.pauseMs > 0) return doing(pausing(facts), inMs(memory.pauseMs));
  // Stored and never sent: there is nothing to learn, and without consent nothing may be asked.
  const isUnanswered = reply.kind === "none" || reply.kind === "denied";
  if (!memory.isUncertain && isUnanswered && intent.undoes === undefined)
    return forgetting(view, intent, "its CreateVolume call was never sent");
  if (facts.claim !== undefined && reply.kind !== "deleted" && memory.lateVolumeMs > 0)
    return doing(
      abandoned(view, intent, "its PersistentVolume may still be stored, and the volume is kept meanwhile"),
      inMs(memory.lateVolumeMs),
    );
  if (mayBeRetained(view, intent)) return planRetained(view, intent);
  switch (reply.kind) {
    case "deleted":
      return forgetting(view, intent, "it is deleted", { forgetsReply: true });
    case "created":
      return isHeld(view, reply.volume.id)
        ? forgetting(view, intent, held)
        : doing(abandoned(view, intent, deleting), settled, undo(view, intent, reply.volume));
    case "failed":
      return memory.isUndoing ? planUndeleted(view, intent, reply.fault) : planUnlearned(view, intent, reply.fault);
    case "unsent": {
      const { secret: _, ...call } = intent.call;
      return isSecretGone(memory)
        ? planNextCall(view, { ...intent, call })
        : doing(retrying(view, sentenceOf(view, intent, reply.fault.message), reply.fault), later(memory));
    }
    default:
      return planNextCall(view, intent);
  }
}

const held = "a PersistentVolume has it";
const deleting = "it is deleted";

function sentenceOf({ facts: { name, claim } }: VolumeView, { claim: wanted }: Intent, rest: string): string {
  const named = `claim ${wanted.namespace}/${wanted.name}`;
  const why =
    claim?.metadata.uid !== wanted.uid
      ? `${named} is gone`
      : claim.metadata.deletionTimestamp !== undefined
        ? `${named} is being deleted`
        : claim.spec?.volumeName
          ? `${named} has volume ${claim.spec.volumeName}`
          : `${named} does not get it`;
  return `volume ${name} is abandoned, because ${why}: ${rest}`;
}

const abandoned = (view: VolumeView, intent: Intent, rest: string): ProvisionerReason =>
  reasonFor("VolumeAbandoned", sentenceOf(view, intent, rest), [], view.nowMs);

/** Nothing is left to do. */
const forgetting = (view: VolumeView, intent: Intent, why: string, how: { readonly forgetsReply?: true } = {}) =>
  doing(reasonFor("Writes", sentenceOf(view, intent, `${why}, and the stored call is forgotten`)), settled, {
    ...forget(view.facts.name),
    ...how,
  });

/** Nobody but a pod of a bound claim writes to a volume: the owner of a claim that is still there, and was not bound to it, keeps nothing. */
const mayBeRetained = ({ facts, memory }: VolumeView, { claim }: Intent): boolean =>
  memory.mayBePublished && facts.claim?.metadata.uid !== claim.uid;

function planRetained(view: VolumeView, intent: Intent): ProvisionerPlan {
  const { name } = view.facts;
  const { reply } = view.memory;
  const id = reply.kind === "created" ? reply.volume.id : (intent.published ?? "");
  if (isHeld(view, id)) return forgetting(view, intent, held);
  const message = withCode(mayBeRetainedText(view, intent, id), "SNAP-349");
  return doing(
    uncertain(message),
    settled,
    { kind: "confirm", ref: { kind: "PersistentVolume", name }, resourceVersion: undefined },
    reportLeft(view, intent, message),
    forget(name),
  );
}

/** Learns the id, or deletes what is known by it. The stored call keeps its secret's name: the secret may come back. */
function planNextCall(view: VolumeView, intent: Intent): ProvisionerPlan {
  const { name } = view.facts;
  if (intent.undoes === undefined) {
    const { consent: _, ...call } = intent.call;
    const stored = view.facts.intent ?? intent;
    const learning = send(learningOf(name), { ...call, method: "learn" }, { kind: "logIntent", name, intent: stored });
    return doing(abandoned(view, intent, "the driver is asked for its id, to delete it"), settled, learning);
  }
  return isHeld(view, intent.undoes)
    ? forgetting(view, intent, held)
    : doing(abandoned(view, intent, deleting), settled, sendUndoing(view, intent.undoes, intent.call.secret));
}

/** A PersistentVolume has this id: also that of another node under the same name, where ids are made from names. */
const isHeld = ({ facts: { holder, volume } }: VolumeView, id: string): boolean =>
  holder !== undefined || volume?.spec?.csi?.volumeHandle === id;

/** The driver does not delete the volume. Its id is stored, so that the source is not needed to learn it once more. */
function planUndeleted(view: VolumeView, intent: Intent, fault: Fault): ProvisionerPlan {
  const { name } = view.facts;
  const { repliedTo } = view.memory;
  const reason = failing(view, sentenceOf(view, intent, `the driver cannot delete it: ${quote(fault)}`), fault);
  if (intent.undoes !== undefined || repliedTo?.method !== "delete") return doing(reason, settled, pause(name, false));
  const { snapshotKey: _snapshot, claimKey: _claim, published: _published, ...rest } = intent;
  return doing(
    reason,
    settled,
    { kind: "logIntent", name, intent: { ...rest, undoes: repliedTo.volumeId } },
    pause(name, false),
  );
}

/** A refusal of CreateVolume: there is no volume of this name, unless an attempt before may have created it. */
function planUnlearned(view: VolumeView, intent: Intent, fault: Fault): ProvisionerPlan {
  const { facts, memory } = view;
  if (isRefusal(fault) && !memory.isUncertain) {
    const message = saidOnly(view, intent, fault);
    return message === undefined
      ? forgetting(view, intent, `the driver has refused the call (${quote(fault)}), so there is none`)
      : doing(uncertain(message), settled, reportLeft(view, intent, message), forget(facts.name));
  }
  const message = leftWith(view, intent, fault);
  return message === undefined
    ? doing(
        retrying(view, sentenceOf(view, intent, `the driver does not say its id: ${quote(fault)}`), fault),
        later(memory),
      )
    : doing(uncertain(message), settled, reportLeft(view, intent, message), forget(facts.name));
}

/** The driver has said often enough that it will not tell the id. */
function leftWith(view: VolumeView, intent: Intent, fault: Fault): CodedMessage | undefined {
  const { memory } = view;
  if (isFault(fault, "AlreadyExists") && memory.repliesInRow >= limits.malformedRepliesMax)
    return withCode(otherText(view, fault), "SNAP-348");
  // A call without a source is in nobody's way: it is repeated until the driver is repaired.
  const isUnreadable = isFault(fault, "MalformedReply") && memory.malformedReplies >= limits.malformedRepliesMax;
  return isUnreadable && sourcesOf(intent).length > 0
    ? withCode(unreadableText(view, intent, fault), "SNAP-348")
    : undefined;
}

const quote = ({ message }: Fault): string => JSON.stringify(message);
const uncertain = (message: CodedMessage): ProvisionerReason => reasonFor("StoredCallUncertain", message);

/** About the claim as it was: it may be gone. */
function reportLeft({ facts }: VolumeView, { claim }: Intent, message: CodedMessage): ProvisionerAction {
  const about =
    facts.claim ?? ({ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { ...claim } } as KubeObject);
  return { kind: "reportCall", volume: facts.name, about, reason: "VolumeLeftAtDriver", message };
}

/** An id that only the stored text names is never deleted, and a secret that no StorageClass names for such a call is not sent. */
function saidOnly(view: VolumeView, intent: Intent, fault: Fault): CodedMessage | undefined {
  const { facts, memory } = view;
  const { undoes, call } = facts.intent ?? intent;
  if (!memory.isAdopted || (undoes === undefined && call.secret?.name === intent.call.secret?.name)) return undefined;
  const told = undoes === undefined ? "" : ` as ${JSON.stringify(undoes)}`;
  const text = `Volume "${facts.name}" may be left at driver ${facts.driver.name}${told}: the driver does not say its id (${quote(fault)}), and what only a stored call says is not believed; delete it by the means of the storage`;
  return withCode(text, "SNAP-348");
}

const unreadableText = ({ facts, memory }: VolumeView, { call }: Intent, fault: Fault): string =>
  `The source of volume "${facts.name}" is let go: ${memory.malformedReplies} replies of driver ${facts.driver.name} to CreateVolume could not be read (${quote(fault)}), so the volume, made from ${JSON.stringify(call.source?.handle ?? "")}, may be left there; look for it, and delete it by the means of the storage`;

const otherText = ({ facts }: VolumeView, fault: Fault): string =>
  `Volume "${facts.name}" is left at driver ${facts.driver.name}: its claim is gone, and the driver does not say its id, because it was made with other arguments than are known now (${quote(fault)}); delete it by the means of the storage`;

function mayBeRetainedText({ facts, memory }: VolumeView, { call }: Intent, id: string): string {
  const { name, driver } = facts;
  const known = id === "" ? "an unknown id" : JSON.stringify(id);
  // Whoever may write the stored calls could have the administrator delete the volume of somebody else.
  const warning =
    id === "" || memory.reply.kind === "created"
      ? ""
      : " (its stored call says so: see at the storage that it is this volume)";
  const left = `Volume "${name}" may be left at driver ${driver.name} as ${known}${warning}: the provisioner ended when its PersistentVolume was being stored; claim and PersistentVolume are gone now, and their owner may have retained the data, so it is not deleted`;
  return `${left}. To delete it: ${deleteCommand(driver.name, id, call)}`;
}

/**
 * A PersistentVolume of a claim that is gone: the provisioner deletes both. People paste the command into a shell, so that nothing of a
 * stored call gets there unless it is harmless.
 */
function deleteCommand(driver: string, id: string, { secret }: CreateVolumeCall): string {
  const { provisionedBy, deletionSecretName, deletionSecretNamespace } = provisioning;
  const volume = {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: {
      generateName: "left-",
      annotations: {
        [provisionedBy]: driver,
        ...(secret === undefined
          ? {}
          : { [deletionSecretName]: secret.name, [deletionSecretNamespace]: secret.namespace }),
      },
    },
    spec: {
      accessModes: ["ReadWriteOnce"],
      capacity: { storage: "1" },
      persistentVolumeReclaimPolicy: "Delete",
      csi: { driver, volumeHandle: /^[\w.:/@#=+,|-]{1,256}$/.test(id) ? id : "HANDLE" },
      claimRef: { kind: "PersistentVolumeClaim", namespace: "default", name: "gone", uid: "gone" },
    },
  };
  return `echo '${JSON.stringify(volume)}' | kubectl create -f -`;
}

/** A cache may be behind: a volume that somebody can use is never deleted. */
export function undo(view: VolumeView, { call }: Intent, { id }: { readonly id: string }): ProvisionerAction {
  // Where the secret was gone when the id was asked for, it is gone now.
  return sendUndoing(view, id, (view.memory.repliedTo ?? call).secret);
}

const sendUndoing = (
  { facts: { name, volume, intent } }: VolumeView,
  volumeId: string,
  secret: VolumeCall["secret"],
): ProvisionerAction =>
  send(
    undoingOf(name),
    { method: "delete", volumeId, ...(secret === undefined ? {} : { secret }) },
    ...(intent?.published === undefined ? [] : [{ kind: "publishing", name, id: undefined } as const]),
    volume === undefined
      ? { kind: "confirm", ref: { kind: "PersistentVolume", name }, resourceVersion: undefined }
      : {
          kind: "confirm",
          ref: refOf("PersistentVolume", volume),
          resourceVersion: volume.metadata.resourceVersion,
        },
    { kind: "requireIntent", name },
  );
