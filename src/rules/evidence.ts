/** What a verdict about a snapshot rests on, as questions to the server: a cache is behind right after a change. */
import { refOf } from "../api/builders.ts";
import type { KindName } from "../api/kinds.ts";
import type { ClusterAction } from "../api/plan.ts";
import type { KubeObject, VolumeSnapshot, VolumeSnapshotContent } from "../api/types.ts";
import { contentNameOf } from "./snapshot-source.ts";

export type Evidence = readonly Extract<ClusterAction, { kind: "confirm" | "relist" }>[];

/** Specs can name anything; under another name than such a one no object can exist. */
const possibleName = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;

/** That the server has no such object either. */
export const absent = (kind: KindName, name: string, namespace?: string): Evidence =>
  possibleName.test(name) ? [{ kind: "confirm", ref: { kind, namespace, name }, resourceVersion: undefined }] : [];

/** That the server has this very version. */
export const unchanged = (kind: KindName, object: KubeObject | undefined): Evidence =>
  object === undefined
    ? []
    : [{ kind: "confirm", ref: refOf(kind, object), resourceVersion: object.metadata.resourceVersion }];

interface SnapshotAndContent {
  readonly snapshot: VolumeSnapshot;
  readonly content: VolumeSnapshotContent | undefined;
}
/** The content that the snapshot names, or that there is none. */
export const contentAsSeen = ({ snapshot, content }: SnapshotAndContent): Evidence =>
  content === undefined
    ? absent("VolumeSnapshotContent", contentNameOf(snapshot))
    : unchanged("VolumeSnapshotContent", content);

/** A default class has no name that could be asked for. */
export const allClasses: Evidence = [{ kind: "relist", ref: { kind: "VolumeSnapshotClass" } }];
