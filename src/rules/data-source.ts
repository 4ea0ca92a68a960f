/** What a claim names as the source of its data, and who has to consent to it: one answer for all components and tools. */
import { type KindName, kindRows } from "../api/kinds.ts";
import type { PersistentVolumeClaim, VolumeSnapshotLink } from "../api/types.ts";
import type { GrantFrom, GrantTo } from "./reference-grant.ts";

/** A VolumeSnapshot or a claim, wherever it is. */
export interface NamedSource {
  readonly kind: "snapshot" | "claim";
  readonly namespace: string;
  readonly name: string;
  /**
   * Who refers, if a namespace is written out: then the owner of that namespace has to consent, also where it is the referrer's own.
   * Undefined: the source is named by its name alone, and is in the namespace of the claim.
   */
  readonly referrer: GrantFrom | undefined;
  /** The link that names it, in the namespace of the claim. */
  readonly link?: { readonly name: string; readonly uid: string };
}

export type SourceRef =
  | { readonly kind: "none" }
  | NamedSource
  /** A VolumeSnapshotLink in the namespace of the claim says which snapshot is meant. */
  | { readonly kind: "link"; readonly namespace: string; readonly name: string }
  /** A populator of its own fills the volume: nothing to do for a provisioner. */
  | { readonly kind: "foreign"; readonly group: string; readonly sourceKind: string; readonly name: string }
  /** A VolumeSnapshotLink that is named with its namespace: links are followed in the namespace of the claim, and only by their name. */
  | { readonly kind: "distant link"; readonly namespace: string; readonly name: string }
  | { readonly kind: "nameless" };

const objectKinds = {
  snapshot: "VolumeSnapshot",
  claim: "PersistentVolumeClaim",
} as const satisfies Record<NamedSource["kind"], KindName>;
export const objectKindOf = ({ kind }: Pick<NamedSource, "kind">) => objectKinds[kind];

/** What a grant has to name. */
export const grantToOf = (source: Pick<NamedSource, "kind" | "namespace" | "name">): GrantTo => ({
  group: kindRows[objectKindOf(source)].group,
  kind: objectKindOf(source),
  namespace: source.namespace,
  name: source.name,
});
export const referrerOf = (kind: "PersistentVolumeClaim" | "VolumeSnapshotLink", namespace: string): GrantFrom => ({
  group: kindRows[kind].group,
  kind,
  namespace,
});

interface WrittenRef {
  readonly apiGroup?: string | null;
  readonly kind?: string;
  readonly name?: string;
  readonly namespace?: string | null;
}

/** Fields of the requirement document, which only the embedded server has. */
interface DocumentFields {
  readonly dataSourceRef2?: WrittenRef | null;
  readonly crossNamespaceDataSourceRef?: WrittenRef | null;
}

export function sourceOf({ metadata, spec }: Pick<PersistentVolumeClaim, "metadata" | "spec">): SourceRef {
  const own = metadata.namespace ?? "";
  const { dataSourceRef2, crossNamespaceDataSourceRef } = (spec ?? {}) as DocumentFields;
  const ref = (spec?.dataSource ?? spec?.dataSourceRef ?? dataSourceRef2 ?? crossNamespaceDataSourceRef ?? undefined) as
    | WrittenRef
    | undefined;
  if (ref === undefined) return { kind: "none" };
  if (!ref.name) return { kind: "nameless" };
  if (ref.kind === "VolumeSnapshotLink" && ref.apiGroup === kindRows.VolumeSnapshotLink.group)
    return ref.namespace
      ? { kind: "distant link", namespace: ref.namespace, name: ref.name }
      : { kind: "link", namespace: own, name: ref.name };
  const kind = kindOf(ref);
  if (kind === undefined)
    return { kind: "foreign", group: ref.apiGroup ?? "", sourceKind: ref.kind ?? "", name: ref.name };
  // dataSource alone has no namespace.
  const namespace = spec?.dataSource ? "" : (ref.namespace ?? "");
  return {
    kind,
    namespace: namespace || own,
    name: ref.name,
    referrer: namespace === "" ? undefined : referrerOf("PersistentVolumeClaim", own),
  };
}

/** What a link points at; undefined: a CRD of another hand let it point at nothing. A grant from claims does not serve links. */
export function linkedSource({ metadata, spec }: VolumeSnapshotLink): NamedSource | undefined {
  const own = metadata.namespace ?? "";
  const { name, namespace } = spec?.source ?? {};
  if (typeof name !== "string" || name === "") return undefined;
  return {
    kind: "snapshot",
    namespace: namespace || own,
    name,
    referrer: namespace ? referrerOf("VolumeSnapshotLink", own) : undefined,
    link: { name: metadata.name, uid: metadata.uid },
  };
}

/** kube-apiserver writes null for the core group. */
const kindOf = ({ apiGroup, kind }: WrittenRef): NamedSource["kind"] | undefined =>
  (["snapshot", "claim"] as const).find(
    (item) => objectKinds[item] === kind && kindRows[objectKinds[item]].group === (apiGroup ?? ""),
  );
