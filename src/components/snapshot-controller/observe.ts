/** Reads everything a decision about one snapshot needs from the caches, in one synchronous tick. */
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
import { contentNameOf, type SnapshotSource, sourceOf } from "../../rules/snapshot-source.ts";

/** Whose sidecar takes the snapshots of a volume: any one's, that of a node, or, as no node reaches the volume, nobody's yet. */
export type SidecarPlace =
  | { readonly kind: "anywhere" }
  | { readonly kind: "node"; readonly name: string }
  | { readonly kind: "nowhere" };
export const anywhere: SidecarPlace = { kind: "anywhere" };

/** Of a claim by our finalizer. doubtful: it is on, and a request that removes it may be under way. */
export type Protection = "none" | "doubtful" | "certain";

export interface SnapshotView {
  readonly snapshot: VolumeSnapshot;
  readonly source: SnapshotSource;
  /** The content the snapshot names, or the one that is made for it. */
  readonly content: VolumeSnapshotContent | undefined;
  readonly claim: PersistentVolumeClaim | undefined;
  readonly protection: Protection;
  readonly volume: PersistentVolume | undefined;
  readonly snapshotClass: VolumeSnapshotClass | undefined;
  /** Default classes of the volume's driver. */
  readonly defaultClasses: readonly VolumeSnapshotClass[];
  /** Claims that wait for a volume made from this snapshot: those of its namespace, and those that a grant lets refer to it. */
  readonly restoring: readonly PersistentVolumeClaim[];
  /** Claims that were restoring, as far as this process knows, and that its cache no longer has. */
  readonly missingClaims: readonly ObjectName[];
  /** Where the volume is reached from; anywhere unless snapshots are taken node by node. */
  readonly place: SidecarPlace;
  /** Whether the volume's mode is written into the content, so that a restore cannot change it. */
  readonly keepsVolumeMode: boolean;
  /** For how long the line of contents that wait for a first word from their sidecar has not moved. */
  readonly queueIdleMs: Millis;
  /** The term of the sidecar that is known to be at work for the volume's driver. */
  readonly activeSidecar: string | undefined;
  readonly nowMs: Millis;
}

/** When it is looked at, and how the work goes then. */
export interface Moment extends Pick<SnapshotView, "nowMs" | "queueIdleMs"> {
  activeSidecarOf(driver: string, node: string | undefined): string | undefined;
  missingClaimsOf(snapshot: Key): readonly ObjectName[];
  missingSnapshotsOf(claim: Key): readonly ObjectName[];
  protectionOf(claim: PersistentVolumeClaim): Protection;
}

/** All that is kept of an object that is gone. */
export interface ObjectName {
  readonly namespace: string | undefined;
  readonly name: string;
}

export interface ClaimFacts {
  readonly claim: PersistentVolumeClaim;
  readonly protection: Protection;
  /** The snapshots that name this claim as their source and are not ready, seen one by one as far as somebody looks. */
  readonly snapshots: Iterable<SnapshotView>;
  /** Snapshots that named this claim, as far as this process knows, and that its cache no longer has; looked up on demand. */
  readonly missingSnapshots: Iterable<MissingSnapshot>;
}

export interface MissingSnapshot extends ObjectName {
  /** Of what the cache has under the name instead, if anything: an incarnation before or after it. */
  readonly cachedVersion: string | undefined;
}

export interface ContentView {
  readonly content: VolumeSnapshotContent;
  /** The snapshot of the name the content points at, whatever its uid. */
  readonly snapshot: VolumeSnapshot | undefined;
  /** The snapshot the content was made for was here, and went before its user was told of a cut. */
  readonly wasSnapshotDeletedUnready: boolean;
  /** A cut of it may be under way, and the class that said how is gone. */
  readonly isBeingCreatedWithoutClass: boolean;
  readonly nowMs: Millis;
}

/** What is read of one kind's cache; kube/store.ts has it all. */
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

/** What the flags say that a decision depends on. */
export interface SnapshotOptions {
  readonly preventVolumeModeConversion: boolean;
  /** Where a volume is reached from. */
  placeOf(volume: PersistentVolume): SidecarPlace;
  /** Whether claims of another namespace may refer to the snapshot; absent: they may not. */
  readonly isGranted?: ((claimNamespace: string, snapshot: VolumeSnapshot) => boolean) | undefined;
}

/** The secondary indexes observe looks things up by; index.ts hands them to the stores. */
export const indexes = {
  VolumeSnapshot: {
    claim: (snapshot: VolumeSnapshot) => claimKeyOf(snapshot),
    /** Of a ready snapshot nothing is cut any more, so its claim need not look at it. */
    unreadyOf: (snapshot: VolumeSnapshot) => (snapshot.status?.readyToUse === true ? undefined : claimKeyOf(snapshot)),
    /** Snapshots without a class stand under "". */
    class: ({ spec }: VolumeSnapshot) => spec.volumeSnapshotClassName ?? "",
    content: (snapshot: VolumeSnapshot) => contentNameOf(snapshot),
  },
  VolumeSnapshotContent: {
    /** The few that may be in the middle of a cut, by the class that says how. */
    beingCreatedByClass: (content: VolumeSnapshotContent) =>
      mayBeBeingCreated(content) ? content.spec.volumeSnapshotClassName : undefined,
  },
  PersistentVolumeClaim: {
    restoresFrom: (claim: PersistentVolumeClaim) => restoredSnapshotKeys(claim),
  },
} as const;

/** The sidecar has not said anything about the content that a user should hear of. */
export const hasNoReport = ({ status }: VolumeSnapshotContent): boolean =>
  status?.readyToUse !== true && status?.creationTime === undefined && status?.error === undefined;

const mayBeBeingCreated = ({ metadata, status }: VolumeSnapshotContent): boolean =>
  status?.readyToUse !== true && metadata.annotations?.[annotations.beingCreated] === "yes";

export const claimKeyOf = ({ metadata, spec }: VolumeSnapshot): Key | undefined =>
  spec.source?.persistentVolumeClaimName ? keyIn(metadata.namespace, spec.source.persistentVolumeClaimName) : undefined;

/** The claim of the very snapshot that a content is made for. */
export function claimOfContent(stores: SnapshotCaches, content: Draft): PersistentVolumeClaim | undefined {
  const { namespace, name = "", uid } = (content as Draft<VolumeSnapshotContent>).spec?.volumeSnapshotRef ?? {};
  const snapshot = stores.VolumeSnapshot.get(keyIn(namespace, name));
  const key = snapshot?.metadata.uid === uid && snapshot !== undefined ? claimKeyOf(snapshot) : undefined;
  return key === undefined ? undefined : stores.PersistentVolumeClaim.get(key);
}

const snapshotGroup = "snapshot.storage.k8s.io";

/** dataSourceRef may name a snapshot of another namespace; dataSource never does. */
export function restoredSnapshotKeys({ metadata, spec }: PersistentVolumeClaim): Key[] {
  const found = [spec?.dataSourceRef, spec?.dataSource].filter(
    (source) => source?.kind === "VolumeSnapshot" && source.apiGroup === snapshotGroup,
  );
  const keys = found.map((source) =>
    keyIn((source as { namespace?: string }).namespace || metadata.namespace, source?.name ?? ""),
  );
  return [...new Set(keys)];
}

export function observeSnapshot(
  stores: SnapshotCaches,
  options: SnapshotOptions,
  key: Key,
  { nowMs, queueIdleMs, activeSidecarOf, missingClaimsOf, protectionOf }: Moment,
): SnapshotView | undefined {
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
  const csi = volume?.spec?.csi;
  const place = volume === undefined ? anywhere : options.placeOf(volume);
  const className = snapshot.spec.volumeSnapshotClassName;
  return {
    snapshot,
    source,
    content: stores.VolumeSnapshotContent.get(keyIn(undefined, contentNameOf(snapshot))),
    claim,
    protection: claim === undefined ? "none" : protectionOf(claim),
    volume,
    snapshotClass: className ? stores.VolumeSnapshotClass.get(keyIn(undefined, className)) : undefined,
    defaultClasses: className ? [] : defaultClassesOf(stores, csi?.driver),
    restoring: restoringFrom(stores, options, snapshot),
    missingClaims: missingClaimsOf(key).filter(mayRefer(options, snapshot)),
    place,
    keepsVolumeMode: options.preventVolumeModeConversion,
    queueIdleMs,
    activeSidecar:
      csi === undefined ? undefined : activeSidecarOf(csi.driver, place.kind === "node" ? place.name : undefined),
    nowMs,
  };
}

function defaultClassesOf(stores: SnapshotCaches, driver: string | undefined): readonly VolumeSnapshotClass[] {
  if (driver === undefined) return [];
  return [...stores.VolumeSnapshotClass.all()].filter(
    (item) => item.driver === driver && item.metadata.annotations?.[annotations.defaultClass] === "true",
  );
}

/**
 * A claim that came after the snapshot's deletion does not hold it: provisioners refuse to read from a snapshot on its way out, and
 * the two would wait for each other. Times are whole seconds; of the same one, the claim counts as the earlier.
 */
function restoringFrom(
  stores: SnapshotCaches,
  options: SnapshotOptions,
  snapshot: VolumeSnapshot,
): readonly PersistentVolumeClaim[] {
  const isAllowed = mayRefer(options, snapshot);
  return stores.PersistentVolumeClaim.by("restoresFrom", keyOf(snapshot)).filter(
    (claim) =>
      isWaiting(claim) &&
      !isLater(claim.metadata.creationTimestamp, snapshot.metadata.deletionTimestamp) &&
      isAllowed(claim.metadata),
  );
}
/** A stranger's claim must neither keep a snapshot nor have its name shown to the snapshot's user. */
const mayRefer =
  ({ isGranted }: SnapshotOptions, snapshot: VolumeSnapshot) =>
  ({ namespace = "" }: { readonly namespace?: string | undefined }): boolean =>
    namespace === snapshot.metadata.namespace || isGranted?.(namespace, snapshot) === true;
/** For its volume, and not on its way out. */
export const isWaiting = ({ metadata, status }: PersistentVolumeClaim): boolean =>
  status?.phase === "Pending" && metadata.deletionTimestamp === undefined;
const isLater = (one: string | undefined, other: string | undefined): boolean =>
  one !== undefined && other !== undefined && Date.parse(one) > Date.parse(other);

export const hasFinalizer = ({ metadata }: PersistentVolumeClaim): boolean =>
  metadata.finalizers?.includes(finalizers.claimAsSource) === true;

/** Ours in another place of the list is a change, and leaves nothing behind. With ours alone there is no other place. */
export const isRenewable = ({ metadata }: PersistentVolumeClaim): boolean => (metadata.finalizers?.length ?? 0) > 1;

export function observeClaim(
  stores: SnapshotCaches,
  options: SnapshotOptions,
  key: Key,
  moment: Moment,
): ClaimFacts | undefined {
  const claim = stores.PersistentVolumeClaim.get(key);
  if (claim === undefined) return undefined;
  const keys = stores.VolumeSnapshot.keysBy("unreadyOf", keyOf(claim));
  const snapshots = { [Symbol.iterator]: () => seenOneByOne(stores, options, keys, moment) };
  const missingSnapshots = { [Symbol.iterator]: () => withCachedVersions(stores, moment.missingSnapshotsOf(key)) };
  return { claim, protection: moment.protectionOf(claim), snapshots, missingSnapshots };
}

/** A claim may have thousands of snapshots, and one of them is often enough to decide. */
function* seenOneByOne(
  stores: SnapshotCaches,
  options: SnapshotOptions,
  keys: readonly Key[],
  moment: Moment,
): Generator<SnapshotView> {
  for (const key of keys) {
    const view = observeSnapshot(stores, options, key, moment);
    if (view !== undefined) yield view;
  }
}

function* withCachedVersions(stores: SnapshotCaches, names: readonly ObjectName[]): Generator<MissingSnapshot> {
  for (const { namespace, name } of names) {
    const cachedVersion = stores.VolumeSnapshot.get(keyIn(namespace, name))?.metadata.resourceVersion;
    yield { namespace, name, cachedVersion };
  }
}

export function observeContent(
  stores: SnapshotCaches,
  key: Key,
  wentUntold: (uid: string) => boolean,
  nowMs: Millis,
): ContentView | undefined {
  const content = stores.VolumeSnapshotContent.get(key);
  if (content === undefined) return undefined;
  const { namespace, name, uid } = content.spec.volumeSnapshotRef ?? {};
  const snapshot = name === undefined ? undefined : stores.VolumeSnapshot.get(keyIn(namespace, name));
  const className = content.spec.volumeSnapshotClassName;
  const isClassGone = Boolean(className) && !stores.VolumeSnapshotClass.get(keyIn(undefined, className ?? ""));
  return {
    content,
    snapshot,
    wasSnapshotDeletedUnready: uid !== undefined && wentUntold(uid),
    isBeingCreatedWithoutClass: isClassGone && mayBeBeingCreated(content),
    nowMs,
  };
}
