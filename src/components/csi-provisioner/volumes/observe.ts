/** Reads everything that a decision about one volume needs, in one synchronous tick. */
import type {
  CSINode,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
  VolumeAttachment,
  VolumeSnapshot,
  VolumeSnapshotContent,
  VolumeSnapshotLink,
} from "../../../api/types.ts";
import { type Key, keyIn, type Millis } from "../../../base/brand.ts";
import { linkedSource, type NamedSource, type SourceRef, sourceOf } from "../../../rules/data-source.ts";
import { type Access, accessTo, type GrantFacts } from "../../../rules/source-access.ts";
import type { CsiReply } from "../../../runtime/reply-cache.ts";
import { attributesClassOf, classNameOf } from "../claims/claim.ts";
import type { AttributesClass } from "../claims/prepare.ts";
import type { CreatedVolume, VolumeCall } from "../driver/call.ts";
import { nodesAround } from "../driver/own-node.ts";
import type { DriverFacts, ProvisionerOptions } from "../options.ts";
import type { SourceObject } from "../sources/source.ts";
import type { Intent } from "../stored-calls/intent.ts";

/** What the driver has answered. */
export type VolumeAnswer =
  | { readonly kind: "created"; readonly volume: CreatedVolume }
  | { readonly kind: "deleted" }
  /** The driver was not called: the owner of the source does not consent, or could not be asked. */
  | { readonly kind: "denied" };
export type VolumeReply = CsiReply<VolumeAnswer> | { readonly kind: "none" };

/** Which source a claim names, and whether it may use it. Of what it may not use, nothing is read. */
interface NamedFacts {
  readonly key: Key;
  readonly named: NamedSource;
  readonly access: Access;
}

/** What a claim is to be filled from, as far as it has been read. */
export type SourceFacts =
  | Exclude<SourceRef, NamedSource | { readonly kind: "link" | "distant link" }>
  /** A link that cannot be followed. */
  | { readonly kind: "unlinked"; readonly key: Key; readonly why: "missing" | "empty" | "unreadable" | "distant" }
  | (NamedFacts & {
      readonly kind: "snapshot";
      readonly snapshot: VolumeSnapshot | undefined;
      readonly content: VolumeSnapshotContent | undefined;
      /** Neither was read lately. */
      readonly isUnread: boolean;
    })
  | (NamedFacts & {
      readonly kind: "claim";
      readonly claim: PersistentVolumeClaim | undefined;
      readonly volume: PersistentVolume | undefined;
    });

export interface VolumeFacts {
  readonly name: string;
  /** The claim that the volume is made for. */
  readonly claim: PersistentVolumeClaim | undefined;
  readonly storageClass: StorageClass | undefined;
  /** As it is stored under the volume's name. */
  readonly volume: PersistentVolume | undefined;
  readonly source: SourceFacts;
  /** What the VolumeAttributesClass of the claim says; undefined: the claim names none, or it is yet to be read. */
  readonly attributes: AttributesClass | undefined;
  /** The CreateVolume call that may have been sent, as it is stored. */
  readonly intent: Intent | undefined;
  /** Name of another PersistentVolume that has, or is about to get, the volume which the driver has answered. */
  readonly holder: string | undefined;
  /** Whether a PersistentVolume has the id that the driver has answered before. */
  readonly isStrayHeld?: boolean | undefined;
  /** The driver's, where a stored call is judged by them. */
  readonly classes?: readonly StorageClass[] | undefined;
  readonly driver: DriverFacts;
  readonly options: ProvisionerOptions;
  readonly nodes: readonly Node[];
  readonly csiNodes: readonly CSINode[];
}

export interface Stray {
  readonly id: string;
  /** To its deletion. */
  readonly reply: VolumeReply;
  readonly replyLeftMs: Millis;
}

export interface VolumeMemory {
  /** To the last call that was sent for the same goal, until it expires. */
  readonly reply: VolumeReply;
  readonly replyLeftMs: Millis;
  /** The reply is to DeleteVolume. */
  readonly isUndoing: boolean;
  /** The reply is to a call that was sent only to learn the id of the volume. */
  readonly isLearning: boolean;
  /** Malformed replies, the last one included, since the last well-formed one for the same goal. */
  readonly malformedReplies: number;
  /** Replies in a row that were as the last one: errors, for example. */
  readonly repliesInRow: number;
  /** The call that the reply is to, or a later one. */
  readonly repliedTo: VolumeCall | undefined;
  /** When that call was sent, by the wall clock. */
  readonly sentAtMs?: Millis | undefined;
  /** An attempt whose outcome nobody knows may have created the volume: a later refusal does not say that there is none. */
  readonly isUncertain: boolean;
  /** The stored call is as another process, or whoever else, has written it, and was not made from the claim by this process. */
  readonly isAdopted: boolean;
  /** Another process has noted that it was about to store the PersistentVolume: its owner may have retained it, and it may be gone. */
  readonly mayBePublished: boolean;
  /** How long a request that was sent before may still store the PersistentVolume: while its claim is there, its volume is kept. */
  readonly lateVolumeMs: Millis;
  /** The cache may be behind: the server has to confirm the claim before CreateVolume is sent for the first time. */
  readonly isUnconfirmed: boolean;
  /** The name of another volume to which the driver has answered the same id. */
  readonly sharedWith: string | undefined;
  /** The id that the driver has answered to an earlier attempt, when it answered another one later: nobody else knows of that volume. */
  readonly stray?: Stray | undefined;
  /** How long nothing is to be sent, because volumes were created and deleted in vain. */
  readonly pauseMs: Millis;
  /** How long to wait before the claim is taken for the own node; undefined: not decided yet. */
  readonly takeInMs?: Millis | undefined;
  /** What this process writes into volumeAttributes. */
  readonly identity: string;
  /** Whether changes of VolumeSnapshots are seen by themselves. */
  readonly watchesSnapshots: boolean;
  /** Whether VolumeSnapshots may be changed, to protect them. */
  readonly protectsSnapshots: boolean;
}

export interface VolumeView {
  readonly facts: VolumeFacts;
  readonly memory: VolumeMemory;
  /** The wall clock, for what is said of dates. */
  readonly nowMs: Millis;
}

interface Cache<T, Index extends string = never> {
  get(key: Key): T | undefined;
  all(): Iterable<T>;
  by(index: Index, value: string): readonly T[];
}

export interface ProvisionerCaches {
  readonly PersistentVolumeClaim: Cache<PersistentVolumeClaim, "volume">;
  readonly PersistentVolume: Cache<PersistentVolume, "handle">;
  readonly StorageClass: Cache<StorageClass>;
  readonly Node?: Cache<Node> | undefined;
  readonly CSINode?: Cache<CSINode> | undefined;
  readonly VolumeAttachment?: Cache<VolumeAttachment, "volume"> | undefined;
}

export interface SnapshotPair {
  readonly snapshot: VolumeSnapshot | undefined;
  readonly content: VolumeSnapshotContent | undefined;
}

export interface Surroundings {
  readonly nowMs: Millis;
  readonly stores: ProvisionerCaches;
  readonly driver: DriverFacts;
  readonly options: ProvisionerOptions;
  intentOf(name: string): Intent | undefined;
  /** Undefined: to be read first. */
  attributesClass(name: string): AttributesClass | undefined;
  /** Undefined: to be read first; with the name of a volume, for this attempt to create it. */
  snapshotPair(key: Key, attempt?: string): SnapshotPair | undefined;
  grants(): GrantFacts;
  readonly links: { isServed(): boolean; get(key: Key): VolumeSnapshotLink | undefined } | undefined;
}

export function observeVolume(around: Surroundings, key: Key, memory: VolumeMemory): VolumeView | undefined {
  const { stores, driver, options, intentOf, nowMs } = around;
  const name = String(key);
  const [claim] = stores.PersistentVolumeClaim.by("volume", name);
  const volume = stores.PersistentVolume.get(key);
  const intent = intentOf(name);
  if (claim === undefined && intent === undefined && memory.stray === undefined) return undefined;
  return {
    facts: {
      name,
      claim,
      storageClass: claim && stores.StorageClass.get(keyIn(undefined, classNameOf(claim))),
      volume,
      source: claim === undefined ? { kind: "none" } : sourceFacts(around, claim, name),
      attributes: attributesOf(around, claim),
      intent,
      holder: holderOf(around, name, memory, intent),
      classes: memory.isAdopted ? classesOf(around) : undefined,
      isStrayHeld: memory.stray !== undefined && volumesWith(around, memory.stray.id).length > 0,
      driver,
      options,
      ...nodesOf(around),
    },
    memory,
    nowMs,
  };
}

const classesOf = ({ stores, driver }: Surroundings): readonly StorageClass[] =>
  [...stores.StorageClass.all()].filter(({ provisioner }) => provisioner === driver.name);

function nodesOf({ stores, driver, options }: Surroundings) {
  if (!driver.plugin.has("VOLUME_ACCESSIBILITY_CONSTRAINTS")) return { nodes: [], csiNodes: [] };
  if (options.ownNode !== undefined) return nodesAround(driver.name, options.ownNode);
  return { nodes: [...(stores.Node?.all() ?? [])], csiNodes: [...(stores.CSINode?.all() ?? [])] };
}

function attributesOf({ options, attributesClass }: Surroundings, claim: PersistentVolumeClaim | undefined) {
  const name = claim === undefined ? undefined : attributesClassOf(options, claim);
  return name === undefined ? undefined : attributesClass(name);
}

function holderOf(around: Surroundings, name: string, { reply, sharedWith }: VolumeMemory, intent: Intent | undefined) {
  const id = reply.kind === "created" ? reply.volume.id : (intent?.undoes ?? intent?.published);
  if (id === undefined) return undefined;
  const holder = volumesWith(around, id).find(({ metadata }) => metadata.name !== name);
  return holder?.metadata.name ?? sharedWith;
}

const volumesWith = ({ stores, driver }: Surroundings, id: string): readonly PersistentVolume[] =>
  stores.PersistentVolume.by("handle", id).filter(({ spec }) => spec?.csi?.driver === driver.name);

/** Follows a link. */
function resolved(
  { links, options }: Surroundings,
  source: SourceRef,
): NamedSource | Exclude<SourceFacts, { readonly named: NamedSource }> {
  if (source.kind !== "link" && source.kind !== "distant link") return source;
  const { namespace, name } = source;
  if (links === undefined || options.crossNamespaceSnapshot !== true)
    return { kind: "foreign", group: "snapshot.storage.k8s.io", sourceKind: "VolumeSnapshotLink", name };
  const key = keyIn(namespace, name);
  if (source.kind === "distant link") return { kind: "unlinked", key, why: "distant" };
  if (!links.isServed()) return { kind: "unlinked", key, why: "unreadable" };
  const link = links.get(key);
  if (link === undefined) return { kind: "unlinked", key, why: "missing" };
  return linkedSource(link) ?? { kind: "unlinked", key, why: "empty" };
}

function sourceFacts(around: Surroundings, claim: PersistentVolumeClaim, volumeName: string): SourceFacts {
  const { stores, snapshotPair, grants } = around;
  const source = resolved(around, sourceOf(claim));
  if (!("referrer" in source)) return source;
  const access = accessTo(source, grants());
  const named = { key: keyIn(source.namespace, source.name), named: source, access };
  const isDenied = access.kind === "denied";
  if (source.kind === "snapshot") {
    // What another namespace has is read for each attempt anew.
    const pair = isDenied ? undefined : snapshotPair(named.key, access.kind === "allowed" ? volumeName : undefined);
    const isUnread = !isDenied && pair === undefined;
    return { ...named, kind: "snapshot", snapshot: pair?.snapshot, content: pair?.content, isUnread };
  }
  const found = isDenied ? undefined : stores.PersistentVolumeClaim.get(named.key);
  const volume = found?.spec?.volumeName
    ? stores.PersistentVolume.get(keyIn(undefined, found.spec.volumeName))
    : undefined;
  return { ...named, kind: "claim", claim: found, volume };
}

/** What a decision about a stored PersistentVolume needs. */
export interface StoredVolumeFacts {
  readonly volume: PersistentVolume;
  readonly storageClass: StorageClass | undefined;
  /** Undefined: they are not watched, because the driver could not attach volumes when the process started. */
  readonly attachments: readonly VolumeAttachment[] | undefined;
  readonly driver: DriverFacts;
  readonly ownNode?: ProvisionerOptions["ownNode"];
}
export interface StoredVolumeView {
  readonly facts: StoredVolumeFacts;
  readonly memory: Pick<VolumeMemory, "reply" | "replyLeftMs" | "repliedTo" | "sentAtMs"> & {
    /** The version of the PersistentVolume whose volume the driver has refused for good to delete, as often as it is asked. */
    readonly refusedVersion?: string | undefined;
    /** A request of ours that creates it is in flight: an earlier one has created it, and this one would create it again. */
    readonly isBeingStored: boolean;
  };
  readonly nowMs: Millis;
}

export function observeStoredVolume(
  { stores, driver, options, nowMs }: Pick<Surroundings, "stores" | "driver" | "options" | "nowMs">,
  key: Key,
  memoryOf: (volume: PersistentVolume) => StoredVolumeView["memory"],
): StoredVolumeView | undefined {
  const volume = stores.PersistentVolume.get(key);
  if (volume === undefined) return undefined;
  const className = volume.spec?.storageClassName ?? "";
  return {
    facts: {
      volume,
      storageClass: stores.StorageClass.get(keyIn(undefined, className)),
      attachments: stores.VolumeAttachment?.by("volume", volume.metadata.name),
      driver,
      ownNode: options.ownNode,
    },
    memory: memoryOf(volume),
    nowMs,
  };
}

/** What a decision about a source needs. */
export interface SourceView {
  readonly source: SourceObject;
  readonly object: VolumeSnapshot | PersistentVolumeClaim;
  readonly driver: string;
  /** A call that is stored, or about to be, needs it. */
  readonly isUsed: boolean;
  /** A snapshot with its content; undefined: to be read first. */
  readonly pair: SnapshotPair | undefined;
  /** The volume of a claim. */
  readonly volume: PersistentVolume | undefined;
}

/** `snapshots` is undefined where they may not be changed. */
export function observeSource(
  { stores, driver, snapshotPair }: Pick<Surroundings, "stores" | "driver" | "snapshotPair">,
  source: SourceObject,
  isUsed: (source: SourceObject) => boolean,
  snapshots: { get(key: Key): VolumeSnapshot | undefined } | undefined,
): SourceView | undefined {
  const { kind, key } = source;
  const claim = kind === "claim" ? stores.PersistentVolumeClaim.get(key) : undefined;
  const object = kind === "claim" ? claim : snapshots?.get(key);
  if (object === undefined) return undefined;
  const volumeName = claim?.spec?.volumeName;
  return {
    source,
    object,
    driver: driver.name,
    isUsed: isUsed(source),
    pair: kind === "snapshot" ? snapshotPair(key) : undefined,
    volume: volumeName ? stores.PersistentVolume.get(keyIn(undefined, volumeName)) : undefined,
  };
}
