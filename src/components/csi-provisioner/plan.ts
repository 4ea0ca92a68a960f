/** What to do about one volume that a claim wants, or that a CreateVolume call may have made. */
import { refOf } from "../../api/builders.ts";
import { provisioning } from "../../api/names.ts";
import { editByReplacing } from "../../api/patches.ts";
import { type ClusterAction, type CodedMessage, settled } from "../../api/plan.ts";
import type { PersistentVolumeClaim } from "../../api/types.ts";
import type { Key } from "../../base/brand.ts";
import { type Fault, isFault } from "../../base/fault.ts";
import type { NamedSource } from "../../rules/data-source.ts";
import { type ErrorCode, withCode } from "../../rules/error-codes.ts";
import { denialOf } from "../../rules/source-access.ts";
import type { CreatedVolume, VolumeCall } from "./call.ts";
import { selectedNodeOf } from "./claim.ts";
import type { Intent } from "./intent.ts";
import type { VolumeView } from "./observe.ts";
import { persistentVolumeOf } from "./persistent-volume.ts";
import { phaseOf } from "./phase.ts";
import { planAbandoned, undo } from "./plan-abandoned.ts";
import {
  after,
  creationOf,
  doing,
  type ErrorAction,
  errorOf,
  forget,
  isRefusal,
  type LogAction,
  later,
  nothing,
  type ProvisionerAction,
  type ProvisionerPlan,
  pause,
  quoting,
  send,
  sooner,
  strayOf,
} from "./plan-steps.ts";
import { type Request, requestOf, unlinked } from "./request.ts";
import { judge } from "./stored-calls.ts";
import { unusable } from "./unusable.ts";

const failed = "ProvisioningFailed";
/** How often something is looked at again whose changes cannot be seen. */
const pollMs = 5_000;

export function planVolume(view: VolumeView): ProvisionerPlan {
  const { actions, next } = planFor(view);
  const stray = planStray(view);
  if (stray === undefined) return { actions, next };
  return { actions: [...stray.actions, ...actions], next: sooner(next, stray.next) };
}

function planFor(view: VolumeView): ProvisionerPlan {
  const { facts } = view;
  switch (phaseOf(facts)) {
    case "stored":
      return facts.intent === undefined ? nothing : doing(settled, forget(facts.name));
    case "abandoned":
      return planAbandoned(view, facts.intent as Intent);
    case "untaken":
      return planUntaken(view, facts.claim as PersistentVolumeClaim);
    case "wanted":
      return planWanted(view, facts.claim as PersistentVolumeClaim);
    default:
      return nothing;
  }
}

/** A driver that answers another id when a call is repeated leaves a volume behind that only we know of: it is deleted. */
function planStray({ facts, memory }: VolumeView): ProvisionerPlan | undefined {
  const { name, claim, driver, intent } = facts;
  const { stray } = memory;
  if (stray === undefined) return undefined;
  if (stray.reply.kind === "deleted" || facts.isStrayHeld === true)
    return doing(settled, { kind: "forgetStray", name });
  if (stray.reply.kind !== "none") return doing(later(stray));
  const message = `driver ${driver.name} answered volume "${stray.id}" first and another one later, when CreateVolume was repeated for ${name}: the first is deleted`;
  const secret = (memory.repliedTo ?? intent?.call)?.secret;
  return doing(
    settled,
    ...(claim === undefined ? [] : [errorOf(claim, failed, withCode(message, "SNAP-347"))]),
    send(
      strayOf(name, stray.id),
      { method: "delete", volumeId: stray.id, ...(secret === undefined ? {} : { secret }) },
      // A cache may be behind: the volume may be stored under the first id.
      ...(facts.volume === undefined
        ? [{ kind: "confirm", ref: { kind: "PersistentVolume", name }, resourceVersion: undefined } as const]
        : []),
    ),
  );
}

/** One provisioner runs on each node, and any of them may take the claim: it does so by selecting its node. */
function planUntaken({ facts, memory }: VolumeView, claim: PersistentVolumeClaim): ProvisionerPlan {
  const { name, options } = facts;
  const node = options.ownNode?.name ?? "";
  const annotations = { ...claim.metadata.annotations, [provisioning.selectedNode]: node };
  const request = requestOf(facts, { ...claim, metadata: { ...claim.metadata, annotations } });
  // Not ours to take, and not ours to complain about: another node may fit.
  if (request.kind === "reschedule" || (request.kind === "wrong" && request.code === "SNAP-337")) return nothing;
  if (memory.takeInMs === undefined) return doing(settled, { kind: "delayTaking", name });
  if (memory.takeInMs > 0) return doing(after(memory.takeInMs));
  if (request.kind === "unread") return doing(settled, request.read);
  const [replace] = editByReplacing("PersistentVolumeClaim", claim, {
    annotations: { [provisioning.selectedNode]: node },
  });
  if (replace?.kind !== "replace") return nothing;
  const call = request.kind === "intent" ? request.intent.call : undefined;
  return doing(settled, { kind: "take", name, claim: replace, call });
}

function planWanted(view: VolumeView, claim: PersistentVolumeClaim): ProvisionerPlan {
  const { facts, memory } = view;
  const { reply } = memory;
  if (memory.pauseMs > 0) return doing(after(memory.pauseMs));
  // The claim is open again, or the owner of its source consents again: what was given up goes first.
  if (facts.intent?.undoes !== undefined && !memory.isAdopted) return planAbandoned(view, facts.intent);
  const denial = deniedIn(view);
  if (denial !== undefined) return planDenied(view, claim, denial);
  // A volume that could not be used is deleted: the next one is asked for after a pause.
  if (reply.kind === "deleted") return doing(settled, pause(facts.name, true));
  if (facts.intent === undefined) return planUnsent(view, claim);
  if (memory.isAdopted) return planAdopted(view, claim, facts.intent);
  if (reply.kind === "created") return planCreated(view, claim, facts.intent, reply.volume);
  if (reply.kind === "failed" || reply.kind === "unsent") return planFailed(view, claim, reply.fault);
  // CreateVolume may have been sent with these arguments: it is repeated with the same until its outcome is known.
  return doing(settled, sendCreation(view, facts.intent));
}

/**
 * The owner of the source does not consent, or not any more. A volume that was created while there was consent is published; what a call
 * of unknown outcome may have created is not.
 */
function deniedIn(view: VolumeView): CodedMessage | undefined {
  const { facts, memory } = view;
  const { source, intent } = facts;
  if (!("access" in source)) return deniedOnTheWay(view);
  if (source.access.kind === "none") return undefined;
  if (memory.reply.kind === "created" && !memory.isLearning && intent?.call.consent !== undefined) return undefined;
  if (source.access.kind === "denied") return denialOf(source.named, source.access).message;
  const isAsked = intent === undefined || intent.call.consent !== undefined;
  return memory.reply.kind === "denied" || memory.isLearning || !isAsked ? uniformDenial(source.named) : undefined;
}

/** The call was stored when its source was named by a link that cannot be followed any more. */
function deniedOnTheWay({ facts: { source, intent }, memory }: VolumeView): CodedMessage | undefined {
  const { consent } = intent?.call ?? {};
  if (consent === undefined || (memory.reply.kind !== "denied" && !memory.isLearning)) return undefined;
  if (source.kind === "unlinked") return unlinked(source).message;
  const { namespace, name } = consent.to;
  return denialOf({ kind: "snapshot", namespace, name, referrer: consent.from }, { kind: "denied", why: "off" })
    .message;
}

/** Nothing is sent without consent, except to learn the id of a volume that may exist, which is then deleted. */
function planDenied(view: VolumeView, claim: PersistentVolumeClaim, message: CodedMessage): ProvisionerPlan {
  const { facts, memory } = view;
  // A denial of the server counts as an attempt that failed already.
  const error = { ...errorOf(claim, failed, message), isFailure: memory.reply.kind !== "denied" };
  const next = isUnreadable(facts.source) ? sooner(later(memory), after(pollMs)) : later(memory);
  if (facts.intent === undefined) return doing(next, error);
  if (!memory.isUncertain) return doing(next, error, forget(facts.name));
  const { actions, next: rest } = planAbandoned(view, facts.intent);
  return doing(rest, error, ...actions);
}

/** Grants cannot be read: each look at the claim has them looked for again. */
const isUnreadable = (source: VolumeView["facts"]["source"]): boolean =>
  "access" in source && source.access.kind === "denied" && source.access.why === "unreadable";

/** Nothing was sent, or the driver has refused it. */
function planUnsent(view: VolumeView, claim: PersistentVolumeClaim): ProvisionerPlan {
  const { facts, memory } = view;
  const request = requestOf(facts, claim);
  if (request.kind !== "intent") return planUnready(view, claim, request);
  const { reply } = memory;
  const isFailed = reply.kind === "failed" || reply.kind === "unsent";
  // What the driver has refused is repeated after a while; what is asked for otherwise now is sent at once.
  if (isFailed && isSameCall(memory.repliedTo, request.intent.call)) return planFailed(view, claim, reply.fault);
  return doing(settled, sendCreation(view, request.intent, confirmationOf(view, claim)));
}

/**
 * Another process has stored the call: the claim is served as it asks to be now, under the same name. What cannot be asked for any more
 * is undone.
 */
function planAdopted(view: VolumeView, claim: PersistentVolumeClaim, stored: Intent): ProvisionerPlan {
  const { facts } = view;
  const request = requestOf(facts, claim);
  if (request.kind !== "intent") {
    const unready = planUnready(view, claim, request);
    if (request.kind !== "wrong") return unready;
    const { actions, next } = planAbandoned(view, stored);
    return doing(sooner(unready.next, next), ...unready.actions, ...actions);
  }
  const { intent, differences } = judge(stored, request.intent);
  const creation = sendCreation(view, intent);
  return differences.length === 0
    ? doing(settled, creation)
    : doing(settled, reportOther(view, claim, differences), creation);
}

/** Names no values: whoever may read the claim's events need not be who may see them. */
function reportOther(
  { facts }: VolumeView,
  claim: PersistentVolumeClaim,
  differences: readonly string[],
): ProvisionerAction {
  const text = `a stored CreateVolume call for ${facts.name} says otherwise than the claim, its StorageClass and its source do now (${differences.join(", ")}): it is not carried out, and the volume is asked for as they say; if nobody has changed them, look who has written the Lease of stored calls`;
  return {
    kind: "reportCall",
    volume: facts.name,
    about: claim,
    reason: "StoredCallDiffers",
    message: withCode(text, "SNAP-350"),
  };
}

/** By a question, not by an earlier reply: the cache may have that very version, and the claim may be gone since. */
const confirmationOf = ({ memory }: VolumeView, claim: PersistentVolumeClaim): readonly ClusterAction[] =>
  memory.isUnconfirmed
    ? [
        {
          kind: "confirm",
          ref: refOf("PersistentVolumeClaim", claim),
          resourceVersion: claim.metadata.resourceVersion,
        },
      ]
    : [];

const isSameCall = (a: VolumeCall | undefined, b: VolumeCall): boolean => JSON.stringify(a) === JSON.stringify(b);

function sendCreation(
  { facts, memory }: VolumeView,
  intent: Intent,
  first: readonly ClusterAction[] = [],
): ProvisionerAction {
  const { name, source } = facts;
  const protects = source.kind === "claim" || (source.kind === "snapshot" && memory.protectsSnapshots);
  const protect: readonly LogAction[] = protects
    ? [
        {
          kind: "protectSource",
          source: { kind: source.kind, key: source.key },
          // A call that this process has not made proves nothing: somebody else may have written it.
          isRequired: (facts.intent === undefined || memory.isAdopted) && isOfAnotherNamespace(source.key, intent),
        },
      ]
    : [];
  return send(creationOf(name), intent.call, ...first, ...protect, { kind: "logIntent", name, intent, from: "claim" });
}

/** The snapshot-controller keeps a snapshot for claims of its namespace; for others only while it has the finalizer. */
const isOfAnotherNamespace = (source: Key, { claim }: Intent): boolean => !source.startsWith(`${claim.namespace}/`);

function planCreated(
  view: VolumeView,
  claim: PersistentVolumeClaim,
  intent: Intent,
  created: CreatedVolume,
): ProvisionerPlan {
  const { facts, memory } = view;
  const { name, holder } = facts;
  const driver = facts.driver.name;
  if (holder !== undefined) {
    const message = `driver ${driver} answered with volume "${created.id}", which belongs to PersistentVolume ${holder}: it is neither used nor deleted`;
    return doing(settled, errorOf(claim, failed, withCode(message, "SNAP-346")), pause(name, true));
  }
  const problem = unusable(intent.call, created, driver);
  if (problem !== undefined) {
    const error = errorOf(claim, failed, problem);
    return memory.lateVolumeMs > 0
      ? doing(after(memory.lateVolumeMs), error)
      : doing(settled, error, undo(view, intent, created));
  }
  const object = persistentVolumeOf({
    claim,
    storageClass: {
      ...(intent.reclaimPolicy === undefined ? {} : { reclaimPolicy: intent.reclaimPolicy }),
      ...(intent.mountOptions === undefined ? {} : { mountOptions: [...intent.mountOptions] }),
    },
    driver,
    identity: memory.identity,
    call: intent.call,
    created,
    secrets: intent.secrets,
    attributesClass: intent.attributesClass,
    controllerPublishReadonly: facts.options.controllerPublishReadonly,
  });
  const message = withCode(`Successfully provisioned volume ${name}`, "SNAP-391");
  return doing(
    settled,
    { kind: "publishing", name, id: created.id },
    { kind: "create", ref: { kind: "PersistentVolume", name }, object },
    { kind: "event", about: claim, event: { type: "Normal", reason: "ProvisioningSucceeded", message } },
    { kind: "count", what: "created", about: claim, uid: name },
  );
}

function planFailed(view: VolumeView, claim: PersistentVolumeClaim, fault: Fault): ProvisionerPlan {
  const { facts, memory } = view;
  const { name, driver, intent } = facts;
  // The volume is still there, so its intent stays; the call that creates it tells its id again.
  if (memory.isUndoing) {
    const message = quoting(`driver ${driver.name} cannot delete volume ${name}`, fault, "SNAP-351");
    return doing(settled, errorOf(claim, failed, message), pause(name, false));
  }
  const isUnsent = memory.reply.kind === "unsent";
  const code = isFault(fault, "MalformedReply") ? "SNAP-344" : "SNAP-341";
  const sentence = `driver ${driver.name} cannot create volume ${name}`;
  const error = errorOf(claim, failed, isUnsent ? withCode(fault.message, "SNAP-338") : quoting(sentence, fault, code));
  if (isUnsent || intent === undefined || !isRefusal(fault)) return doing(later(memory), error);
  if (!memory.isUncertain) return doing(later(memory), error, ...withoutRoom(view, claim, fault), forget(name));
  // There may be a volume of this name, so the intent stays. What the claim asks for now is asked for under the same name.
  const request = isFault(fault, "AlreadyExists") ? undefined : requestOf(facts, claim);
  return request?.kind === "intent" && !isSameCall(intent.call, request.intent.call)
    ? doing(settled, error, sendCreation(view, request.intent))
    : doing(later(memory), error);
}

/** There is no room for the volume where the selected node is: the scheduler selects a node again. */
const withoutRoom = ({ facts }: VolumeView, claim: PersistentVolumeClaim, fault: Fault): readonly ClusterAction[] =>
  isFault(fault, "ResourceExhausted") &&
  (facts.intent?.call.topology !== undefined || facts.options.ownNode !== undefined) &&
  selectedNodeOf(claim) !== undefined
    ? withoutNode(claim)
    : [];

const withoutNode = (claim: PersistentVolumeClaim): readonly ClusterAction[] =>
  editByReplacing("PersistentVolumeClaim", claim, { annotations: { [provisioning.selectedNode]: undefined } });

/** Rules whose remedy is on an object that is not watched: VolumeSnapshotContents, Nodes. */
const polledCodes: ReadonlySet<ErrorCode> = new Set([
  "SNAP-364",
  "SNAP-304",
  "SNAP-305",
  "SNAP-308",
  "SNAP-309",
  "SNAP-337",
  "SNAP-339",
]);

function planUnready(
  { facts, memory }: VolumeView,
  claim: PersistentVolumeClaim,
  request: Exclude<Request, { kind: "intent" }>,
): ProvisionerPlan {
  if (request.kind === "unread") return doing(settled, request.read);
  const error = disclosed(facts.source, errorOf(claim, failed, request.message));
  if (request.kind === "reschedule") return doing(settled, error, ...withoutNode(claim));
  const isUnwatched = facts.source.kind === "snapshot" && !memory.watchesSnapshots;
  return doing(isUnwatched || polledCodes.has(request.code) ? after(pollMs) : settled, error);
}

/** What is wrong with a source of another namespace is told only while there is consent, which a cache does not know for sure. */
function disclosed(source: VolumeView["facts"]["source"], error: ErrorAction): ErrorAction {
  if (!("access" in source) || source.access.kind !== "allowed") return error;
  const { from, to } = source.access;
  return { ...error, consent: { from, to, otherwise: uniformDenial(source.named) } };
}

const uniformDenial = (source: NamedSource): CodedMessage =>
  denialOf(source, { kind: "denied", why: "no grant" }).message;
