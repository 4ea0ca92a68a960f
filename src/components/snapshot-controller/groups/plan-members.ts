/**
 * The members of a group that the driver has taken. Each is a VolumeSnapshot, named and owned as upstream does, and a content that knows
 * its uid from the start. Everything is derived from the content's list, so a crash between two writes loses nothing, and no
 * CreateSnapshot is ever sent: the content says which group its snapshot belongs to.
 *
 * The snapshot's own plan writes its status, when its content has one.
 */
import { draftOf } from "../../../api/builders.ts";
import { apiVersionOf } from "../../../api/kinds.ts";
import { annotations, finalizers } from "../../../api/names.ts";
import { edit, patchStatus } from "../../../api/patches.ts";
import type { ClusterAction } from "../../../api/plan.ts";
import type { Draft, VolumeGroupSnapshotContent, VolumeSnapshot, VolumeSnapshotContent } from "../../../api/types.ts";
import type { JsonObject } from "../../../base/json.ts";
import { type ControllerPlan, doing } from "../plan-steps.ts";
import { why } from "../reasons.ts";
import type { GroupFacts, Member } from "./observe.ts";
import { isReadyByList } from "./phase.ts";

/** In steps over all members: the uid of a snapshot is known when it exists. Undefined: nothing is to be written. */
export function planMembers(facts: GroupFacts, group: VolumeGroupSnapshotContent): ControllerPlan | undefined {
  const { members } = facts;
  const snapshots = members
    .filter(({ snapshot }) => snapshot === undefined)
    .map((member) => createOf("VolumeSnapshot", snapshotFor(facts, group, member)));
  if (snapshots.length > 0)
    return doing(why("Writes", `${snapshots.length} members of the group get their VolumeSnapshot`), snapshots);
  const contents = members.flatMap((member) => contentWrites(facts, group, member));
  if (contents.length > 0)
    return doing(why("Writes", "members of the group get their VolumeSnapshotContent"), contents);
  const statuses = members.flatMap((member) => statusWrites(group, member));
  return statuses.length > 0 ? doing(why("Writes", "contents of members get their status"), statuses) : undefined;
}

const createOf = (kind: "VolumeSnapshot" | "VolumeSnapshotContent", object: Draft): ClusterAction => ({
  kind: "create",
  ref: { kind, namespace: object.metadata.namespace, name: object.metadata.name ?? "" },
  object,
});

function snapshotFor(
  { group: { metadata } }: GroupFacts,
  { spec }: VolumeGroupSnapshotContent,
  { names, source }: Member,
): Draft<VolumeSnapshot> {
  const owner = {
    apiVersion: apiVersionOf("VolumeGroupSnapshot"),
    kind: "VolumeGroupSnapshot",
    name: metadata.name,
    uid: metadata.uid,
  };
  return draftOf(
    "VolumeSnapshot",
    {
      name: names.snapshot,
      namespace: metadata.namespace ?? "",
      ownerReferences: [owner],
      finalizers: [
        finalizers.snapshotInGroup,
        finalizers.snapshotAsSource,
        ...(spec.deletionPolicy === "Delete" ? [finalizers.snapshotBound] : []),
      ],
    },
    { spec: { source: { persistentVolumeClaimName: source.claim } } },
  );
}

function contentWrites(facts: GroupFacts, group: VolumeGroupSnapshotContent, member: Member): readonly ClusterAction[] {
  const { snapshot, content } = member;
  if (snapshot === undefined) return [];
  if (content === undefined) return [createOf("VolumeSnapshotContent", contentFor(facts, group, member, snapshot))];
  const { volumeSnapshotRef: ref } = content.spec;
  // Upstream's controller creates a content before its snapshot, and writes the uid later.
  const isUnbound = !ref.uid && ref.name === snapshot.metadata.name && ref.namespace === snapshot.metadata.namespace;
  return isUnbound
    ? edit("VolumeSnapshotContent", content, {
        addFinalizers: content.metadata.deletionTimestamp === undefined ? [finalizers.contentBound] : [],
        spec: { volumeSnapshotRef: { ...ref, uid: snapshot.metadata.uid } } as unknown as JsonObject,
      })
    : [];
}

function contentFor(
  { keepsVolumeMode }: GroupFacts,
  { spec, status }: VolumeGroupSnapshotContent,
  { info, names, source }: Member,
  { metadata }: VolumeSnapshot,
): Draft<VolumeSnapshotContent> {
  return draftOf(
    "VolumeSnapshotContent",
    {
      name: names.content,
      finalizers: [finalizers.contentBound],
      annotations: { [annotations.groupSnapshotHandle]: status?.volumeGroupSnapshotHandle ?? "" },
    },
    {
      spec: {
        volumeSnapshotRef: {
          apiVersion: apiVersionOf("VolumeSnapshot"),
          kind: "VolumeSnapshot",
          namespace: metadata.namespace ?? "",
          name: metadata.name,
          uid: metadata.uid,
        },
        source: { volumeHandle: info.volumeHandle ?? "" },
        deletionPolicy: spec.deletionPolicy,
        driver: spec.driver,
        ...(source.mode === undefined || !keepsVolumeMode ? {} : { sourceVolumeMode: source.mode }),
      },
    },
  );
}

/** Handle, time and size are written once; readiness never becomes false again. */
function statusWrites(group: VolumeGroupSnapshotContent, member: Member): readonly ClusterAction[] {
  const { content, info } = member;
  if (content === undefined || content.status?.readyToUse === true) return [];
  const old = content.status ?? {};
  const wanted = {
    ...old,
    snapshotHandle: old.snapshotHandle ?? info.snapshotHandle,
    volumeGroupSnapshotHandle: old.volumeGroupSnapshotHandle ?? group.status?.volumeGroupSnapshotHandle,
    readyToUse: isReadyByList(group, member),
    ...(info.creationTime === undefined ? {} : { creationTime: old.creationTime ?? info.creationTime }),
    ...(info.restoreSize === undefined ? {} : { restoreSize: info.restoreSize }),
  };
  return patchStatus(
    "VolumeSnapshotContent",
    content,
    content.status as JsonObject | undefined,
    wanted as unknown as JsonObject,
  );
}
