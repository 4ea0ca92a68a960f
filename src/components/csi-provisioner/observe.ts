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
} from "../../api/types.ts";
import { type Key, keyIn, type Millis } from "../../base/brand.ts";
import type { CsiReply } from "../../runtime/reply-cache.ts";
import type { CreatedVolume, VolumeCall } from "./call.ts";
import { attributesClassOf, classNameOf, type SourceRef, sourceOf } from "./claim.ts";
import type { Intent } from "./intent.ts";
import type { SourceView } from "./plan-source.ts";
import type { DriverFacts, ProvisionerOptions } from "./prepare.ts";
import type { SourceObject } from "./source.ts";

/** What the driver has answered. */
export type VolumeAnswer = { readonly kind: "created"; readonly volume: CreatedVolume } | { readonly kind: "deleted" };
export type VolumeReply = CsiReply<VolumeAnswer> | { readonly kind: "none" };

/** What a claim is to be filled from, as far as it has been read. */
export type SourceFacts =
  | Exclude<SourceRef, { kind: "snapshot" | "claim" }>
  | {
      readonly kind: "snapshot";
      readonly key: Key;
      readonly snapshot: VolumeSnapshot | undefined;
      readonly content: VolumeSnapshotContent | undefined;
      /** Neither was read lately. */
      readonly isUnread: boolean;
    }
  | {
      readonly kind: "claim";
      readonly key: Key;
      readonly claim: PersistentVolumeClaim | undefined;
      readonly volume: PersistentVolume | undefined;
    };

/** What a claim's VolumeAttributesClass says. */
export type AttributesClass =
  | { readonly kind: "missing" }
  | { readonly kind: "class"; readonly driverName: string; readonly parameters: Readonly<Record<string, string>> };

export interface VolumeFacts {
  readonly name: string;
  /** The claim that the volume is made for. */
  readonly claim: PersistentVolumeClaim | undefined;
  readonly storageClass: StorageClass | undefined;
  /** As it is stored under the volume's name. */
  readonly volume: PersistentVolume | undefined;
  readonly source: SourceFacts;
  /** Of the VolumeAttributesClass that the claim names; undefined: it names none, or is yet to be read. */
  readonly attributes: AttributesClass | undefined;
  /** The CreateVolume call that may have been sent, as it is stored. */
  readonly intent: Intent | undefined;
  /** Name of another PersistentVolume that has, or is about to get, the volume which the driver has answered. */
  readonly holder: string | undefined;
  readonly driver: DriverFacts;
  readonly options: ProvisionerOptions;
  readonly nodes: readonly Node[];
  readonly csiNodes: readonly CSINode[];
}

export interface VolumeMemory {
  /** To the last call that was sent for the same goal, until it expires. */
  readonly reply: VolumeReply;
  readonly replyLeftMs: Millis;
  /** The reply is to DeleteVolume. */
  readonly isUndoing: boolean;
  /** The call that the reply is to, or a later one. */
  readonly repliedTo: VolumeCall | undefined;
  /** An attempt whose outcome nobody knows may have created the volume: a later refusal does not say that there is none. */
  readonly isUncertain: boolean;
  /** The name of another volume to which the driver has answered the same id. */
  readonly sharedWith: string | undefined;
  /** How long nothing is to be sent, because volumes were created and deleted in vain. */
  readonly pauseMs: Millis;
  /** Of this process. */
  readonly identity: string;
  /** Whether changes of VolumeSnapshots are seen by themselves. */
  readonly watchesSnapshots: boolean;
  /** Whether VolumeSnapshots may be changed, to protect them. */
  readonly protectsSnapshots: boolean;
}

export interface VolumeView {
  readonly facts: VolumeFacts;
  readonly memory: VolumeMemory;
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
  readonly stores: ProvisionerCaches;
  readonly driver: DriverFacts;
  readonly options: ProvisionerOptions;
  intentOf(name: string): Intent | undefined;
  /** Undefined: to be read first. */
  attributesClass(name: string): AttributesClass | undefined;
  /** Undefined: to be read first. */
  snapshotPair(key: Key): SnapshotPair | undefined;
}

export function observeVolume(around: Surroundings, key: Key, memory: VolumeMemory): VolumeView | undefined {
  const { stores, driver, options, intentOf } = around;
  const name = String(key);
  const [claim] = stores.PersistentVolumeClaim.by("volume", name);
  const volume = stores.PersistentVolume.get(key);
  const intent = intentOf(name);
  if (claim === undefined && intent === undefined) return undefined;
  const hasTopology = driver.plugin.has("VOLUME_ACCESSIBILITY_CONSTRAINTS");
  return {
    facts: {
      name,
      claim,
      storageClass: claim && stores.StorageClass.get(keyIn(undefined, classNameOf(claim))),
      volume,
      source: claim === undefined ? { kind: "none" } : sourceFacts(around, claim),
      attributes: attributesOf(around, claim),
      intent,
      holder: holderOf(around, name, memory),
      driver,
      options,
      nodes: hasTopology ? [...(stores.Node?.all() ?? [])] : [],
      csiNodes: hasTopology ? [...(stores.CSINode?.all() ?? [])] : [],
    },
    memory,
  };
}

function attributesOf({ options, attributesClass }: Surroundings, claim: PersistentVolumeClaim | undefined) {
  const name = claim === undefined ? undefined : attributesClassOf(options, claim);
  return name === undefined ? undefined : attributesClass(name);
}

function holderOf({ stores, driver }: Surroundings, name: string, { reply, sharedWith }: VolumeMemory) {
  if (reply.kind !== "created") return undefined;
  const holder = stores.PersistentVolume.by("handle", reply.volume.id).find(
    ({ metadata, spec }) => metadata.name !== name && spec?.csi?.driver === driver.name,
  );
  return holder?.metadata.name ?? sharedWith;
}

function sourceFacts({ stores, snapshotPair }: Surroundings, claim: PersistentVolumeClaim): SourceFacts {
  const source = sourceOf(claim);
  if (source.kind === "snapshot") {
    const key = keyIn(source.namespace, source.name);
    const pair = snapshotPair(key);
    return { kind: "snapshot", key, snapshot: pair?.snapshot, content: pair?.content, isUnread: pair === undefined };
  }
  if (source.kind !== "claim") return source;
  const key = keyIn(source.namespace, source.name);
  const found = stores.PersistentVolumeClaim.get(key);
  const volumeName = found?.spec?.volumeName;
  const volume = volumeName ? stores.PersistentVolume.get(keyIn(undefined, volumeName)) : undefined;
  return { kind: "claim", key, claim: found, volume };
}

/** What a decision about a stored PersistentVolume needs. */
export interface StoredVolumeFacts {
  readonly volume: PersistentVolume;
  readonly storageClass: StorageClass | undefined;
  /** Undefined: they are not watched, because the driver could not attach volumes when the process started. */
  readonly attachments: readonly VolumeAttachment[] | undefined;
  readonly driver: DriverFacts;
}
export interface StoredVolumeView {
  readonly facts: StoredVolumeFacts;
  readonly memory: Pick<VolumeMemory, "reply" | "replyLeftMs" | "repliedTo">;
}

export function observeStoredVolume(
  { stores, driver }: Pick<Surroundings, "stores" | "driver">,
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
    },
    memory: memoryOf(volume),
  };
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
