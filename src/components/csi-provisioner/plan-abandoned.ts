/**
 * A volume that CreateVolume may have made, and that nobody may use: its claim is gone or has another volume, or the owner of its source
 * does not consent any more. The same call tells the id of what may have been created; then it is deleted.
 *
 * Whatever the driver does, its source can be deleted: a volume that the driver does not delete is known by its id from then on, and
 * needs no source; a driver whose replies cannot be read is asked a few times, and an event names what may be left there.
 */
import { refOf } from "../../api/builders.ts";
import { type ClusterAction, settled } from "../../api/plan.ts";
import type { KubeObject } from "../../api/types.ts";
import { type Fault, isFault } from "../../base/fault.ts";
import { limits } from "../../base/limits.ts";
import { withCode } from "../../rules/error-codes.ts";
import type { VolumeCall } from "./call.ts";
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

export function planAbandoned(view: VolumeView, intent: Intent): ProvisionerPlan {
  const { facts, memory } = view;
  const { name } = facts;
  const { reply } = memory;
  if (memory.pauseMs > 0) return doing(after(memory.pauseMs));
  // Stored and never sent: there is nothing to learn, and without consent nothing may be asked.
  const isUnanswered = reply.kind === "none" || reply.kind === "denied";
  if (!memory.isUncertain && isUnanswered && intent.undoes === undefined) return doing(settled, forget(name));
  if (facts.claim !== undefined && reply.kind !== "deleted" && memory.lateVolumeMs > 0)
    return doing(after(memory.lateVolumeMs));
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
  const { snapshotKey: _snapshot, claimKey: _claim, ...rest } = intent;
  return doing(
    settled,
    { kind: "logIntent", name, intent: { ...rest, undoes: repliedTo.volumeId } },
    pause(name, false),
  );
}

/** A refusal of CreateVolume: there is no volume of this name, unless an attempt before may have created it. */
function planUnlearned(view: VolumeView, intent: Intent, fault: Fault): ProvisionerPlan {
  const { facts, memory } = view;
  if (isRefusal(fault) && !memory.isUncertain) return doing(settled, forget(facts.name));
  // A call without a source is in nobody's way: it is repeated until the driver is repaired.
  const isUnreadable = isFault(fault, "MalformedReply") && memory.malformedReplies >= limits.malformedRepliesMax;
  if (!isUnreadable || sourcesOf(intent).length === 0) return doing(later(memory));
  return doing(settled, leftAtDriver(view, intent, fault), forget(facts.name));
}

/** About the claim as it was: it may be gone. */
function leftAtDriver({ facts, memory }: VolumeView, { claim, call }: Intent, fault: Fault): ClusterAction {
  const about =
    facts.claim ?? ({ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { ...claim } } as KubeObject);
  const text = `The source of volume "${facts.name}" is let go: ${memory.malformedReplies} replies of driver ${facts.driver.name} to CreateVolume could not be read (${JSON.stringify(fault.message)}), so the volume, made from "${call.source?.handle ?? ""}", may be left there; look for it, and delete it by the means of the storage`;
  return {
    kind: "event",
    about,
    event: { type: "Warning", reason: "VolumeLeftAtDriver", message: withCode(text, "SNAP-348") },
  };
}

/** A cache may be behind: a volume that somebody can use is never deleted. */
export function undo(view: VolumeView, { call }: Intent, { id }: { readonly id: string }): ProvisionerAction {
  // Where the secret was gone when the id was asked for, it is gone now.
  return sendUndoing(view, id, (view.memory.repliedTo ?? call).secret);
}

const sendUndoing = (
  { facts: { name, volume } }: VolumeView,
  volumeId: string,
  secret: VolumeCall["secret"],
): ProvisionerAction =>
  send(
    undoingOf(name),
    { method: "delete", volumeId, ...(secret === undefined ? {} : { secret }) },
    volume === undefined
      ? { kind: "confirm", ref: { kind: "PersistentVolume", name }, resourceVersion: undefined }
      : {
          kind: "confirm",
          ref: refOf("PersistentVolume", volume),
          resourceVersion: volume.metadata.resourceVersion,
        },
    { kind: "requireIntent", name },
  );
