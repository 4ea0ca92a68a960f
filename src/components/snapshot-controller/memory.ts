/**
 * What this process remembers and no cache shows. Phases and rules never depend on it; plans use it to write less, or to ask the
 * server before they do what cannot be undone. Store events and action handlers write it, and `noteClaim` once per reconcile.
 * claim-protection.ts and content-creations.ts lie in src/runtime: other components take snapshots of claims, too.
 *
 * active-sidecars.ts    holds  per driver and node, the sidecar that wrote last
 *                       bound  memoryLimits.activeSidecarMsMax after its last write
 *                       lost   which sidecar is active
 *                       safe   the sidecar writes the being-created annotation itself, with one request more
 * claim-protection.ts   holds  per claim, whether this process added our finalizer or sent the request that removes it
 *                       bound  memoryLimits.protectedClaimsMax
 *                       lost   that the finalizer is certain
 *                       safe   it counts as doubtful and is renewed before a content is created, with one request per claim
 * content-creations.ts  holds  per claim, the number of create requests of contents under way
 *                       bound  one entry per worker
 *                       lost   a request that arrives after the process has ended
 *                       safe   the event of the content triggers the claim, which gets the finalizer again if it was removed
 * missing-claims.ts     holds  names of restoring claims that left the cache
 *                       bound  memoryLimits.missingClaimsMax
 *                       lost   the name of a claim that the first list of the next process misses
 *                       safe   only an outdated list misses it; a watch event that brings the claim blocks the deletion again
 * missing-snapshots.ts  holds  names of unready snapshots that left the cache without a deletionTimestamp
 *                       bound  memoryLimits.missingSnapshotsMax
 *                       lost   the name of a snapshot that the first list of the next process misses
 *                       safe   only an outdated list misses it; a watch event that brings the snapshot protects its claim again
 * deleted-snapshots.ts  holds  uids of snapshots that were deleted before their user saw that they were taken
 *                       bound  memoryLimits.deletedSnapshotsMax
 *                       lost   that nobody can want the content of such a snapshot
 *                       safe   the content is kept until an administrator deletes it; no data is deleted
 * idle-times.ts         holds  since when each claim is idle, and when a content last had its first status
 *                       bound  one number per claim in the cache
 *                       lost   how long something has waited
 *                       safe   the wait, a few seconds, starts again
 */
import type { ClusterAction } from "../../api/plan.ts";
import { keyOf, type PersistentVolumeClaim, type VolumeSnapshot } from "../../api/types.ts";
import { keyIn, type Millis } from "../../base/brand.ts";
import type { World } from "../../base/world.ts";
import type { KubeApi } from "../../kube/api.ts";
import type { Protection } from "../../kube/fence.ts";
import type { ActionHandlers } from "../../runtime/action-handlers.ts";
import { createClaimProtection } from "../../runtime/claim-protection.ts";
import { createContentCreations } from "../../runtime/content-creations.ts";
import { type ActiveSidecars, createActiveSidecars } from "./active-sidecars.ts";
import { createDeletedSnapshots } from "./deleted-snapshots.ts";
import { createIdleTimes } from "./idle-times.ts";
import { memoryLimits } from "./limits.ts";
import { createMissingClaims } from "./missing-claims.ts";
import { createMissingSnapshots } from "./missing-snapshots.ts";
import {
  type ClaimFacts,
  type ContentFacts,
  claimOfContent,
  hasFinalizer,
  type SnapshotFacts,
  type SnapshotOptions,
} from "./observe.ts";
import { allRestoredSnapshotKeys, mayBlock } from "./restoring.ts";
import type { SnapshotStores } from "./triggers.ts";

/** All that is kept of an object that is gone. */
export interface ObjectName {
  readonly namespace: string | undefined;
  readonly name: string;
}

export interface MissingSnapshot extends ObjectName {
  /** The version of another snapshot, earlier or later, that the cache has under this name. */
  readonly cachedVersion: string | undefined;
}

export interface SnapshotMemory {
  readonly protection: Protection;
  /** Claims that were restoring from the snapshot and that the cache no longer has. */
  readonly missingClaims: readonly ObjectName[];
  /** Whether the claims of the snapshot's namespace were listed since its deletion was seen. */
  readonly areClaimsRead: boolean;
  /** How long no content has had its first status from a sidecar. */
  readonly queueIdleMs: Millis;
  /** The id of the sidecar that is known to be active for the volume's driver. */
  readonly activeSidecar: string | undefined;
}

export interface ClaimMemory {
  readonly protection: Protection;
  /** Snapshots that named the claim as their source and that the cache no longer has; looked up on demand. */
  readonly missingSnapshots: Iterable<MissingSnapshot>;
  /** The create request of a content of this claim is under way. */
  readonly isCreationUnderWay: boolean;
  /** How long the claim has been protected although nothing needs it. */
  readonly idleMs: Millis;
}

export interface ContentMemory {
  /** The snapshot that the content was created for was deleted before its user saw that it was taken. */
  readonly wasSnapshotDeletedUnready: boolean;
}

/** What a process remembers that has just started: with these, anybody can run phase and plan on objects read from a cluster. */
export const noSnapshotMemory: SnapshotMemory = {
  protection: "doubtful",
  missingClaims: [],
  areClaimsRead: false,
  queueIdleMs: Number.POSITIVE_INFINITY,
  activeSidecar: undefined,
};
export const noClaimMemory: ClaimMemory = {
  protection: "doubtful",
  missingSnapshots: [],
  isCreationUnderWay: false,
  idleMs: 0,
};
export const noContentMemory: ContentMemory = { wasSnapshotDeletedUnready: false };

export interface Memory {
  ofSnapshot(facts: SnapshotFacts): SnapshotMemory;
  ofClaim(facts: ClaimFacts): ClaimMemory;
  ofContent(facts: ContentFacts): ContentMemory;
  /** Called once per reconcile of a claim, after it was observed. */
  noteClaim(claim: PersistentVolumeClaim, isNeeded: () => boolean): void;
  /** The same API server; replies and requests that a memory depends on are noted. */
  throughApi(api: KubeApi): KubeApi;
  /** The same handlers; what they do is noted. */
  aroundHandlers(handlers: ActionHandlers<ClusterAction>): ActionHandlers<ClusterAction>;
}

export const noMemory: Pick<Memory, "ofSnapshot" | "ofClaim" | "ofContent"> = {
  ofSnapshot: () => noSnapshotMemory,
  ofClaim: () => noClaimMemory,
  ofContent: () => noContentMemory,
};

export interface MemoryOptions {
  readonly stores: SnapshotStores;
  readonly options: Pick<SnapshotOptions, "grantFor" | "links">;
  readonly world: Pick<World, "elapsed">;
  /** The simulation names sidecars that have not written yet. */
  readonly activeSidecars?: ActiveSidecars | undefined;
  /** Another judgement than ours: the simulation shows that it detects wrong ones. */
  readonly protectionOf?: ((claim: PersistentVolumeClaim) => Protection) | undefined;
  wereClaimsReadFor(snapshot: VolumeSnapshot): boolean;
  /** The protection of the claim has become certain, after the watch has already shown its finalizer. */
  onProtected(claim: PersistentVolumeClaim): void;
  /** Asked just before a claim is released: it may be needed again since that was decided. */
  isNeeded(claim: PersistentVolumeClaim): boolean;
  /** A create request for a content of this claim has ended: the claim may be released if nothing else needs it. */
  onCreationEnd(claim: PersistentVolumeClaim): void;
}

export function createMemory({
  stores,
  options,
  world,
  wereClaimsReadFor,
  onProtected,
  isNeeded,
  onCreationEnd,
  ...replaced
}: MemoryOptions): Memory {
  const sidecars = replaced.activeSidecars ?? createActiveSidecars(world);
  const protection = createClaimProtection({
    onCertain: (claim) => {
      const cached = stores.PersistentVolumeClaim.get(keyOf(claim));
      // Otherwise the event that brings the finalizer triggers the snapshots.
      if (cached !== undefined && hasFinalizer(cached)) onProtected(claim);
    },
    isNeeded,
    sizeMax: memoryLimits.protectedClaimsMax,
  });
  const protectionOf = replaced.protectionOf ?? protection.of;
  const creations = createContentCreations({
    protectedClaimOf: (content) => {
      const claim = claimOfContent(stores, content);
      return claim !== undefined && protectionOf(claim) === "certain" ? claim : undefined;
    },
    onEnd: onCreationEnd,
  });
  const deletedSnapshots = createDeletedSnapshots();
  const idleTimes = createIdleTimes(world);
  const missingClaims = createMissingClaims((claim) => allRestoredSnapshotKeys(options, claim));
  const missingSnapshots = createMissingSnapshots();

  stores.VolumeSnapshot.onChange(deletedSnapshots.see);
  stores.PersistentVolumeClaim.onChange(idleTimes.seeClaim);
  stores.VolumeSnapshotContent.onChange(idleTimes.seeContent);
  stores.VolumeSnapshotContent.onChange(sidecars.see);
  stores.PersistentVolumeClaim.onChange(missingClaims.see);
  stores.VolumeSnapshot.onChange(missingSnapshots.see);
  stores.PersistentVolumeClaim.onChange(protection.see);

  function* withCachedVersions(names: readonly ObjectName[]): Generator<MissingSnapshot> {
    for (const { namespace, name } of names) {
      const cachedVersion = stores.VolumeSnapshot.get(keyIn(namespace, name))?.metadata.resourceVersion;
      yield { namespace, name, cachedVersion };
    }
  }

  return {
    ofSnapshot: ({ snapshot, claim, volume, place }) => {
      const driver = volume?.spec?.csi?.driver;
      return {
        protection: claim === undefined ? "none" : protectionOf(claim),
        missingClaims: missingClaims.from(keyOf(snapshot)).filter(mayBlock(options, snapshot)),
        areClaimsRead: wereClaimsReadFor(snapshot),
        queueIdleMs: idleTimes.standstillMs(),
        activeSidecar:
          driver === undefined ? undefined : sidecars.of(driver, place.kind === "node" ? place.name : undefined),
      };
    },
    ofClaim: ({ claim }) => ({
      protection: protectionOf(claim),
      missingSnapshots: { [Symbol.iterator]: () => withCachedVersions(missingSnapshots.of(keyOf(claim))) },
      isCreationUnderWay: creations.isUnderWay(claim),
      idleMs: idleTimes.idleMs(claim),
    }),
    ofContent: ({ content: { spec } }) => ({
      wasSnapshotDeletedUnready:
        spec.volumeSnapshotRef?.uid !== undefined && deletedSnapshots.wasDeletedUnready(spec.volumeSnapshotRef.uid),
    }),
    noteClaim: idleTimes.note,
    throughApi: protection.through,
    aroundHandlers: (handlers) => ({
      ...handlers,
      create: creations.around(handlers.create),
      confirm: missingSnapshots.around(handlers.confirm),
    }),
  };
}
