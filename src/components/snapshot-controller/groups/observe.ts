/** Reads the facts about one group, or one group content, from the caches, in one synchronous step. */
import { annotations, groupContentNameFor } from "../../../api/names.ts";
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  VolumeGroupSnapshot,
  VolumeGroupSnapshotClass,
  VolumeGroupSnapshotContent,
  VolumeSnapshot,
  VolumeSnapshotContent,
  VolumeSnapshotInfo,
} from "../../../api/types.ts";
import { type Key, keyIn, type Millis } from "../../../base/brand.ts";
import { memberNamesFor, membersOf } from "../../../rules/group-members.ts";
import { type GroupSource, groupSourcesOf } from "../../../rules/group-sources.ts";
import { isClaimSelected } from "../../../rules/label-selector.ts";
import type { SnapshotCaches, SnapshotOptions } from "../observe.ts";
import { isRestoringUndecided, type RestoringClaim, restoringFrom } from "../restoring.ts";

/** A claim that the selector matches, with the volume that it names. */
export interface SelectedClaim {
  readonly claim: PersistentVolumeClaim;
  readonly volume: PersistentVolume | undefined;
}

/** A member as the group content lists it, and the objects that stand for it. */
export interface Member {
  readonly info: VolumeSnapshotInfo;
  readonly names: { readonly snapshot: string; readonly content: string };
  readonly source: GroupSource;
  readonly snapshot: VolumeSnapshot | undefined;
  readonly content: VolumeSnapshotContent | undefined;
}

export interface GroupFacts {
  readonly group: VolumeGroupSnapshot;
  readonly content: VolumeGroupSnapshotContent | undefined;
  /** The class that the group names. */
  readonly groupClass: VolumeGroupSnapshotClass | undefined;
  /** All default classes, of whatever driver, for a group that names none. */
  readonly defaultClasses: readonly VolumeGroupSnapshotClass[];
  /** Sorted by name; none for a group that names its content. */
  readonly claims: readonly SelectedClaim[];
  /** Those that the content lists with a volume. */
  readonly members: readonly Member[];
  /** The snapshots that say they are members of this group. */
  readonly owned: readonly VolumeSnapshot[];
  /** Claims that are being restored from a member. */
  readonly restoring: readonly RestoringClaim[];
  readonly isRestoringUndecided: boolean;
  readonly keepsVolumeMode: boolean;
}

export interface GroupView {
  readonly facts: GroupFacts;
  /** Nothing is remembered: every step is derived from what is stored. */
  readonly memory: undefined;
  readonly nowMs: Millis;
}

interface Cache<T> {
  get(key: Key): T | undefined;
  all(): Iterable<T>;
}
export interface GroupCaches extends SnapshotCaches {
  readonly VolumeGroupSnapshot: Cache<VolumeGroupSnapshot>;
  readonly VolumeGroupSnapshotContent: Cache<VolumeGroupSnapshotContent>;
  readonly VolumeGroupSnapshotClass: Cache<VolumeGroupSnapshotClass>;
}

export interface GroupContext {
  readonly options: SnapshotOptions;
  /** SHA-256 in lower-case hexadecimal digits. */
  digestOf(text: string): string;
  readonly nowMs: Millis;
}

/** The content that the group names, or the one that is made for it. */
export const contentNameOfGroup = ({ metadata, spec }: VolumeGroupSnapshot): string =>
  spec.source?.volumeGroupSnapshotContentName || groupContentNameFor(metadata.uid);

export function observeGroup(
  stores: GroupCaches,
  { options, digestOf, nowMs }: GroupContext,
  key: Key,
): GroupView | undefined {
  const group = stores.VolumeGroupSnapshot.get(key);
  if (group === undefined) return undefined;
  const content = stores.VolumeGroupSnapshotContent.get(keyIn(undefined, contentNameOfGroup(group)));
  const className = group.spec.volumeGroupSnapshotClassName;
  const owned = stores.VolumeSnapshot.by("group", group.metadata.uid);
  const facts: GroupFacts = {
    group,
    content,
    groupClass: className ? stores.VolumeGroupSnapshotClass.get(keyIn(undefined, className)) : undefined,
    defaultClasses: className ? [] : defaultClassesIn(stores),
    claims: content === undefined ? selectedClaims(stores, group) : [],
    members: content === undefined ? [] : membersIn(stores, group, content, digestOf),
    owned,
    restoring: owned.flatMap((snapshot) =>
      snapshot.status?.readyToUse === true ? restoringFrom(stores, options, snapshot) : [],
    ),
    isRestoringUndecided: owned.some((snapshot) => isRestoringUndecided(stores, options, snapshot)),
    keepsVolumeMode: options.preventVolumeModeConversion,
  };
  return { facts, memory: undefined, nowMs };
}

const defaultClassesIn = (stores: GroupCaches): readonly VolumeGroupSnapshotClass[] =>
  [...stores.VolumeGroupSnapshotClass.all()].filter(
    ({ metadata }) => metadata.annotations?.[annotations.defaultGroupClass] === "true",
  );

function selectedClaims(stores: GroupCaches, { metadata, spec }: VolumeGroupSnapshot): readonly SelectedClaim[] {
  const { selector } = spec.source ?? {};
  if (selector === undefined) return [];
  return [...stores.PersistentVolumeClaim.all()]
    .filter(
      (claim) => claim.metadata.namespace === metadata.namespace && isClaimSelected(selector, claim.metadata.labels),
    )
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    .map((claim) => ({
      claim,
      volume: claim.spec?.volumeName ? stores.PersistentVolume.get(keyIn(undefined, claim.spec.volumeName)) : undefined,
    }));
}

function membersIn(
  stores: GroupCaches,
  group: VolumeGroupSnapshot,
  content: VolumeGroupSnapshotContent,
  digestOf: GroupContext["digestOf"],
): readonly Member[] {
  if (group.spec.source?.selector === undefined) return [];
  const noted = groupSourcesOf(content);
  return membersOf(content).flatMap((info) => {
    const { volumeHandle } = info;
    if (!volumeHandle) return [];
    const names = memberNamesFor(digestOf(`${group.metadata.uid}${volumeHandle}`));
    const source = noted.get(volumeHandle) ?? sourceByVolume(stores, group, content.spec.driver, volumeHandle);
    const snapshot = stores.VolumeSnapshot.get(keyIn(group.metadata.namespace, names.snapshot));
    return [
      { info, names, source, snapshot, content: stores.VolumeSnapshotContent.get(keyIn(undefined, names.content)) },
    ];
  });
}

/** For contents that upstream's controller made, which note nothing. */
function sourceByVolume(
  stores: GroupCaches,
  { metadata: { namespace } }: VolumeGroupSnapshot,
  driver: string,
  handle: string,
): GroupSource {
  for (const { spec } of stores.PersistentVolume.all()) {
    if (spec?.csi?.driver !== driver || spec.csi.volumeHandle !== handle) continue;
    if (spec.claimRef?.namespace === namespace && spec.claimRef?.name)
      return { claim: spec.claimRef.name, ...(spec.volumeMode === undefined ? {} : { mode: spec.volumeMode }) };
  }
  return { claim: "unknown" };
}

export interface GroupContentFacts {
  readonly content: VolumeGroupSnapshotContent;
  /** The group of the name that the content refers to, whatever its uid. */
  readonly group: VolumeGroupSnapshot | undefined;
}
export interface GroupContentView {
  readonly facts: GroupContentFacts;
  readonly memory: undefined;
  readonly nowMs: Millis;
}

export function observeGroupContent(
  stores: GroupCaches,
  { nowMs }: GroupContext,
  key: Key,
): GroupContentView | undefined {
  const content = stores.VolumeGroupSnapshotContent.get(key);
  if (content === undefined) return undefined;
  const { namespace, name = "" } = content.spec.volumeGroupSnapshotRef ?? {};
  const group = stores.VolumeGroupSnapshot.get(keyIn(namespace, name));
  return { facts: { content, group }, memory: undefined, nowMs };
}
