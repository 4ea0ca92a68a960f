/** To which snapshot a claim refers, and whether it may. */
import type { KubeObject, PersistentVolumeClaim, ReferenceGrant, VolumeSnapshotLink } from "../../../src/api/types.ts";
import type { Seen, WatchedKind } from "../record.ts";

/** A snapshot that is named with its namespace: somebody has to consent. */
export interface Reference {
  readonly fromKind: "PersistentVolumeClaim" | "VolumeSnapshotLink";
  readonly from: string;
  readonly namespace: string;
  readonly name: string;
  readonly key: string;
  /** The last link of the name that the claim has, whether it is there or not. */
  readonly link: KubeObject | undefined;
}

/** Undefined: the claim names nothing, or something of its own namespace by its name alone. */
export function referenceOf(seen: Seen, { metadata, spec }: PersistentVolumeClaim): Reference | undefined {
  const { namespace: own = "" } = metadata;
  const ref = spec?.dataSourceRef as { kind?: string; name?: string; namespace?: string } | undefined;
  if (ref?.kind === "VolumeSnapshotLink") {
    const links = seen.everyPast("VolumeSnapshotLink").map(({ object }) => object as VolumeSnapshotLink);
    const link = links.findLast((item) => item.metadata.namespace === own && item.metadata.name === ref.name);
    return link === undefined ? undefined : made("VolumeSnapshotLink", own, link.spec?.source ?? {}, link);
  }
  return ref === undefined || ref === null ? undefined : made("PersistentVolumeClaim", own, ref);
}

const made = (
  fromKind: Reference["fromKind"],
  from: string,
  { namespace, name }: { readonly namespace?: string | undefined; readonly name?: string | undefined },
  link?: KubeObject,
): Reference | undefined =>
  namespace === undefined || namespace === "" || name === undefined
    ? undefined
    : { fromKind, from, namespace, name, key: `${namespace}/${name}`, link };

/** All grants that ever allowed the reference. Nobody changes them here. */
export const grantsOf = (seen: Seen, { fromKind, from, namespace, name }: Reference): readonly ReferenceGrant[] =>
  seen
    .everyPast("ReferenceGrant")
    .map(({ object }) => object as ReferenceGrant)
    .filter(
      ({ metadata, spec }) =>
        metadata.namespace === namespace &&
        spec?.from?.some((item) => item.kind === fromKind && item.namespace === from) &&
        spec?.to?.some((item) => item.kind === "VolumeSnapshot" && (item.name === undefined || item.name === name)),
    );

/** Whether this very incarnation is stored. */
export const isThere = (seen: Seen, { kind, metadata }: KubeObject): boolean =>
  seen.objects(kind as WatchedKind).get(`${metadata.namespace}/${metadata.name}`)?.metadata.uid === metadata.uid;

/** Whether nobody lets the claim use what it names with its namespace: it has no grant, or its link is gone. */
export function isDenied(seen: Seen, claim: PersistentVolumeClaim): boolean {
  const reference = referenceOf(seen, claim);
  return reference !== undefined && !isAllowedBy(seen, reference, () => true);
}

/** Whether it may be used by what is there and counts. */
export const isAllowedBy = (seen: Seen, reference: Reference, counts: (object: KubeObject) => boolean): boolean =>
  (reference.link === undefined || (isThere(seen, reference.link) && counts(reference.link))) &&
  grantsOf(seen, reference).some((grant) => isThere(seen, grant) && counts(grant));
