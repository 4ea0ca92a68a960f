/** The objects that a change can reach: of a large cluster no more than these are run. Pure. */
import type {
  KubeObject,
  PersistentVolumeClaim,
  VolumeSnapshot,
  VolumeSnapshotContent,
  VolumeSnapshotLink,
} from "../../api/types.ts";
import { keyOf } from "../../api/types.ts";
import { keyIn } from "../../base/brand.ts";
import { createMultimap } from "../../base/multimap.ts";
import type { Change } from "./predict.ts";

/** Few of each, and any object may need them. */
const always: ReadonlySet<string> = new Set([
  "Namespace",
  "VolumeSnapshotClass",
  "VolumeSnapshotLink",
  "StorageClass",
  "ReferenceGrant",
]);

export interface Split {
  readonly related: readonly KubeObject[];
  readonly others: readonly KubeObject[];
}

export function splitBy(objects: readonly KubeObject[], change: Change): Split {
  const links = createMultimap<string, string>();
  for (const object of objects)
    for (const other of namedBy(object)) {
      links.add(idOf(object), other);
      links.add(other, idOf(object));
    }
  const reached = new Set(rootsOf(objects, change));
  for (const id of reached) for (const next of links.get(id)) reached.add(next);
  const isRelated = (object: KubeObject): boolean => always.has(object.kind) || reached.has(idOf(object));
  return { related: objects.filter(isRelated), others: objects.filter((object) => !isRelated(object)) };
}

const idOf = (object: Pick<KubeObject, "kind" | "metadata">): string => `${object.kind} ${keyOf(object as KubeObject)}`;
const id = (kind: string, namespace: string | undefined, name: string | undefined): readonly string[] =>
  name === undefined || name === "" ? [] : [`${kind} ${keyIn(namespace, name)}`];

function rootsOf(objects: readonly KubeObject[], change: Change): readonly string[] {
  const { kind, namespace, name } = change.ref;
  const own = id(kind, namespace, name);
  if (change.kind === "create") {
    const created = { ...change.object, kind, metadata: { ...change.object.metadata, namespace, name } } as KubeObject;
    return [...own, ...namedBy(created)];
  }
  if (kind === "Namespace") return objects.filter(({ metadata }) => metadata.namespace === name).map(idOf);
  return own.concat(objects.filter((object) => classOf(object) === `${kind} ${name}`).map(idOf));
}

function classOf({ kind, spec }: KubeObject & { readonly spec?: Spec }): string | undefined {
  if (kind === "PersistentVolumeClaim" || kind === "PersistentVolume") return `StorageClass ${spec?.storageClassName}`;
  return `VolumeSnapshotClass ${spec?.volumeSnapshotClassName}`;
}

interface Spec {
  readonly storageClassName?: string;
  readonly volumeSnapshotClassName?: string;
  readonly claimRef?: { readonly namespace?: string; readonly name?: string };
  readonly volumes?: readonly { readonly persistentVolumeClaim?: { readonly claimName?: string } }[];
}

function namedBy(object: KubeObject & { readonly spec?: Spec }): readonly string[] {
  const { namespace } = object.metadata;
  switch (object.kind) {
    case "VolumeSnapshot": {
      const { spec, status } = object as VolumeSnapshot;
      return [
        ...id("PersistentVolumeClaim", namespace, spec.source?.persistentVolumeClaimName),
        ...id("VolumeSnapshotContent", undefined, spec.source?.volumeSnapshotContentName),
        ...id("VolumeSnapshotContent", undefined, status?.boundVolumeSnapshotContentName),
      ];
    }
    case "VolumeSnapshotContent": {
      const { volumeSnapshotRef } = (object as VolumeSnapshotContent).spec;
      return id("VolumeSnapshot", volumeSnapshotRef?.namespace, volumeSnapshotRef?.name);
    }
    case "PersistentVolumeClaim": {
      const { spec } = object as PersistentVolumeClaim;
      const sources = [spec?.dataSourceRef, spec?.dataSource].filter((source) => source != null);
      return [
        ...id("PersistentVolume", undefined, spec?.volumeName),
        ...sources.flatMap(({ kind, name, ...source }) =>
          id(kind, (source as { readonly namespace?: string }).namespace ?? namespace, name),
        ),
      ];
    }
    case "PersistentVolume":
      return id("PersistentVolumeClaim", object.spec?.claimRef?.namespace, object.spec?.claimRef?.name);
    case "VolumeSnapshotLink": {
      const { source } = (object as VolumeSnapshotLink).spec ?? {};
      return id("VolumeSnapshot", source?.namespace ?? namespace, source?.name);
    }
    default:
      return (object.spec?.volumes ?? []).flatMap(({ persistentVolumeClaim }) =>
        id("PersistentVolumeClaim", namespace, persistentVolumeClaim?.claimName),
      );
  }
}
