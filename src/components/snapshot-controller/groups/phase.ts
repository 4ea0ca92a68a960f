/**
 * Where a group is in its life, by what the caches show and nothing else.
 *
 *   unbound ──▶ taking ──▶ joining ──▶ unready ──▶ ready      deleting ──▶ (gone)
 *      └─ invalid ┘                                              ▲ from any phase
 *
 * unbound: the content can be created, with the list of volumes, or an existing content can be bound.
 * taking:  the content exists, and the driver has not answered with one snapshot of each volume.
 * joining: members lack a snapshot, a content, or a content's status.
 * unready: all members exist, and one of them or the group is not ready.
 * ready:   the user has seen the group ready, or sees it next. It stays so.
 * invalid: a rule is broken.
 */
import type { VolumeGroupSnapshotContent } from "../../../api/types.ts";
import { groupContentSourceOf, membersOf } from "../../../rules/group-members.ts";
import { firstViolation } from "../../../rules/violation.ts";
import type { GroupFacts, Member } from "./observe.ts";
import { type GroupViolation, groupBindingRules, groupCreationRules } from "./rules.ts";

export const groupPhases = ["deleting", "invalid", "unbound", "taking", "joining", "unready", "ready"] as const;
export type GroupPhase = (typeof groupPhases)[number];

export type GroupState =
  | { readonly phase: "deleting" }
  | { readonly phase: "invalid"; readonly violation: GroupViolation }
  | { readonly phase: "unbound"; readonly content: VolumeGroupSnapshotContent | undefined }
  | { readonly phase: "taking" | "joining" | "unready" | "ready"; readonly content: VolumeGroupSnapshotContent };

export function groupStateOf(facts: GroupFacts): GroupState {
  const { group, content, members } = facts;
  if (group.metadata.deletionTimestamp !== undefined) return { phase: "deleting" };
  const violation = firstViolation(
    content === undefined ? [...groupBindingRules, ...groupCreationRules] : groupBindingRules,
    facts,
  );
  if (violation !== undefined) return { phase: "invalid", violation };
  if (content === undefined || content.spec.volumeGroupSnapshotRef.uid !== group.metadata.uid)
    return { phase: "unbound", content };
  if (!isAnswered(content)) return { phase: "taking", content };
  if (!members.every(isJoined(content))) return { phase: "joining", content };
  const isReady =
    content.status?.readyToUse === true && members.every(({ snapshot }) => snapshot?.status?.readyToUse === true);
  return { phase: isReady || group.status?.readyToUse === true ? "ready" : "unready", content };
}

/** The driver has answered one snapshot of each volume, no more and no fewer. Other sidecars store whatever it answers. */
export function isAnswered(content: VolumeGroupSnapshotContent): boolean {
  if (!content.status?.volumeGroupSnapshotHandle) return false;
  const source = groupContentSourceOf(content);
  if (source.kind !== "volumes") return source.kind === "group";
  const answered = membersOf(content).filter(({ snapshotHandle }) => Boolean(snapshotHandle));
  const volumes = new Set(answered.map(({ volumeHandle }) => volumeHandle));
  const handles = new Set(answered.map(({ snapshotHandle }) => snapshotHandle));
  return (
    answered.length === source.handles.length &&
    handles.size === answered.length &&
    source.handles.every((handle) => volumes.has(handle))
  );
}

/** Whether the member is ready by the list; a list of v1beta1 says so of the group only. */
export const isReadyByList = (content: VolumeGroupSnapshotContent, { info }: Pick<Member, "info">): boolean =>
  info.readyToUse ?? content.status?.readyToUse === true;

const isJoined =
  (group: VolumeGroupSnapshotContent) =>
  ({ snapshot, content, info }: Member): boolean =>
    snapshot !== undefined &&
    content !== undefined &&
    content.spec.volumeSnapshotRef.uid === snapshot.metadata.uid &&
    content.status?.snapshotHandle !== undefined &&
    (content.status.readyToUse === true || !isReadyByList(group, { info }));

export const groupPhaseOf = (facts: GroupFacts): GroupPhase => groupStateOf(facts).phase;
