/** Reads the facts that a decision depends on from the caches, in one synchronous step. Observing writes nothing. */
import type { KindName } from "../../api/kinds.ts";
import { annotations, finalizers } from "../../api/names.ts";
import type {
  Draft,
  ObjectOf,
  PersistentVolume,
  PersistentVolumeClaim,
  VolumeSnapshot,
  VolumeSnapshotClass,
  VolumeSnapshotContent,
} from "../../api/types.ts";
import { keyOf } from "../../api/types.ts";
import { type Key, keyIn, type Millis } from "../../base/brand.ts";
import type { Evidence } from "../../rules/evidence.ts";
import { ownerGroupOf } from "../../rules/group-members.ts";
import { anywhere, type VolumePlace } from "../../rules/node-affinity.ts";
import { contentNameOf, sourceOf } from "../../rules/snapshot-source.ts";
import type { SnapshotObjects } from "../../rules/snapshot-violation.ts";
import type { ClaimMemory, ContentMemory, Memory, SnapshotMemory } from "./memory.ts";
import {
  isRestoringUndecided,
  linkKeyOf,
  type RestoringClaim,
  restoredSnapshotKeys,
  restoringFrom,
} from "./restoring.ts";

/**
 * held:    the group exists.
 * gone:    it does not, as far as the cache knows; `evidence` confirms that.
 * unknown: the caches are not complete.
 * none:    the snapshot is no member, or nobody looks after groups here.
 */
export type Membership =
  | { readonly kind: "held" | "unknown" | "none" }
  | { readonly kind: "gone"; readonly evidence: Evidence };

/** What the caches show of a snapshot. Phases and rules are decided by this alone. */
export interface SnapshotFacts extends SnapshotObjects {
  /** Claims that block the deletion of this snapshot. */
  readonly restoring: readonly RestoringClaim[];
  /** Whether a claim of another namespace may be one of them: the API server has not said yet which grants or links there are. */
  readonly isRestoringUndecided: boolean;
  /** Where the volume is reached from; anywhere unless sidecars are node-local. */
  readonly place: VolumePlace;
  /** Whether its group keeps a member. */
  readonly group: Membership;
  /** Whether the volume's mode is written into the content, so that a restore cannot change it. */
  readonly keepsVolumeMode: boolean;
}

/** What a plan for a snapshot is decided by. memory.ts says what each memory is worth. */
export interface SnapshotView {
  readonly facts: SnapshotFacts;
  readonly memory: SnapshotMemory;
  readonly nowMs: Millis;
}

export interface ClaimFacts {
  readonly claim: PersistentVolumeClaim;
  /** The snapshots that name this claim as their source and are not ready, read one by one on demand. */
  readonly snapshots: Iterable<SnapshotFacts>;
}

export interface ClaimView {
  readonly facts: ClaimFacts;
  readonly memory: ClaimMemory;
  readonly nowMs: Millis;
}

export interface ContentFacts {
  readonly content: VolumeSnapshotContent;
  /** The snapshot of the name that the content points at, whatever its uid. */
  readonly snapshot: VolumeSnapshot | undefined;
  /** A VolumeSnapshot names the content, whatever the content refers to. */
  readonly isNamed: boolean;
  /** CreateSnapshot may be under way for the content, and the class with its parameters is gone. */
  readonly isBeingCreatedWithoutClass: boolean;
}

export interface ContentView {
  readonly facts: ContentFacts;
  readonly memory: ContentMemory;
  readonly nowMs: Millis;
}

/** What is read from the cache of one kind; a part of kube/store.ts. */
interface Cache<K extends KindName, Index extends string = never> {
  get(key: Key): ObjectOf<K> | undefined;
  all(): Iterable<ObjectOf<K>>;
  keysBy(index: Index, value: string): readonly Key[];
  by(index: Index, value: string): readonly ObjectOf<K>[];
}
export interface SnapshotCaches {
  readonly VolumeSnapshot: Cache<"VolumeSnapshot", keyof typeof indexes.VolumeSnapshot>;
  readonly VolumeSnapshotContent: Cache<"VolumeSnapshotContent", keyof typeof indexes.VolumeSnapshotContent>;
  readonly VolumeSnapshotClass: Cache<"VolumeSnapshotClass">;
  readonly PersistentVolumeClaim: Cache<"PersistentVolumeClaim", keyof typeof indexes.PersistentVolumeClaim>;
  readonly PersistentVolume: Cache<"PersistentVolume">;
}

/** The flags and lookups that decisions depend on. */
export interface SnapshotOptions {
  readonly preventVolumeModeConversion: boolean;
  /** Where a volume is reached from. */
  placeOf(volume: PersistentVolume): VolumePlace;
  /** Name of a ReferenceGrant that lets claims of another namespace refer to the snapshot, by themselves or by a link; absent: none does. */
  readonly grantFor?:
    | ((claimNamespace: string, snapshot: VolumeSnapshot, referrer?: "VolumeSnapshotLink") => string | undefined)
    | undefined;
  /** VolumeSnapshotLinks, by the snapshot that they point at and the reverse; absent: links are not followed. */
  readonly links?: { pointingAt(snapshot: Key): readonly Key[]; targetOf(link: Key): Key | undefined } | undefined;
  /** Whether the group of a member exists; absent: groups are left alone. */
  readonly groupOf?: ((snapshot: VolumeSnapshot) => Membership) | undefined;
  /** Whether the API server has yet to say which grants and which links there are; absent: it has. */
  readonly isUndecided?: { grants(): boolean; links(): boolean } | undefined;
}

/** What a decision depends on besides the caches, for each of the three kinds. */
export interface SnapshotContext {
  readonly options: SnapshotOptions;
  /** memory.ts has one of a process that remembers nothing. */
  readonly memory: Pick<Memory, "ofSnapshot" | "ofClaim" | "ofContent">;
  readonly nowMs: Millis;
}

/** The secondary indexes that observing uses; triggers.ts passes them to the stores. */
export const indexes = {
  VolumeSnapshot: {
    claim: (snapshot: VolumeSnapshot) => claimKeyOf(snapshot),
    /** A ready snapshot has been taken, so its claim does not depend on it any more. */
    unreadyOf: (snapshot: VolumeSnapshot) => (snapshot.status?.readyToUse === true ? undefined : claimKeyOf(snapshot)),
    /** Snapshots without a class are under "". */
    class: ({ spec }: VolumeSnapshot) => spec.volumeSnapshotClassName ?? "",
    content: (snapshot: VolumeSnapshot) => contentNameOf(snapshot),
    /** Members of groups, by the uid of their group. */
    group: (snapshot: VolumeSnapshot) => ownerGroupOf(snapshot)?.uid,
  },
  VolumeSnapshotContent: {
    /** The few for which CreateSnapshot may be under way, by the class with its parameters. */
    beingCreatedByClass: (content: VolumeSnapshotContent) =>
      mayBeBeingCreated(content) ? content.spec.volumeSnapshotClassName : undefined,
  },
  PersistentVolumeClaim: {
    restoresFrom: (claim: PersistentVolumeClaim) => restoredSnapshotKeys(claim),
    restoresBy: (claim: PersistentVolumeClaim) => linkKeyOf(claim),
  },
} as const;

/** The sidecar has not written anything into the content's status that a user should see. */
export const hasNoReport = (content: VolumeSnapshotContent): boolean =>
  isBecomingReady(content) ||
  (content.status?.readyToUse !== true &&
    content.status?.creationTime === undefined &&
    content.status?.error === undefined);

/**
 * The sidecar has stored the handle of a ready snapshot, and its last write, which removes the being-created annotation, is to come.
 * Whoever reads a content that is shown ready may change it, and a write of ours would be a conflict.
 */
export const isBecomingReady = ({ metadata, status }: VolumeSnapshotContent): boolean =>
  status?.readyToUse === true && metadata.annotations?.[annotations.beingCreated] !== undefined;

const mayBeBeingCreated = ({ metadata, status }: VolumeSnapshotContent): boolean =>
  status?.readyToUse !== true && metadata.annotations?.[annotations.beingCreated] === "yes";

export const claimKeyOf = ({ metadata, spec }: VolumeSnapshot): Key | undefined =>
  spec.source?.persistentVolumeClaimName ? keyIn(metadata.namespace, spec.source.persistentVolumeClaimName) : undefined;

/** The claim of the snapshot, with the same uid, that a content is created for. */
export function claimOfContent(stores: SnapshotCaches, content: Draft): PersistentVolumeClaim | undefined {
  const { namespace, name = "", uid } = (content as Draft<VolumeSnapshotContent>).spec?.volumeSnapshotRef ?? {};
  const snapshot = stores.VolumeSnapshot.get(keyIn(namespace, name));
  const key = snapshot?.metadata.uid === uid && snapshot !== undefined ? claimKeyOf(snapshot) : undefined;
  return key === undefined ? undefined : stores.PersistentVolumeClaim.get(key);
}

export function observeSnapshot(
  stores: SnapshotCaches,
  { options, memory, nowMs }: SnapshotContext,
  key: Key,
): SnapshotView | undefined {
  const facts = snapshotFacts(stores, options, key);
  return facts && { facts, memory: memory.ofSnapshot(facts), nowMs };
}

function snapshotFacts(stores: SnapshotCaches, options: SnapshotOptions, key: Key): SnapshotFacts | undefined {
  const snapshot = stores.VolumeSnapshot.get(key);
  if (snapshot === undefined) return undefined;
  const source = sourceOf(snapshot);
  const claim =
    source.kind === "claim"
      ? stores.PersistentVolumeClaim.get(keyIn(snapshot.metadata.namespace, source.name))
      : undefined;
  const volume = claim?.spec?.volumeName
    ? stores.PersistentVolume.get(keyIn(undefined, claim.spec.volumeName))
    : undefined;
  const className = snapshot.spec.volumeSnapshotClassName;
  return {
    snapshot,
    source,
    content: stores.VolumeSnapshotContent.get(keyIn(undefined, contentNameOf(snapshot))),
    claim,
    volume,
    snapshotClass: className ? stores.VolumeSnapshotClass.get(keyIn(undefined, className)) : undefined,
    defaultClasses: className ? [] : defaultClassesOf(stores, volume?.spec?.csi?.driver),
    restoring: restoringFrom(stores, options, snapshot),
    isRestoringUndecided: isRestoringUndecided(stores, options, snapshot),
    place: volume === undefined ? anywhere : options.placeOf(volume),
    group: options.groupOf?.(snapshot) ?? { kind: "none" },
    keepsVolumeMode: options.preventVolumeModeConversion,
  };
}

function defaultClassesOf(stores: SnapshotCaches, driver: string | undefined): readonly VolumeSnapshotClass[] {
  if (driver === undefined) return [];
  return [...stores.VolumeSnapshotClass.all()].filter(
    (item) => item.driver === driver && item.metadata.annotations?.[annotations.defaultClass] === "true",
  );
}

export const hasFinalizer = ({ metadata }: PersistentVolumeClaim): boolean =>
  metadata.finalizers?.includes(finalizers.claimAsSource) === true;

export function observeClaim(
  stores: SnapshotCaches,
  { options, memory, nowMs }: SnapshotContext,
  key: Key,
): ClaimView | undefined {
  const claim = stores.PersistentVolumeClaim.get(key);
  if (claim === undefined) return undefined;
  const keys = stores.VolumeSnapshot.keysBy("unreadyOf", keyOf(claim));
  const facts = { claim, snapshots: { [Symbol.iterator]: () => oneByOne(stores, options, keys) } };
  return { facts, memory: memory.ofClaim(facts), nowMs };
}

/** A claim may have thousands of snapshots, and one of them is often enough to decide. */
function* oneByOne(stores: SnapshotCaches, options: SnapshotOptions, keys: readonly Key[]): Generator<SnapshotFacts> {
  for (const key of keys) {
    const facts = snapshotFacts(stores, options, key);
    if (facts !== undefined) yield facts;
  }
}

/** The snapshot that the reference names; if it names none, the one of its uid that names the content. */
function snapshotOf(stores: SnapshotCaches, { metadata, spec }: VolumeSnapshotContent): VolumeSnapshot | undefined {
  const { namespace, name, uid } = spec.volumeSnapshotRef ?? {};
  return namespace && name
    ? stores.VolumeSnapshot.get(keyIn(namespace, name))
    : stores.VolumeSnapshot.by("content", metadata.name).find((snapshot) => snapshot.metadata.uid === uid);
}

export function observeContent(
  stores: SnapshotCaches,
  { memory, nowMs }: SnapshotContext,
  key: Key,
): ContentView | undefined {
  const content = stores.VolumeSnapshotContent.get(key);
  if (content === undefined) return undefined;
  const snapshot = snapshotOf(stores, content);
  const className = content.spec.volumeSnapshotClassName;
  const isClassGone = Boolean(className) && !stores.VolumeSnapshotClass.get(keyIn(undefined, className ?? ""));
  const isNamed = stores.VolumeSnapshot.keysBy("content", content.metadata.name).length > 0;
  const facts = { content, snapshot, isNamed, isBeingCreatedWithoutClass: isClassGone && mayBeBeingCreated(content) };
  return { facts, memory: memory.ofContent(facts), nowMs };
}
