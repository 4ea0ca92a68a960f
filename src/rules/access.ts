/**
 * Who can get at the data of a snapshot: through a grant, in its own namespace, or past all grants with a content of a raw handle.
 * The grants are judged by the same function that csi-provisioner asks right before CreateVolume.
 */
import { kindRows } from "../api/kinds.ts";
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  ReferenceGrant,
  VolumeSnapshot,
  VolumeSnapshotContent,
  VolumeSnapshotLink,
} from "../api/types.ts";
import { type PermittedSubject, type RbacObjects, type ResourceRequest, whoCan } from "./rbac.ts";
import { type GrantFrom, type GrantTo, grantAllows, referrersIn } from "./reference-grant.ts";

export interface AccessObjects extends RbacObjects {
  readonly snapshots: readonly VolumeSnapshot[];
  readonly contents: readonly VolumeSnapshotContent[];
  readonly links: readonly VolumeSnapshotLink[];
  readonly claims: readonly PersistentVolumeClaim[];
  readonly volumes: readonly PersistentVolume[];
  readonly grants: readonly ReferenceGrant[];
  /** Names. */
  readonly namespaces: readonly string[];
}

export interface SnapshotName {
  readonly namespace: string;
  readonly name: string;
}

/** claim: by spec.dataSourceRef.namespace. link: by a VolumeSnapshotLink. */
export type Way = "claim" | "link";

interface Grantee {
  readonly namespace: string;
  readonly way: Way | "own namespace";
  /** "prod/to-dev"; the own namespace needs none. */
  readonly grant?: string;
  /** The grant names no snapshot: it covers all of its namespace, and those that are yet to come. */
  readonly wildcard: boolean;
}

export interface NamespaceAccess extends Grantee {
  /** Who can create claims there. */
  readonly creators: readonly PermittedSubject[];
}

interface Restored {
  readonly claim: string;
  readonly way: Way | "own namespace";
  /** Whether a claim of this kind would be allowed today. */
  readonly allowed: boolean;
  readonly volume?: string | undefined;
}

/** A claim whose volume is older than the snapshot: it was restored from another one of the same name, which is deleted. */
type RestoredEarlier = Omit<Restored, "allowed">;

interface Copy {
  readonly content: string;
  /** The snapshot that the content names; of the same name, it is an earlier one. */
  readonly snapshot: string;
}

export interface SnapshotAccess {
  readonly snapshot: string;
  readonly namespaces: readonly NamespaceAccess[];
  /** Who can create a content with any handle, and needs no grant. */
  readonly bypass: readonly PermittedSubject[];
  /** Other contents with the handle of this snapshot: whoever may use their snapshots has its data, without a grant. */
  readonly copies: readonly Copy[];
  /** Claims that name the snapshot. What they have restored stays readable, whatever becomes of the grant. */
  readonly restored: readonly Restored[];
  readonly restoredFromEarlier: readonly RestoredEarlier[];
}

export const { VolumeSnapshot: snapshotRow } = kindRows;
const { VolumeSnapshotLink: linkRow, VolumeSnapshotContent: contentRow } = kindRows;
const froms: Readonly<Record<Way, Omit<GrantFrom, "namespace">>> = {
  claim: { group: "", kind: "PersistentVolumeClaim" },
  link: { group: linkRow.group, kind: "VolumeSnapshotLink" },
};
export const ways = Object.keys(froms) as readonly Way[];

const creating = (group: string, resource: string): ResourceRequest => ({
  verb: "create",
  group,
  resource,
  subresource: "",
  name: "",
});
export const claimCreation = creating("", kindRows.PersistentVolumeClaim.plural);
export const contentCreation = creating(contentRow.group, contentRow.plural);

const targetOf = (snapshot: SnapshotName): GrantTo => ({
  group: snapshotRow.group,
  kind: "VolumeSnapshot",
  ...snapshot,
});
const text = ({ metadata: { namespace = "", name } }: { metadata: { namespace?: string; name: string } }): string =>
  `${namespace}/${name}`;
const nameOf = ({ metadata: { namespace = "", name } }: VolumeSnapshot): SnapshotName => ({ namespace, name });

/** Each namespace and way once for each grant that opens it. */
export function granteesOf({ grants }: Pick<AccessObjects, "grants">, snapshot: SnapshotName): readonly Grantee[] {
  const to = targetOf(snapshot);
  const own: Grantee = { namespace: snapshot.namespace, way: "own namespace", wildcard: false };
  const granted = grants.flatMap((grant) =>
    ways.flatMap((way) =>
      namespacesIn(grant, way)
        .filter((namespace) => grantAllows(grant, { ...froms[way], namespace }, to))
        .map((namespace): Grantee => ({ namespace, way, grant: text(grant), wildcard: isWildcard(grant, to) })),
    ),
  );
  return [own, ...granted];
}

export const namespacesIn = (grant: ReferenceGrant, way: Way): readonly string[] => [
  ...new Set(
    referrersIn(grant)
      .filter(({ group, kind }) => group === froms[way].group && kind === froms[way].kind)
      .map(({ namespace }) => namespace),
  ),
];

/** It also allows a snapshot of a name that nobody can have. */
const isWildcard = ({ spec }: ReferenceGrant, { group, kind }: GrantTo): boolean =>
  (spec?.to ?? []).some((item) => item?.group === group && item.kind === kind && (item.name ?? "") === "");

export function snapshotAccess(objects: AccessObjects, snapshot: SnapshotName): SnapshotAccess {
  return {
    snapshot: `${snapshot.namespace}/${snapshot.name}`,
    namespaces: granteesOf(objects, snapshot).map((grantee) => ({
      ...grantee,
      creators: whoCan(objects, claimCreation, grantee.namespace),
    })),
    bypass: whoCan(objects, contentCreation, ""),
    copies: copiesOf(objects, snapshot),
    ...restoredFrom(objects, snapshot),
  };
}

const handleIn = ({ spec, status }: VolumeSnapshotContent): string =>
  status?.snapshotHandle || spec.source?.snapshotHandle || "";
export const snapshotIn = ({ spec }: VolumeSnapshotContent): string =>
  `${spec.volumeSnapshotRef?.namespace ?? ""}/${spec.volumeSnapshotRef?.name ?? ""}`;

const snapshotAt = ({ snapshots }: AccessObjects, { namespace, name }: SnapshotName): VolumeSnapshot | undefined =>
  snapshots.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);

/** The uid decides as soon as the content has one: another snapshot may have had the name before. */
function isContentOf(
  content: VolumeSnapshotContent,
  name: SnapshotName,
  snapshot: VolumeSnapshot | undefined,
): boolean {
  const { uid } = content.spec.volumeSnapshotRef ?? {};
  const isOther = uid && snapshot !== undefined && uid !== snapshot.metadata.uid;
  return snapshotIn(content) === `${name.namespace}/${name.name}` && !isOther;
}

function copiesOf(objects: AccessObjects, name: SnapshotName): readonly Copy[] {
  const snapshot = snapshotAt(objects, name);
  const own = new Set(objects.contents.filter((content) => isContentOf(content, name, snapshot)));
  const handles = [...own]
    .filter((content) => handleIn(content) !== "")
    .map((content) => `${content.spec.driver} ${handleIn(content)}`);
  return objects.contents
    .filter((content) => !own.has(content) && handles.includes(`${content.spec.driver} ${handleIn(content)}`))
    .map((content) => ({ content: content.metadata.name, snapshot: snapshotIn(content) }));
}

function restoredFrom(
  objects: AccessObjects,
  name: SnapshotName,
): Pick<SnapshotAccess, "restored" | "restoredFromEarlier"> {
  const grantees = granteesOf(objects, name);
  const snapshot = snapshotAt(objects, name);
  const all = objects.claims.flatMap((claim) => {
    const way = wayOf(objects, claim, name);
    if (way === undefined) return [];
    const { namespace } = claim.metadata;
    const allowed = grantees.some((grantee) => grantee.namespace === namespace && grantee.way === way);
    const isEarlier = snapshot !== undefined && isFromEarlier(objects, claim, snapshot);
    return [{ claim: text(claim), way, allowed, volume: claim.spec?.volumeName, isEarlier }];
  });
  return {
    restored: all.filter(({ isEarlier }) => !isEarlier).map(({ isEarlier: _, ...claim }) => claim),
    restoredFromEarlier: all
      .filter(({ isEarlier }) => isEarlier)
      .map(({ isEarlier: _, allowed: __, ...claim }) => claim),
  };
}

/**
 * A claim names its source without a uid, and the snapshot of that name may be another one by now. No volume is restored before its
 * snapshot is created, so an older volume is another snapshot's. Dates of the API server have whole seconds: equal ones prove nothing.
 */
function isFromEarlier(
  { volumes }: AccessObjects,
  { spec, metadata }: PersistentVolumeClaim,
  snapshot: VolumeSnapshot,
): boolean {
  const volume = volumes.find(({ metadata: { name } }) => name === spec?.volumeName);
  const isBound = volume?.spec?.claimRef?.uid === metadata.uid;
  const [made, taken] = [volume, snapshot].map((object) => Date.parse(object?.metadata.creationTimestamp ?? ""));
  return isBound && made !== undefined && taken !== undefined && made < taken;
}

/** How a claim names the snapshot; undefined: it does not. An explicit namespace needs a grant, also the claim's own. */
function wayOf(
  { links }: AccessObjects,
  { metadata, spec }: PersistentVolumeClaim,
  snapshot: SnapshotName,
): Restored["way"] | undefined {
  const source: { apiGroup?: string; kind?: string; name?: string; namespace?: string } =
    spec?.dataSourceRef ?? spec?.dataSource ?? {};
  if (source.apiGroup !== snapshotRow.group) return undefined;
  const { namespace: home = "" } = metadata;
  if (source.kind === "VolumeSnapshot")
    return namesIt(source, home, snapshot) ? (source.namespace ? "claim" : "own namespace") : undefined;
  if (source.kind !== "VolumeSnapshotLink") return undefined;
  const link = links.find(({ metadata: at }) => at.namespace === home && at.name === source.name)?.spec?.source;
  if (link === undefined || !namesIt(link, home, snapshot)) return undefined;
  return link.namespace ? "link" : "own namespace";
}

const namesIt = (
  source: { readonly name?: string; readonly namespace?: string },
  home: string,
  { namespace, name }: SnapshotName,
): boolean => source.name === name && (source.namespace || home) === namespace;

/** A snapshot that a namespace may restore. */
export interface Reachable extends Omit<Grantee, "namespace"> {
  readonly snapshot: string;
}

export const reachableFrom = (objects: AccessObjects, namespace: string): readonly Reachable[] =>
  objects.snapshots.flatMap((snapshot) =>
    granteesOf(objects, nameOf(snapshot))
      .filter((grantee) => grantee.namespace === namespace)
      .map(({ namespace: _, ...grantee }) => ({ snapshot: text(snapshot), ...grantee })),
  );

/** A grant for restores that lets nobody restore anything today. */
export interface UselessGrant {
  readonly grant: string;
  readonly reason: string;
}

export const uselessGrants = (objects: AccessObjects): readonly UselessGrant[] =>
  objects.grants.flatMap((grant) => {
    const reason = whyUseless(objects, grant);
    return reason === undefined ? [] : [{ grant: text(grant), reason }];
  });

function whyUseless(objects: AccessObjects, grant: ReferenceGrant): string | undefined {
  const isForRestores = (grant.spec?.to ?? []).some((item) => item?.kind === "VolumeSnapshot");
  if (!isForRestores) return undefined;
  const froms = ways.flatMap((way) => namespacesIn(grant, way));
  if (froms.length === 0) return 'spec.from names neither PersistentVolumeClaim of the group "" nor VolumeSnapshotLink';
  if (!froms.some((namespace) => objects.namespaces.includes(namespace)))
    return `no namespace of spec.from exists (${[...new Set(froms)].join(", ")})`;
  const isUsed = objects.snapshots.some((snapshot) =>
    granteesOf({ grants: [grant] }, nameOf(snapshot)).some(({ grant: by }) => by !== undefined),
  );
  return isUsed ? undefined : `no VolumeSnapshot of namespace ${grant.metadata.namespace ?? ""} matches spec.to`;
}
