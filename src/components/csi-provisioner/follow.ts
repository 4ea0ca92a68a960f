/** What follows from changes that no trigger of a cache tells: memory is forgotten, and whoever has to consent may have thought again. */
import { keyOf, type PersistentVolumeClaim } from "../../api/types.ts";
import { referrersIn } from "../../rules/reference-grant.ts";
import type { Controller } from "../../runtime/controller.ts";
import type { Grants } from "../../runtime/grants.ts";
import type { Links } from "../../runtime/links.ts";
import type { ProvisionerStores } from "./caches.ts";
import type { ClaimIndex } from "./claims/claim-index.ts";
import { nameOfVolume, uidOfVolume } from "./identity.ts";
import type { ProvisionerMemory } from "./memory.ts";
import type { WatchedSnapshots } from "./options.ts";
import { type SourceObject, sourceId } from "./sources/source.ts";
import { isProtected } from "./triggers.ts";

export interface FollowParts {
  readonly stores: ProvisionerStores;
  readonly claims: ClaimIndex;
  readonly memory: Pick<ProvisionerMemory, "remembered" | "intents">;
  readonly snapshots: WatchedSnapshots;
  readonly grants: Pick<Grants, "onChange"> | undefined;
  readonly links: Pick<Links, "onChange"> | undefined;
  readonly queues: { readonly volumes: Pick<Controller, "trigger">; readonly sources: Pick<Controller, "trigger"> };
}

export function follow(parts: FollowParts): void {
  forgetWhatIsGone(parts);
  followSnapshots(parts);
  followConsent(parts);
}

function forgetWhatIsGone({ stores, claims, memory: { remembered, intents } }: FollowParts): void {
  stores.PersistentVolume.onChange((before, after) => {
    if (before !== undefined && after === undefined) remembered.forgetStored(uidOfVolume(before));
    if (after !== undefined) remembered.forget(nameOfVolume(after));
  });
  stores.PersistentVolumeClaim.onChange((before, after) => {
    if (before === undefined || after !== undefined) return;
    const name = claims.nameFor(before.metadata.uid);
    if (intents.get(name) === undefined) remembered.forget(name);
  });
}

function followSnapshots({ snapshots, claims, queues }: FollowParts): void {
  snapshots.onChange((before, after) => {
    const snapshot = after ?? before;
    if (snapshot === undefined) return;
    const source: SourceObject = { kind: "snapshot", key: keyOf(snapshot) };
    for (const key of claims.keysFrom(source)) queues.volumes.trigger(key);
    if (isProtected(snapshot, "snapshot")) queues.sources.trigger(sourceId(source));
  });
}

function followConsent({ grants, links, claims, memory, queues }: FollowParts): void {
  const lookAgain = (claim: PersistentVolumeClaim): void => {
    memory.remembered.forgetDenial(claims.nameFor(claim.metadata.uid));
    queues.volumes.trigger(claims.keyFor(claim));
  };
  grants?.onChange((before, after) => {
    const grant = after ?? before;
    const namespace = grant?.metadata.namespace ?? "";
    for (const from of grant === undefined ? [] : referrersIn(grant))
      for (const claim of claims.claimsAcross(from, namespace)) lookAgain(claim);
  });
  links?.onChange((before, after) => {
    const link = after ?? before;
    for (const claim of link === undefined ? [] : claims.claimsByLink(keyOf(link))) lookAgain(claim);
  });
}
