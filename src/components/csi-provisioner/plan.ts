/** What to do about one volume that a claim wants, or that a CreateVolume call may have made. */

import { provisioning } from "../../api/names.ts";
import { editByReplacing } from "../../api/patches.ts";
import { type ClusterAction, type CodedMessage, settled } from "../../api/plan.ts";
import type { PersistentVolumeClaim } from "../../api/types.ts";
import { isFault, isFinal } from "../../base/fault.ts";
import { withCode } from "../../rules/error-codes.ts";
import { cloneSource, restoreSource } from "../../rules/restore-rules.ts";
import type { CreatedVolume, CreateVolumeCall } from "./call.ts";
import { classNameOf, requestedBytes, selectedNodeOf } from "./claim.ts";
import type { Intent } from "./intent-log.ts";
import type { VolumeView } from "./observe.ts";
import { persistentVolumeOf } from "./persistent-volume.ts";
import { phaseOf } from "./phase.ts";
import {
  after,
  creationOf,
  doing,
  errorOf,
  later,
  nothing,
  type ProvisionerAction,
  type ProvisionerPlan,
  quoting,
  send,
  undoingOf,
} from "./plan-steps.ts";
import { type JudgedSource, type Prepared, prepareCreate } from "./prepare.ts";

const failed = "ProvisioningFailed";
/** How often a source is read again that cannot be watched. */
const pollMs = 15_000;

export function planVolume(view: VolumeView): ProvisionerPlan {
  const { facts } = view;
  switch (phaseOf(facts)) {
    case "stored":
      return facts.intent === undefined ? nothing : doing(settled, forget(facts.name));
    case "abandoned":
      return planAbandoned(view, facts.intent as Intent);
    case "wanted":
      return planWanted(view, facts.claim as PersistentVolumeClaim);
    default:
      return nothing;
  }
}

const forget = (name: string): ProvisionerAction => ({ kind: "forgetIntent", name });

function planWanted(view: VolumeView, claim: PersistentVolumeClaim): ProvisionerPlan {
  const { facts, memory } = view;
  const { reply } = memory;
  // A volume that could not be used is deleted: the next one is asked for after a pause.
  if (reply.kind === "deleted")
    return doing(later(memory), ...(facts.intent === undefined ? [] : [forget(facts.name)]));
  if (facts.intent !== undefined) return planSent(view, claim, facts.intent);
  if (facts.storageClass === undefined)
    return complain(view, claim, {
      kind: "wrong",
      code: "SNAP-331",
      message: withCode(`StorageClass ${classNameOf(claim)} does not exist: create it`, "SNAP-331"),
    });
  if (facts.source.kind === "snapshot" && facts.source.isUnread)
    return doing(settled, { kind: "readSnapshot", key: facts.source.key });
  const prepared = prepareCreate({
    ...facts,
    claim,
    storageClass: facts.storageClass,
    source: judgedSource(view, claim),
  });
  if (prepared.kind !== "call") return complain(view, claim, prepared);
  const intent = intentFor(view, claim, prepared);
  // The last attempt ended without a volume, or was never sent: it is repeated when the reply has expired.
  if (reply.kind === "failed" || reply.kind === "unsent") return planFailed(view, claim, prepared.call);
  return doing(settled, send(creationOf(facts.name), prepared.call, { kind: "logIntent", name: facts.name, intent }));
}

/** CreateVolume may have been sent with these arguments: it is repeated with the same until its outcome is known. */
function planSent(view: VolumeView, claim: PersistentVolumeClaim, intent: Intent): ProvisionerPlan {
  const { facts, memory } = view;
  const { reply } = memory;
  if (reply.kind === "created") return planCreated(view, claim, intent, reply.volume);
  if (reply.kind === "failed" || reply.kind === "unsent") return planFailed(view, claim, intent.call);
  return doing(settled, send(creationOf(facts.name), intent.call, { kind: "logIntent", name: facts.name, intent }));
}

function planCreated(
  view: VolumeView,
  claim: PersistentVolumeClaim,
  intent: Intent,
  created: CreatedVolume,
): ProvisionerPlan {
  const { facts, memory } = view;
  const problem = unusable(intent.call, created, facts.driver.name);
  if (problem !== undefined)
    return doing(
      settled,
      errorOf(claim, failed, problem),
      send(undoingOf(facts.name), deleteCallFor(intent, created), ...confirmedGone(view)),
    );
  const object = persistentVolumeOf({
    claim,
    storageClass: {
      ...(intent.reclaimPolicy === undefined ? {} : { reclaimPolicy: intent.reclaimPolicy }),
      ...(intent.mountOptions === undefined ? {} : { mountOptions: [...intent.mountOptions] }),
    },
    driver: facts.driver.name,
    identity: memory.identity,
    call: intent.call,
    created,
    secrets: intent.secrets,
    controllerPublishReadonly: facts.options.controllerPublishReadonly,
  });
  return doing(
    settled,
    { kind: "create", ref: { kind: "PersistentVolume", name: facts.name }, object },
    {
      kind: "event",
      about: claim,
      event: {
        type: "Normal",
        reason: "ProvisioningSucceeded",
        message: withCode(`Successfully provisioned volume ${facts.name}`, "SNAP-391"),
      },
    },
    { kind: "count", what: "created", about: claim },
  );
}

/** Why a volume must not be given to the claim. */
function unusable(call: CreateVolumeCall, created: CreatedVolume, driver: string): CodedMessage | undefined {
  if (created.bytes > 0n && created.bytes < BigInt(call.bytes))
    return withCode(
      `driver ${driver} created a volume of ${created.bytes} bytes where ${call.bytes} were requested: the volume is deleted`,
      "SNAP-342",
    );
  const { source } = call;
  if (source === undefined) return undefined;
  const isSame = created.source?.kind === source.kind && created.source.handle === source.handle;
  return isSame
    ? undefined
    : withCode(
        `driver ${driver} did not confirm that the volume was made from ${source.kind} "${source.handle}", so the volume may be empty: it is deleted`,
        "SNAP-343",
      );
}

function planFailed(view: VolumeView, claim: PersistentVolumeClaim, call: CreateVolumeCall): ProvisionerPlan {
  const { facts, memory } = view;
  const { reply } = memory;
  if (reply.kind !== "failed" && reply.kind !== "unsent") return nothing;
  const { fault } = reply;
  // The volume is still there, so its intent stays; the call that creates it tells its id again.
  if (memory.isUndoing)
    return doing(
      later(memory),
      errorOf(
        claim,
        failed,
        quoting(`driver ${facts.driver.name} cannot delete volume ${facts.name}`, fault, "SNAP-351"),
      ),
    );
  const message =
    reply.kind === "unsent"
      ? withCode(fault.message, "SNAP-338")
      : quoting(
          `driver ${facts.driver.name} cannot create volume ${facts.name}`,
          fault,
          isFault(fault, "MalformedReply") ? "SNAP-344" : "SNAP-341",
        );
  const isOver = reply.kind === "failed" && isFinal(fault);
  const over = isOver && facts.intent !== undefined ? [forget(facts.name)] : [];
  const error = errorOf(claim, failed, message);
  const noRoom = reply.kind === "failed" && isFault(fault, "ResourceExhausted");
  if (noRoom && call.topology !== undefined && selectedNodeOf(claim) !== undefined)
    return doing(later(memory), error, forget(facts.name), ...withoutNode(claim));
  return doing(later(memory), error, ...over);
}

/** The scheduler selects a node again. */
const withoutNode = (claim: PersistentVolumeClaim): readonly ClusterAction[] =>
  editByReplacing("PersistentVolumeClaim", claim, { annotations: { [provisioning.selectedNode]: undefined } });

function complain(
  { facts, memory }: VolumeView,
  claim: PersistentVolumeClaim,
  problem: Exclude<Prepared, { kind: "call" }>,
): ProvisionerPlan {
  const error = errorOf(claim, failed, problem.message);
  if (problem.kind === "reschedule") return doing(settled, error, ...withoutNode(claim));
  const isPolled = facts.source.kind === "snapshot" && !memory.watchesSnapshots;
  return doing(isPolled ? after(pollMs) : settled, error);
}

function judgedSource({ facts }: VolumeView, claim: PersistentVolumeClaim): JudgedSource {
  const { source, driver, options, intent } = facts;
  const bytes = requestedBytes(claim) ?? 0n;
  const isStarted = intent !== undefined;
  switch (source.kind) {
    case "snapshot":
      return restoreSource({
        claim,
        requestedBytes: bytes,
        driver: driver.name,
        snapshotKey: source.key,
        snapshot: source.snapshot,
        content: source.content,
        isStarted,
        preventsModeChange: options.preventVolumeModeConversion,
      });
    case "claim":
      return cloneSource({
        claim,
        requestedBytes: bytes,
        driver: driver.name,
        sourceKey: source.key,
        source: source.claim,
        volume: source.volume,
        isStarted,
      });
    case "otherNamespace":
      return {
        kind: "wrong",
        code: "SNAP-336",
        message: withCode(
          `spec.dataSourceRef.namespace is ${source.namespace}: restores from other namespaces are off, and the claim is not filled with an empty volume instead`,
          "SNAP-336",
        ),
      };
    case "nameless":
      return { kind: "wrong", code: "SNAP-133", message: withCode("spec.dataSource has no name", "SNAP-133") };
    default:
      return { kind: "none" };
  }
}

function intentFor(
  { facts }: VolumeView,
  claim: PersistentVolumeClaim,
  { call, secrets }: Extract<Prepared, { kind: "call" }>,
): Intent {
  const { namespace = "", name, uid } = claim.metadata;
  const { reclaimPolicy, mountOptions } = facts.storageClass ?? {};
  return {
    claim: { namespace, name, uid },
    call,
    secrets,
    ...(reclaimPolicy === undefined ? {} : { reclaimPolicy }),
    ...(mountOptions === undefined ? {} : { mountOptions }),
    ...(facts.source.kind === "snapshot" ? { snapshotKey: facts.source.key } : {}),
  };
}

/** The claim is gone, or has another volume. The same call tells the id of what may have been created; then it is deleted. */
function planAbandoned(view: VolumeView, intent: Intent): ProvisionerPlan {
  const { facts, memory } = view;
  const { reply } = memory;
  switch (reply.kind) {
    case "deleted":
      return doing(settled, forget(facts.name));
    case "created":
      return doing(settled, send(undoingOf(facts.name), deleteCallFor(intent, reply.volume), ...confirmedGone(view)));
    case "failed":
      // A final refusal of CreateVolume: there is no volume of this name.
      return isFinal(reply.fault) && !memory.isUndoing ? doing(settled, forget(facts.name)) : doing(later(memory));
    case "unsent":
      return doing(later(memory));
    default:
      return doing(settled, send(creationOf(facts.name), intent.call, { kind: "logIntent", name: facts.name, intent }));
  }
}

const deleteCallFor = ({ call: { secret } }: Intent, { id }: CreatedVolume) => ({
  method: "delete" as const,
  volumeId: id,
  ...(secret === undefined ? {} : { secret }),
});

/** A cache may be behind: a volume that somebody can use is never deleted. */
const confirmedGone = ({ facts }: VolumeView): readonly ClusterAction[] => [
  { kind: "confirm", ref: { kind: "PersistentVolume", name: facts.name }, resourceVersion: undefined },
];
