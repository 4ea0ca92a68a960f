/**
 * One group: what to write next. phase.ts shows the phases, plan-members.ts makes the members, plan-deletion.ts has the last one.
 *
 * The list of volumes is written into the content before the driver is asked, and never changes. The finalizer of the group comes before
 * its content.
 */
import { draftOf, refOf } from "../../../api/builders.ts";
import { apiVersionOf } from "../../../api/kinds.ts";
import { annotations, finalizers } from "../../../api/names.ts";
import { edit, patchStatus } from "../../../api/patches.ts";
import { type ClusterAction, settled } from "../../../api/plan.ts";
import type { Draft, VolumeGroupSnapshot, VolumeGroupSnapshotContent } from "../../../api/types.ts";
import { keyOf } from "../../../api/types.ts";
import { unreachable } from "../../../base/brand.ts";
import type { JsonObject } from "../../../base/json.ts";
import { withCode } from "../../../errors/codes.ts";
import { type GroupSource, noteOfSources } from "../../../rules/group-sources.ts";
import { groupReasons } from "../../../rules/snapshot-reasons.ts";
import { groupSecretOf } from "../../../rules/snapshotter-secrets.ts";
import { type ControllerPlan, doing } from "../plan-steps.ts";
import { type ControllerReason, why } from "../reasons.ts";
import { contentNameOfGroup, type GroupFacts, type GroupView } from "./observe.ts";
import { groupStateOf } from "./phase.ts";
import { planGroupDeletion } from "./plan-deletion.ts";
import { planMembers } from "./plan-members.ts";
import { groupErrorReport, groupEvent } from "./plan-steps.ts";
import type { GroupViolation } from "./rules.ts";
import { classOfGroup, driverOf } from "./rules.ts";

const kind = "VolumeGroupSnapshot";

export function planGroup(view: GroupView): ControllerPlan {
  const { facts } = view;
  const state = groupStateOf(facts);
  switch (state.phase) {
    case "deleting":
      return planGroupDeletion(view);
    case "invalid":
      return planError(view, state.violation);
    case "unbound":
      return state.content === undefined ? planCreation(facts) : planBinding(facts, state.content);
    case "taking":
      return planStatus(view, state.content, notTaken(state.content));
    case "joining":
      return planMembers(facts, state.content) ?? planStatus(view, state.content, unready(facts));
    case "unready":
      return planStatus(view, state.content, unready(facts));
    case "ready":
      return planStatus(view, state.content, why("Settled", "the group is ready"));
    default:
      return unreachable(state);
  }
}

function planError(view: GroupView, { code, reason: word, message, waitsFor }: GroupViolation): ControllerPlan {
  return doing(why(groupReasons[code], message, waitsFor), groupErrorReport(view, word, message));
}

/** The finalizer and a defaulted class in one patch. */
function protect(facts: GroupFacts): readonly ClusterAction[] {
  const { group, content } = facts;
  const isDefaulted =
    content === undefined &&
    group.spec.source?.selector !== undefined &&
    group.spec.volumeGroupSnapshotClassName === undefined;
  const chosen = isDefaulted ? classOfGroup(facts)?.metadata.name : undefined;
  return edit(kind, group, {
    addFinalizers: [finalizers.groupBound],
    ...(chosen === undefined ? {} : { spec: { volumeGroupSnapshotClassName: chosen } }),
  });
}

function planCreation(facts: GroupFacts): ControllerPlan {
  const { group } = facts;
  const protection = protect(facts);
  const object = contentFor(facts);
  const name = object.metadata.name ?? "";
  const message = withCode(`Waiting for a group snapshot ${keyOf(group)} to be created by the CSI driver.`, "SNAP-294");
  // A group that was ready must not be taken a second time: in an outdated list it may look as if it waited for its first content.
  const current: ClusterAction = {
    kind: "confirm",
    ref: refOf(kind, group),
    resourceVersion: group.metadata.resourceVersion,
  };
  return doing(
    why("Writes", `VolumeGroupSnapshotContent ${name} is created for ${facts.claims.length} volumes`),
    protection.length > 0 ? protection : [current],
    [
      { kind: "create", ref: { kind: "VolumeGroupSnapshotContent", name }, object },
      groupEvent(group, "Normal", "CreatingGroupSnapshot", message),
    ],
  );
}

/** Its name comes from the group's uid: creating it twice is harmless, and there is one list of volumes per group. */
function contentFor(facts: GroupFacts): Draft<VolumeGroupSnapshotContent> {
  const { group, claims } = facts;
  const chosen = classOfGroup(facts);
  if (chosen === undefined) throw new Error("a group content needs a class");
  const { name, namespace = "", uid, resourceVersion } = group.metadata;
  const contentName = contentNameOfGroup(group);
  const secret = groupSecretOf(chosen, { contentName, name, namespace });
  const sources = new Map(
    claims.map(({ claim, volume }): [string, GroupSource] => {
      const mode = volume?.spec?.volumeMode;
      const source = { claim: claim.metadata.name, ...(mode === undefined ? {} : { mode }) };
      return [volume?.spec?.csi?.volumeHandle ?? "", source];
    }),
  );
  const notes = {
    [annotations.groupSources]: noteOfSources(sources),
    ...(secret.kind === "secret" && {
      [annotations.groupDeletionSecretName]: secret.secret.name,
      [annotations.groupDeletionSecretNamespace]: secret.secret.namespace,
    }),
  };
  return draftOf(
    "VolumeGroupSnapshotContent",
    { name: contentName, finalizers: [finalizers.groupContentBound], annotations: notes },
    {
      spec: {
        volumeGroupSnapshotRef: { apiVersion: apiVersionOf(kind), kind, namespace, name, uid, resourceVersion },
        source: { volumeHandles: [...sources.keys()] },
        volumeGroupSnapshotClassName: chosen.metadata.name,
        deletionPolicy: chosen.deletionPolicy,
        driver: driverOf(facts),
      },
    },
  );
}

/** The uid and class of the group are written into a pre-provisioned content; nothing else of its spec changes. */
function planBinding(facts: GroupFacts, content: VolumeGroupSnapshotContent): ControllerPlan {
  const { group } = facts;
  const volumeGroupSnapshotRef = { ...content.spec.volumeGroupSnapshotRef, uid: group.metadata.uid };
  const className = content.spec.volumeGroupSnapshotClassName ?? group.spec.volumeGroupSnapshotClassName;
  const spec = {
    volumeGroupSnapshotRef,
    ...(className === undefined ? {} : { volumeGroupSnapshotClassName: className }),
  };
  const addFinalizers = content.metadata.deletionTimestamp === undefined ? [finalizers.groupContentBound] : [];
  return doing(
    why("Writes", `VolumeGroupSnapshotContent ${content.metadata.name} gets the uid of the group`),
    protect(facts),
    edit("VolumeGroupSnapshotContent", content, { addFinalizers, spec: spec as unknown as JsonObject }),
  );
}

function planStatus(view: GroupView, content: VolumeGroupSnapshotContent, reason: ControllerReason): ControllerPlan {
  const { facts } = view;
  const { group } = facts;
  const protection = protect(facts);
  // One write now, the other in the next reconcile: the patch changes the version that guards the status.
  if (protection.length > 0) return doing(why("Writes", "the group gets our finalizer"), protection);
  const { error: _old, ...old } = group.status ?? {};
  const said = content.status ?? {};
  const readyToUse = groupStateOf(facts).phase === "ready";
  const error = readyToUse || said.error === undefined ? undefined : sameError(group, said.error);
  const wanted = {
    ...old,
    boundVolumeGroupSnapshotContentName: content.metadata.name,
    readyToUse,
    ...(said.creationTime === undefined ? {} : { creationTime: old.creationTime ?? said.creationTime }),
    ...(error === undefined ? {} : { error }),
  };
  const write = patchStatus(kind, group, group.status as JsonObject | undefined, wanted as unknown as JsonObject);
  const isNews = readyToUse && group.status?.readyToUse !== true;
  const message = withCode(`Group snapshot ${keyOf(group)} is ready to use.`, "SNAP-295");
  const plan = doing(reason, write, isNews ? [groupEvent(group, "Normal", "GroupSnapshotReady", message)] : []);
  return { ...plan, next: settled };
}

const sameError = ({ status }: VolumeGroupSnapshot, said: { readonly message?: string; readonly time?: string }) =>
  status?.error?.message === said.message ? status?.error : said;

function notTaken({ metadata, spec, status }: VolumeGroupSnapshotContent): ControllerReason {
  const ref = { kind: "VolumeGroupSnapshotContent", name: metadata.name } as const;
  const says =
    status?.error?.message ??
    `csi-snapshotter of driver ${spec.driver} has not stored a snapshot of each volume of VolumeGroupSnapshotContent ${metadata.name}`;
  return why(status?.error === undefined ? "WaitsForSidecar" : "DriverFailed", says, [ref]);
}

function unready({ content, members }: GroupFacts): ControllerReason {
  const waiting = members.filter(({ snapshot }) => snapshot?.status?.readyToUse !== true).length;
  const says =
    waiting === 0
      ? `driver ${content?.spec.driver} has taken the group, and it is not ready`
      : `${waiting} of ${members.length} members are not ready`;
  return why("WaitsForDriver", says);
}
