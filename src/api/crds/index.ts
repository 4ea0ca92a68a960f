/**
 * The snapshot CustomResourceDefinitions, from one source. They are tightened in three phases, so that a cluster can be
 * cleaned between them and rolled back: loose v1beta1 alone; strict v1 served, with v1beta1 as storage version; v1 stored.
 */
import type { JsonObject } from "../../base/json.ts";
import { type Kind, type KindName, kindRows } from "../kinds.ts";
import type { Draft, ObjectOf } from "../types.ts";
import {
  type Strength,
  volumeSnapshotClassSchema,
  volumeSnapshotContentSchema,
  volumeSnapshotSchema,
} from "./snapshot-schemas.ts";

export const crdPhases = [1, 2, 3] as const;
export type CrdPhase = (typeof crdPhases)[number];

export interface CrdOptions {
  /** In phase 2: also serve v1beta1, for clients that do not know v1 yet. */
  readonly serveV1beta1?: boolean;
}

interface VersionRow {
  readonly version: "v1" | "v1beta1";
  readonly strength: Strength;
  readonly served: boolean;
  readonly storage: boolean;
}

const v1beta1 = { version: "v1beta1", strength: "loose" } as const;
const v1 = { version: "v1", strength: "strict" } as const;

const versionsByPhase: Readonly<Record<CrdPhase, readonly VersionRow[]>> = {
  1: [{ ...v1beta1, served: true, storage: true }],
  2: [
    { ...v1, served: true, storage: false },
    { ...v1beta1, served: false, storage: true },
  ],
  3: [
    { ...v1, served: true, storage: true },
    { ...v1beta1, served: false, storage: false },
  ],
};

interface Column {
  readonly name: string;
  readonly type: "boolean" | "string" | "integer" | "date";
  readonly jsonPath: string;
  readonly description?: string;
}

const age: Column = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };

interface CrdSource {
  readonly schema: (strength: Strength) => JsonObject;
  readonly columns: readonly Column[];
}

const sources = {
  VolumeSnapshot: {
    schema: volumeSnapshotSchema,
    columns: [
      {
        name: "ReadyToUse",
        type: "boolean",
        jsonPath: ".status.readyToUse",
        description: "Whether a volume can be restored from it.",
      },
      {
        name: "SourcePVC",
        type: "string",
        jsonPath: ".spec.source.persistentVolumeClaimName",
        description: "The claim it was taken of.",
      },
      {
        name: "SourceSnapshotContent",
        type: "string",
        jsonPath: ".spec.source.volumeSnapshotContentName",
        description: "The existing snapshot it stands for.",
      },
      {
        name: "RestoreSize",
        type: "string",
        jsonPath: ".status.restoreSize",
        description: "The smallest volume it fits in.",
      },
      {
        name: "SnapshotClass",
        type: "string",
        jsonPath: ".spec.volumeSnapshotClassName",
        description: "The class asked for.",
      },
      {
        name: "SnapshotContent",
        type: "string",
        jsonPath: ".status.boundVolumeSnapshotContentName",
        description: "The content it is bound to.",
      },
      {
        name: "CreationTime",
        type: "date",
        jsonPath: ".status.creationTime",
        description: "When the data was frozen.",
      },
      age,
    ],
  },
  VolumeSnapshotContent: {
    schema: volumeSnapshotContentSchema,
    columns: [
      {
        name: "ReadyToUse",
        type: "boolean",
        jsonPath: ".status.readyToUse",
        description: "Whether a volume can be restored from it.",
      },
      {
        name: "RestoreSize",
        type: "integer",
        jsonPath: ".status.restoreSize",
        description: "The smallest volume it fits in, in bytes.",
      },
      {
        name: "DeletionPolicy",
        type: "string",
        jsonPath: ".spec.deletionPolicy",
        description: "What becomes of the snapshot on the storage system.",
      },
      { name: "Driver", type: "string", jsonPath: ".spec.driver", description: "The CSI driver that has it." },
      {
        name: "VolumeSnapshotClass",
        type: "string",
        jsonPath: ".spec.volumeSnapshotClassName",
        description: "The class it was taken with.",
      },
      {
        name: "VolumeSnapshot",
        type: "string",
        jsonPath: ".spec.volumeSnapshotRef.name",
        description: "The snapshot it belongs to.",
      },
      {
        name: "VolumeSnapshotNamespace",
        type: "string",
        jsonPath: ".spec.volumeSnapshotRef.namespace",
        description: "The namespace of that snapshot.",
      },
      age,
    ],
  },
  VolumeSnapshotClass: {
    schema: volumeSnapshotClassSchema,
    columns: [
      { name: "Driver", type: "string", jsonPath: ".driver", description: "The CSI driver this class is for." },
      {
        name: "DeletionPolicy",
        type: "string",
        jsonPath: ".deletionPolicy",
        description: "What becomes of snapshots on the storage system.",
      },
      age,
    ],
  },
} as const satisfies Partial<Record<KindName, CrdSource>>;

export type SnapshotKind = keyof typeof sources;

/** Groups that end in k8s.io are protected: the API server wants to see where the API was approved. */
const approval = { "api-approved.kubernetes.io": "https://github.com/kubernetes-csi/external-snapshotter/pull/814" };

export const crdNameOf = (kind: SnapshotKind): string => `${kindRows[kind].plural}.${kindRows[kind].group}`;

export type CrdDraft = Draft<ObjectOf<"CustomResourceDefinition">>;

export function snapshotCrd(kind: SnapshotKind, phase: CrdPhase, { serveV1beta1 = false }: CrdOptions = {}): CrdDraft {
  const row: Kind = kindRows[kind];
  const { schema, columns }: CrdSource = sources[kind];
  const versions = versionsByPhase[phase].map(({ version, strength, served, storage }) => ({
    name: version,
    served: served || (serveV1beta1 && phase === 2),
    storage,
    ...(version === "v1beta1" && phase > 1
      ? {
          deprecated: true,
          deprecationWarning: `${row.group}/v1beta1 ${kind} is deprecated; use ${row.group}/v1 ${kind}`,
        }
      : {}),
    schema: { openAPIV3Schema: schema(strength) },
    additionalPrinterColumns: columns,
    ...(row.status === true ? { subresources: { status: {} } } : {}),
  }));
  const names = {
    kind,
    listKind: `${kind}List`,
    plural: row.plural,
    singular: row.singular,
    shortNames: row.shortNames,
  };
  const spec = { group: row.group, names, scope: row.scope === "cluster" ? "Cluster" : "Namespaced", versions };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: crdNameOf(kind), annotations: approval },
    spec: spec as unknown as NonNullable<ObjectOf<"CustomResourceDefinition">["spec"]>,
  };
}

export const snapshotKinds = Object.keys(sources) as readonly SnapshotKind[];

export const snapshotCrds = (phase: CrdPhase, options?: CrdOptions): readonly CrdDraft[] =>
  snapshotKinds.map((kind) => snapshotCrd(kind, phase, options));
