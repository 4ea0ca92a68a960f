/**
 * What this process remembers and no cache shows. Phases and rules never depend on it; plans use it to write less, or to ask the
 * server before they do what cannot be undone. Store events and action handlers write it, and `noteClaim` once per reconcile.
 *
 * | memory                | holds                                          | bound                 | lost with the process              | why that is safe |
 * |-----------------------|------------------------------------------------|-----------------------|------------------------------------|------------------|
 * | active-sidecars.ts    | per driver and node: the sidecar seen last     | 60 s after its writes | which sidecar is active            | the sidecar writes the being-created annotation itself, one request more |
 * | claim-protection.ts   | per claim: whether our finalizer is certain    | protectedClaimsMax    | that the finalizer is certain      | it counts as doubtful and is renewed, one request per claim |
 * | content-creations.ts  | per claim: create requests under way           | workers               | a request that outlives the process| every process has this gap; the server orders the request and the removal of the finalizer |
 * | missing-claims.ts     | names of restoring claims that left the cache  | missingClaimsMax      | names of claims missed by a list   | only a list that is outdated at start misses them, and the next event corrects it |
 * | missing-snapshots.ts  | names of unready snapshots that left the cache | missingSnapshotsMax   | names of snapshots missed by a list| as for claims |
 * | deleted-snapshots.ts  | uids of snapshots deleted before they were ready| deletedSnapshotsMax  | which contents nobody can want     | such a content is kept until an administrator deletes it |
 * | idle-times.ts         | since when a claim is idle, a burst is stuck   | claims in the cache   | how long something has waited      | the wait starts again, at most 3 s or 10 s |
 */
import type { ClusterAction } from "../../api/plan.ts";
import { keyOf, type PersistentVolumeClaim } from "../../api/types.ts";
import { keyIn, type Millis } from "../../base/brand.ts";
import type { World } from "../../base/world.ts";
import type { KubeApi } from "../../kube/api.ts";
import type { ActionHandlers } from "../../runtime/action-handlers.ts";
import { type ActiveSidecars, createActiveSidecars } from "./active-sidecars.ts";
import { createClaimProtection } from "./claim-protection.ts";
import { createContentCreations } from "./content-creations.ts";
import { createDeletedSnapshots } from "./deleted-snapshots.ts";
import { createIdleTimes } from "./idle-times.ts";
import { createMissingClaims } from "./missing-claims.ts";
import { createMissingSnapshots } from "./missing-snapshots.ts";
import {
  type ClaimFacts,
  type ContentFacts,
  claimOfContent,
  hasFinalizer,
  mayRefer,
  type SnapshotFacts,
  type SnapshotOptions,
} from "./observe.ts";
import type { SnapshotStores } from "./triggers.ts";

/** Whether our finalizer protects a claim. doubtful: it is on, and a request that removes it may be under way. */
export type Protection = "none" | "doubtful" | "certain";

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

export interface MemoryOptions {
  readonly stores: SnapshotStores;
  readonly options: Pick<SnapshotOptions, "isGranted">;
  readonly world: Pick<World, "elapsed">;
  /** The simulation names sidecars that have not written yet. */
  readonly activeSidecars?: ActiveSidecars | undefined;
  /** Another judgement than ours: the simulation shows that it detects wrong ones. */
  readonly protectionOf?: ((claim: PersistentVolumeClaim) => Protection) | undefined;
  /** The protection of the claim has become certain, after the watch has already shown its finalizer. */
  onProtected(claim: PersistentVolumeClaim): void;
  /** A create request for a content of this claim has ended: the claim may be released if nothing else needs it. */
  onCreationEnd(claim: PersistentVolumeClaim): void;
}

export function createMemory({
  stores,
  options,
  world,
  onProtected,
  onCreationEnd,
  ...replaced
}: MemoryOptions): Memory {
  const sidecars = replaced.activeSidecars ?? createActiveSidecars(world);
  const protection = createClaimProtection((claim) => {
    const cached = stores.PersistentVolumeClaim.get(keyOf(claim));
    // Otherwise the event that brings the finalizer triggers the snapshots.
    if (cached !== undefined && hasFinalizer(cached)) onProtected(claim);
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
  const missingClaims = createMissingClaims();
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
        missingClaims: missingClaims.from(keyOf(snapshot)).filter(mayRefer(options, snapshot)),
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
    noteClaim: (claim, isNeeded) => idleTimes.note(claim, isNeeded),
    throughApi: protection.through,
    aroundHandlers: (handlers) => ({
      ...handlers,
      create: creations.around(handlers.create),
      confirm: missingSnapshots.around(handlers.confirm),
    }),
  };
}
