/** The claims that `restore vgs/NAME` creates, one per member, or what stands in the way of all of them. Pure. */
import type { CodedMessage } from "../../api/plan.ts";
import type { VolumeGroupSnapshot, VolumeSnapshot } from "../../api/types.ts";
import { fix, withCode } from "../../errors/codes.ts";
import { ownerGroupOf } from "../../rules/group-members.ts";
import { planRestore, type RestoreObjects, type RestorePlan, type RestoreWishes } from "./claim-draft.ts";

export interface MemberRead {
  readonly wishes: RestoreWishes;
  readonly read: RestoreObjects;
}

export type GroupDecision = { readonly plans: readonly RestorePlan[] } | { readonly refused: CodedMessage };

const refused = (group: VolumeGroupSnapshot["metadata"], problem: string): { readonly refused: CodedMessage } => ({
  refused: withCode(`VolumeGroupSnapshot ${group.namespace}/${group.name} ${problem}; ${fix("SNAP-879")}`, "SNAP-879"),
});

/** A member says which group owns it, or, where a user created it for a pre-provisioned group, which one it was taken with. */
export const isMemberOf =
  ({ metadata }: VolumeGroupSnapshot) =>
  (snapshot: VolumeSnapshot): boolean =>
    ownerGroupOf(snapshot)?.uid === metadata.uid || snapshot.status?.volumeGroupSnapshotName === metadata.name;

const tokens = /\{(claim|group|snapshot)\}/g;
export const claimNameFor = (template: string, group: string, { metadata, spec }: VolumeSnapshot): string =>
  template.replace(
    tokens,
    (_match, token: "claim" | "group" | "snapshot") =>
      ({ claim: spec.source.persistentVolumeClaimName ?? metadata.name, group, snapshot: metadata.name })[token],
  );

/** Undefined: nothing about the group itself stands in the way. */
export function groupRefusal(
  group: VolumeGroupSnapshot,
  members: readonly VolumeSnapshot[],
): { readonly refused: CodedMessage } | undefined {
  const { metadata, status } = group;
  if (metadata.deletionTimestamp !== undefined) return refused(metadata, "is being deleted");
  if (status?.readyToUse !== true)
    return refused(metadata, `is not ready${status?.error?.message ? `: ${status.error.message}` : ""}`);
  return members.length === 0 ? refused(metadata, "has no members in its namespace") : undefined;
}

export function planGroupRestore(group: VolumeGroupSnapshot, members: readonly MemberRead[]): GroupDecision {
  const names = members.map(({ wishes }) => wishes.to.name);
  const doubled = names.find((name, index) => names.indexOf(name) !== index);
  if (doubled !== undefined)
    return refused(
      group.metadata,
      `has several members whose claim would be named ${doubled}: use {claim} or {snapshot} in --name-template`,
    );
  const plans: RestorePlan[] = [];
  for (const { wishes, read } of members) {
    const plan = planRestore(read, wishes);
    if ("refused" in plan) return plan;
    const { labels } = read.source?.metadata ?? {};
    const { metadata } = plan.claim;
    plans.push(labels === undefined ? plan : { ...plan, claim: { ...plan.claim, metadata: { ...metadata, labels } } });
  }
  return { plans };
}
