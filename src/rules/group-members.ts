/**
 * The members of a group, as its content lists them. Three places may have the list: volumeSnapshotInfoList of v1 and v1beta2, the
 * annotation in which upstream's conversion webhook keeps it from clients of v1beta1, and the handle pairs of v1beta1. Our sidecar
 * writes the annotation too: a typed v1beta1 client that replaces the status drops the list, but cannot touch the metadata.
 */
import { annotations } from "../api/names.ts";
import type { OwnerReference, VolumeGroupSnapshotContent, VolumeSnapshot, VolumeSnapshotInfo } from "../api/types.ts";
import { isObject, parse, print } from "../base/json.ts";

/** The group that a snapshot says it is a member of. */
export const ownerGroupOf = ({ metadata }: Pick<VolumeSnapshot, "metadata">): OwnerReference | undefined =>
  metadata.ownerReferences?.find(
    ({ kind, apiVersion }) => kind === "VolumeGroupSnapshot" && apiVersion.startsWith("groupsnapshot.storage.k8s.io/"),
  );

const memberName = /^snapshot-([0-9a-f]{64})$/;
/**
 * The content of a member that was made for a group: both names are made from the group's uid and the volume. Undefined for all other
 * snapshots, also for members of a pre-provisioned group, which name their content. Whoever forges owner and name gains nothing: a
 * content must point back at the snapshot's uid.
 */
export function memberContentNameOf(snapshot: Pick<VolumeSnapshot, "metadata">): string | undefined {
  const digest = memberName.exec(snapshot.metadata.name)?.[1];
  return digest === undefined || ownerGroupOf(snapshot) === undefined ? undefined : `snapcontent-${digest}`;
}
export const memberNamesFor = (digest: string) => ({
  snapshot: `snapshot-${digest}`,
  content: `snapcontent-${digest}`,
});

type GroupContentSource =
  | { readonly kind: "volumes"; readonly handles: readonly string[] }
  | { readonly kind: "group"; readonly handle: string; readonly snapshots: readonly string[] }
  | { readonly kind: "unclear" };

/** The volumes that are to be snapshotted together, or a group that exists. */
export function groupContentSourceOf({ spec }: Pick<VolumeGroupSnapshotContent, "spec">): GroupContentSource {
  const { volumeHandles = [], groupSnapshotHandles: existing } = spec.source ?? {};
  const handle = existing?.volumeGroupSnapshotHandle ?? "";
  if (volumeHandles.length > 0 === (handle !== "")) return { kind: "unclear" };
  return handle === ""
    ? { kind: "volumes", handles: volumeHandles }
    : { kind: "group", handle, snapshots: existing?.volumeSnapshotHandles ?? [] };
}

/** The ids of all snapshots of the group that are known. */
export function snapshotHandlesOf(content: VolumeGroupSnapshotContent): readonly string[] {
  const source = groupContentSourceOf(content);
  const given = source.kind === "group" ? source.snapshots : [];
  const answered = membersOf(content).map(({ snapshotHandle }) => snapshotHandle ?? "");
  return [...new Set([...given, ...answered])].filter((handle) => handle !== "");
}

export const membersOf = (content: VolumeGroupSnapshotContent): readonly VolumeSnapshotInfo[] =>
  nonEmpty(content.status?.volumeSnapshotInfoList) ??
  nonEmpty(annotatedMembers(content)) ??
  content.status?.volumeSnapshotHandlePairList ??
  [];

const nonEmpty = <T>(list: readonly T[] | undefined): readonly T[] | undefined =>
  list === undefined || list.length === 0 ? undefined : list;

/** Anybody may write an annotation: what is no list of members counts as absent. */
export function annotatedMembers({ metadata }: VolumeGroupSnapshotContent): readonly VolumeSnapshotInfo[] | undefined {
  const text = metadata.annotations?.[annotations.groupMembers];
  if (text === undefined) return undefined;
  try {
    const list = parse(text);
    return Array.isArray(list) && list.every(isMember) ? (list as readonly VolumeSnapshotInfo[]) : undefined;
  } catch {
    return undefined;
  }
}

const isMember = (item: unknown): boolean =>
  isObject(item) &&
  isText(item.volumeHandle) &&
  isText(item.snapshotHandle) &&
  (item.readyToUse === undefined || typeof item.readyToUse === "boolean") &&
  isNumber(item.creationTime) &&
  isNumber(item.restoreSize);
const isText = (value: unknown): boolean => typeof value === "string" && value !== "";
const isNumber = (value: unknown): boolean =>
  value === undefined || typeof value === "bigint" || typeof value === "number";

/** The form in which upstream's webhook reads and writes it. */
export const noteOfMembers = (members: readonly VolumeSnapshotInfo[]): string =>
  print(members.map((member) => ({ ...member })));
