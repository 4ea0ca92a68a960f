/**
 * A volume that CreateVolume may have made, and that nobody may use: its claim is gone or has another volume, or the owner of its source
 * does not consent any more. The same call tells the id of what may have been created; then it is deleted.
 *
 * Whatever the driver does, its source can be deleted: a volume that the driver does not delete is known by its id from then on, and
 * needs no source; a driver whose replies cannot be read is asked a few times, and an event names what may be left there.
 *
 * A volume whose PersistentVolume may have been stored and may be gone is not deleted, but reported: its owner may have retained it.
 */
import { refOf } from "../../api/builders.ts";
import { provisioning } from "../../api/names.ts";
import { settled } from "../../api/plan.ts";
import type { KubeObject } from "../../api/types.ts";
import { type Fault, isFault } from "../../base/fault.ts";
import { limits } from "../../base/limits.ts";
import { type ErrorCode, withCode } from "../../rules/error-codes.ts";
import type { CreateVolumeCall, VolumeCall } from "./call.ts";
import type { Intent } from "./intent.ts";
import type { VolumeView } from "./observe.ts";
import {
  after,
  doing,
  forget,
  isRefusal,
  isSecretGone,
  later,
  learningOf,
  type ProvisionerAction,
  type ProvisionerPlan,
  pause,
  send,
  undoingOf,
} from "./plan-steps.ts";
import { sourcesOf } from "./source.ts";
import { learnable } from "./stored-calls.ts";

export function planAbandoned(view: VolumeView, stored: Intent): ProvisionerPlan {
  const { facts, memory } = view;
  const intent = memory.isAdopted ? learnable(stored, facts.classes ?? []) : stored;
  const { name } = facts;
  const { reply } = memory;
  if (memory.pauseMs > 0) return doing(after(memory.pauseMs));
  // Stored and never sent: there is nothing to learn, and without consent nothing may be asked.
  const isUnanswered = reply.kind === "none" || reply.kind === "denied";
  if (!memory.isUncertain && isUnanswered && intent.undoes === undefined) return doing(settled, forget(name));
  if (facts.claim !== undefined && reply.kind !== "deleted" && memory.lateVolumeMs > 0)
    return doing(after(memory.lateVolumeMs));
  if (mayBeRetained(view, intent)) return planRetained(view, intent);
  switch (reply.kind) {
    case "deleted":
      return doing(settled, { ...forget(name), forgetsReply: true });
    case "created":
      return doing(settled, isHeld(view, reply.volume.id) ? forget(name) : undo(view, intent, reply.volume));
    case "failed":
      return memory.isUndoing ? planUndeleted(view, intent) : planUnlearned(view, intent, reply.fault);
    case "unsent": {
      const { secret: _, ...call } = intent.call;
      return isSecretGone(memory) ? doing(settled, nextCall(view, { ...intent, call })) : doing(later(memory));
    }
    default:
      return doing(settled, nextCall(view, intent));
  }
}

/** Nobody but a pod of a bound claim writes to a volume: the owner of a claim that is still there, and was not bound to it, keeps nothing. */
const mayBeRetained = ({ facts, memory }: VolumeView, { claim }: Intent): boolean =>
  memory.mayBePublished && facts.claim?.metadata.uid !== claim.uid;

function planRetained(view: VolumeView, intent: Intent): ProvisionerPlan {
  const { name } = view.facts;
  const { reply } = view.memory;
  const id = reply.kind === "created" ? reply.volume.id : (intent.published ?? "");
  if (isHeld(view, id)) return doing(settled, forget(name));
  return doing(
    settled,
    { kind: "confirm", ref: { kind: "PersistentVolume", name }, resourceVersion: undefined },
    reportLeft(view, intent, "SNAP-349", mayBeRetainedText(view, intent, id)),
    forget(name),
  );
}

/** Learns the id, or deletes what is known by it. The stored call keeps its secret's name: the secret may come back. */
function nextCall(view: VolumeView, intent: Intent): ProvisionerAction {
  const { name } = view.facts;
  if (intent.undoes === undefined) {
    const { consent: _, ...call } = intent.call;
    const stored = view.facts.intent ?? intent;
    return send(learningOf(name), { ...call, method: "learn" }, { kind: "logIntent", name, intent: stored });
  }
  return isHeld(view, intent.undoes) ? forget(name) : sendUndoing(view, intent.undoes, intent.call.secret);
}

/** A PersistentVolume has this id: also that of another node under the same name, where ids are made from names. */
const isHeld = ({ facts: { holder, volume } }: VolumeView, id: string): boolean =>
  holder !== undefined || volume?.spec?.csi?.volumeHandle === id;

/** The driver does not delete the volume. Its id is stored, so that the source is not needed to learn it once more. */
function planUndeleted({ facts: { name }, memory }: VolumeView, intent: Intent): ProvisionerPlan {
  const { repliedTo } = memory;
  if (intent.undoes !== undefined || repliedTo?.method !== "delete") return doing(settled, pause(name, false));
  const { snapshotKey: _snapshot, claimKey: _claim, published: _published, ...rest } = intent;
  return doing(
    settled,
    { kind: "logIntent", name, intent: { ...rest, undoes: repliedTo.volumeId } },
    pause(name, false),
  );
}

/** A refusal of CreateVolume: there is no volume of this name, unless an attempt before may have created it. */
function planUnlearned(view: VolumeView, intent: Intent, fault: Fault): ProvisionerPlan {
  const { facts, memory } = view;
  if (isRefusal(fault) && !memory.isUncertain)
    return doing(settled, ...toldOf(view, intent, fault), forget(facts.name));
  if (isFault(fault, "AlreadyExists") && memory.repliesInRow >= limits.malformedRepliesMax)
    return doing(settled, reportLeft(view, intent, "SNAP-348", otherText(view, fault)), forget(facts.name));
  // A call without a source is in nobody's way: it is repeated until the driver is repaired.
  const isUnreadable = isFault(fault, "MalformedReply") && memory.malformedReplies >= limits.malformedRepliesMax;
  if (!isUnreadable || sourcesOf(intent).length === 0) return doing(later(memory));
  return doing(settled, reportLeft(view, intent, "SNAP-348", unreadableText(view, intent, fault)), forget(facts.name));
}

/** About the claim as it was: it may be gone. */
function reportLeft({ facts }: VolumeView, { claim }: Intent, code: ErrorCode, text: string): ProvisionerAction {
  const about =
    facts.claim ?? ({ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { ...claim } } as KubeObject);
  return {
    kind: "reportCall",
    volume: facts.name,
    about,
    reason: "VolumeLeftAtDriver",
    message: withCode(text, code),
  };
}

/** An id that only the stored text names is never deleted, and a secret that no StorageClass names for such a call is not sent. */
function toldOf(view: VolumeView, intent: Intent, fault: Fault): readonly ProvisionerAction[] {
  const { facts, memory } = view;
  const { undoes, call } = facts.intent ?? intent;
  if (!memory.isAdopted || (undoes === undefined && call.secret?.name === intent.call.secret?.name)) return [];
  const told = undoes === undefined ? "" : ` as ${JSON.stringify(undoes)}`;
  const text = `Volume "${facts.name}" may be left at driver ${facts.driver.name}${told}: the driver does not say its id (${JSON.stringify(fault.message)}), and what only a stored call says is not believed; delete it by the means of the storage`;
  return [reportLeft(view, intent, "SNAP-348", text)];
}

const unreadableText = ({ facts, memory }: VolumeView, { call }: Intent, fault: Fault): string =>
  `The source of volume "${facts.name}" is let go: ${memory.malformedReplies} replies of driver ${facts.driver.name} to CreateVolume could not be read (${JSON.stringify(fault.message)}), so the volume, made from ${JSON.stringify(call.source?.handle ?? "")}, may be left there; look for it, and delete it by the means of the storage`;

const otherText = ({ facts }: VolumeView, fault: Fault): string =>
  `Volume "${facts.name}" is left at driver ${facts.driver.name}: its claim is gone, and the driver does not say its id, because it was made with other arguments than are known now (${JSON.stringify(fault.message)}); delete it by the means of the storage`;

function mayBeRetainedText({ facts }: VolumeView, { call }: Intent, id: string): string {
  const { name, driver } = facts;
  const left = `Volume "${name}" may be left at driver ${driver.name} as ${id === "" ? "an unknown id" : JSON.stringify(id)}: the provisioner ended when its PersistentVolume was being stored; claim and PersistentVolume are gone now, and their owner may have retained the data, so it is not deleted`;
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
