/** What a decision about a volume that a claim wants needs, from the caches, in one synchronous step. */
import type { KeptNode } from "../../../api/kept.ts";
import type {
  CSINode,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
  VolumeSnapshot,
  VolumeSnapshotContent,
  VolumeSnapshotLink,
} from "../../../api/types.ts";
import { type Key, keyIn, type Millis } from "../../../base/brand.ts";
import { linkedSource, type NamedSource, type SourceRef, sourceOf } from "../../../rules/data-source.ts";
import { type Access, accessTo, type GrantFacts } from "../../../rules/source-access.ts";
import { attributesClassOf, classNameOf } from "../claims/claim.ts";
import type { AttributesClass } from "../claims/prepare.ts";
import { nodesAround } from "../driver/own-node.ts";
import { nameInKey, type VolumeName } from "../identity.ts";
import type { DriverFacts, ProvisionerOptions } from "../options.ts";
import type { SnapshotReader } from "../sources/snapshot-reader.ts";
import type { Intent } from "../stored-calls/intent.ts";
import type { VolumeMemories, VolumeMemory } from "./memory.ts";

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
  readonly name: VolumeName;
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
  readonly nodes: readonly KeptNode[];
  readonly csiNodes: readonly CSINode[];
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

export interface VolumeStores {
  readonly PersistentVolumeClaim: Cache<PersistentVolumeClaim, "volume">;
  readonly PersistentVolume: Cache<PersistentVolume, "handle">;
  readonly StorageClass: Cache<StorageClass>;
  readonly Node?: Cache<KeptNode> | undefined;
  readonly CSINode?: Cache<CSINode> | undefined;
}

export interface VolumeContext
  extends Pick<VolumeFacts, "driver" | "options" | "identity" | "watchesSnapshots" | "protectsSnapshots"> {
  readonly memory: VolumeMemories;
  readonly intents: { get(name: VolumeName): Intent | undefined };
  /** Undefined: to be read first. */
  readonly attributes: { get(name: string): AttributesClass | undefined };
  readonly snapshots: Pick<SnapshotReader, "pair">;
  readonly grants: GrantFacts;
  readonly links: { isServed(): boolean; get(key: Key): VolumeSnapshotLink | undefined } | undefined;
  readonly nowMs: Millis;
}

export function observeVolume(stores: VolumeStores, context: VolumeContext, key: Key): VolumeView | undefined {
  const { driver, options, identity, watchesSnapshots, protectsSnapshots, nowMs } = context;
  const name = nameInKey(key);
  const memory = context.memory.about(name);
  const [claim] = stores.PersistentVolumeClaim.by("volume", name);
  const intent = context.intents.get(name);
  if (claim === undefined && intent === undefined && memory.stray === undefined) return undefined;
  const volumesWith = (id: string): readonly PersistentVolume[] =>
    stores.PersistentVolume.by("handle", id).filter(({ spec }) => spec?.csi?.driver === driver.name);
  const facts = {
    name,
    claim,
    storageClass: claim && stores.StorageClass.get(keyIn(undefined, classNameOf(claim))),
    volume: stores.PersistentVolume.get(key),
    source: claim === undefined ? ({ kind: "none" } as const) : sourceFacts(stores, context, claim, name),
    attributes: attributesOf(context, claim),
    intent,
    holder: holderOf(volumesWith, name, memory, intent),
    classes: memory.isAdopted ? classesOf(stores, driver) : undefined,
    isStrayHeld: memory.stray !== undefined && volumesWith(memory.stray.id).length > 0,
    ...{ driver, options, identity, watchesSnapshots, protectsSnapshots },
    ...nodesOf(stores, context),
  };
  return { facts, memory, nowMs };
}

const classesOf = ({ StorageClass }: VolumeStores, { name }: DriverFacts): readonly StorageClass[] =>
  [...StorageClass.all()].filter(({ provisioner }) => provisioner === name);

function nodesOf(stores: VolumeStores, { driver, options }: VolumeContext) {
  if (!driver.plugin.has("VOLUME_ACCESSIBILITY_CONSTRAINTS")) return { nodes: [], csiNodes: [] };
  if (options.ownNode !== undefined) return nodesAround(driver.name, options.ownNode);
  return { nodes: [...(stores.Node?.all() ?? [])], csiNodes: [...(stores.CSINode?.all() ?? [])] };
}

function attributesOf({ options, attributes }: VolumeContext, claim: PersistentVolumeClaim | undefined) {
  const name = claim === undefined ? undefined : attributesClassOf(options, claim);
  return name === undefined ? undefined : attributes.get(name);
}

function holderOf(
  volumesWith: (id: string) => readonly PersistentVolume[],
  name: VolumeName,
  { reply, sharedWith }: VolumeMemory,
  intent: Intent | undefined,
) {
  const id = reply.kind === "created" ? reply.volume.id : (intent?.undoes ?? intent?.published);
  if (id === undefined) return undefined;
  const holder = volumesWith(id).find(({ metadata }) => metadata.name !== name);
  return holder?.metadata.name ?? sharedWith;
}

/** Follows a link. */
function resolved(
  { links, options }: VolumeContext,
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

function sourceFacts(
  stores: VolumeStores,
  context: VolumeContext,
  claim: PersistentVolumeClaim,
  name: VolumeName,
): SourceFacts {
  const source = resolved(context, sourceOf(claim));
  if (!("referrer" in source)) return source;
  const access = accessTo(source, context.grants);
  const named = { key: keyIn(source.namespace, source.name), named: source, access };
  const isDenied = access.kind === "denied";
  if (source.kind === "snapshot") {
    // What another namespace has is read for each attempt anew.
    const attempt = access.kind === "allowed" ? name : undefined;
    const pair = isDenied ? undefined : context.snapshots.pair(named.key, attempt);
    const isUnread = !isDenied && pair === undefined;
    return { ...named, kind: "snapshot", snapshot: pair?.snapshot, content: pair?.content, isUnread };
  }
  const found = isDenied ? undefined : stores.PersistentVolumeClaim.get(named.key);
  const volume = found?.spec?.volumeName
    ? stores.PersistentVolume.get(keyIn(undefined, found.spec.volumeName))
    : undefined;
  return { ...named, kind: "claim", claim: found, volume };
}
