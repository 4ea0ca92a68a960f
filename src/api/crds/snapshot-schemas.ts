/**
 * The snapshot kinds field by field, in two strengths. "strict" is what v1 asks: exactly one source, immutable once set.
 * "loose" is v1beta1: the same fields without those rules, so that what was stored before them can still be read. It also has the
 * fields that came with v1: while v1beta1 is the storage version, a field that it lacks would be pruned, and with sourceVolumeMode
 * the protection against a restore in another volume mode.
 */
import type { JsonObject } from "../../base/json.ts";
import {
  type CelRule,
  dateTime,
  enumOf,
  fields,
  flag,
  int64,
  neverChanges,
  oneIsSet,
  requiredOnceSet,
  resourceQuantity,
  string,
  stringMap,
} from "./schema.ts";

export type Strength = "strict" | "loose";

export const only = (strength: Strength, ...rules: readonly CelRule[]): { rules?: readonly CelRule[] } =>
  strength === "strict" ? { rules } : {};

const typeMeta: JsonObject = {
  apiVersion: string("The group and version this object is written in."),
  kind: string("The kind of this object."),
};
export const withMetadata: JsonObject = { ...typeMeta, metadata: { type: "object" } };

export const lastError = fields("The last failure, until a later attempt succeeds.", {
  message: string("What went wrong and what mends it. Never holds a secret."),
  time: dateTime("When it happened."),
});

export const deletionPolicy = enumOf(
  "Whether the snapshot on the storage system goes or stays when the VolumeSnapshot is deleted.",
  "Delete",
  "Retain",
);

export const volumeSnapshotSchema = (strength: Strength): JsonObject =>
  fields(
    "A user's wish for a snapshot: a new one of a claim's volume, or one that already exists on the storage system.",
    {
      ...withMetadata,
      spec: fields(
        "What the user asks for.",
        {
          source: fields(
            "Where the snapshot comes from: exactly one of the two.",
            {
              persistentVolumeClaimName: string(
                "The claim, in the same namespace, whose volume is to be snapshotted.",
                only(strength, neverChanges("persistentVolumeClaimName")),
              ),
              volumeSnapshotContentName: string(
                "The VolumeSnapshotContent that stands for an existing snapshot.",
                only(strength, neverChanges("volumeSnapshotContentName")),
              ),
            },
            only(
              strength,
              requiredOnceSet("persistentVolumeClaimName"),
              requiredOnceSet("volumeSnapshotContentName"),
              oneIsSet("volumeSnapshotContentName", "persistentVolumeClaimName"),
            ),
          ),
          volumeSnapshotClassName: string(
            "The VolumeSnapshotClass to use. Absent: the default class of the volume's driver.",
            only(strength, {
              rule: "size(self) > 0",
              message: "volumeSnapshotClassName must not be the empty string when set",
            }),
          ),
        },
        { required: ["source"] },
      ),
      status: fields(
        "What has become of it.",
        {
          boundVolumeSnapshotContentName: string(
            "The content this snapshot is bound to; trust it only when the content points back.",
          ),
          creationTime: dateTime("The moment the data was frozen, by the storage system's clock."),
          readyToUse: flag("True once a volume can be restored from the snapshot.", { default: false }),
          restoreSize: resourceQuantity("The smallest volume the snapshot fits in."),
          error: lastError,
          volumeGroupSnapshotName: string("The group snapshot that this one was taken with."),
        },
        // kubectl shows false instead of a blank before anybody has written a status. Not for contents: docs/decisions/0018.
        { default: {} },
      ),
    },
    { required: ["spec"] },
  );

/** As CEL names them: "namespace" is a word of the language. */
const referenceMembers = ["name", "__namespace__", "uid", "kind", "apiVersion", "fieldPath", "resourceVersion"];
const given = (owner: string, member: string): string => `(has(${owner}.${member}) ? ${owner}.${member} : '')`;

/** The uid is written by whoever binds a content. An incomplete reference is bound to nothing, and may be corrected. */
const boundReference: CelRule = {
  rule: [
    ...["uid", "name", "__namespace__"].map((member) => `${given("oldSelf", member)} == ''`),
    referenceMembers.map((member) => `${given("self", member)} == ${given("oldSelf", member)}`).join(" && "),
  ].join(" || "),
  message: "volumeSnapshotRef is immutable once its uid is set",
};

export const referenceFields: JsonObject = {
  apiVersion: string("Group and version of the referent."),
  fieldPath: string("A part of the referent; unused here."),
  kind: string("Kind of the referent."),
  name: string("Name of the referent."),
  namespace: string("Namespace of the referent."),
  resourceVersion: string("Version of the referent that was meant, if any."),
  uid: string("The one incarnation of the referent that is meant."),
};

/** The shape of core/v1 ObjectReference, an atomic map: it is replaced whole or not at all. */
const snapshotReference = (strength: Strength): JsonObject =>
  fields("The VolumeSnapshot this content belongs to; bound when the uid is filled in.", referenceFields, {
    "x-kubernetes-map-type": "atomic",
    ...only(
      strength,
      {
        rule: "has(self.name) && has(self.__namespace__)",
        message: "both spec.volumeSnapshotRef.name and spec.volumeSnapshotRef.namespace must be set",
      },
      boundReference,
    ),
  });

export const volumeSnapshotContentSchema = (strength: Strength): JsonObject =>
  fields(
    "A snapshot on a storage system, as the cluster knows it: taken for a VolumeSnapshot, or written down by an administrator.",
    {
      ...withMetadata,
      spec: fields(
        "What is asked of the storage system.",
        {
          deletionPolicy,
          driver: string("The CSI driver that took the snapshot or shall take it; must be its GetPluginInfo name."),
          source: fields(
            "Where the snapshot comes from: exactly one of the two.",
            {
              snapshotHandle: string(
                "The storage system's id of a snapshot that already exists.",
                only(strength, neverChanges("snapshotHandle")),
              ),
              volumeHandle: string(
                "The storage system's id of the volume to be snapshotted.",
                only(strength, neverChanges("volumeHandle")),
              ),
            },
            only(
              strength,
              requiredOnceSet("volumeHandle"),
              requiredOnceSet("snapshotHandle"),
              oneIsSet("volumeHandle", "snapshotHandle"),
            ),
          ),
          sourceVolumeMode: string(
            "The mode, Filesystem or Block, of the volume that was snapshotted.",
            only(strength, neverChanges("sourceVolumeMode")),
          ),
          volumeSnapshotClassName: string("The class the snapshot was taken with."),
          volumeSnapshotRef: snapshotReference(strength),
        },
        {
          required: ["deletionPolicy", "driver", "source", "volumeSnapshotRef"],
          ...only(strength, requiredOnceSet("sourceVolumeMode")),
        },
      ),
      status: fields("What the storage system answered.", {
        creationTime: int64("The moment the data was frozen, in nanoseconds since 1970."),
        error: lastError,
        readyToUse: flag("True once a volume can be restored from the snapshot."),
        restoreSize: int64("The smallest volume the snapshot fits in, in bytes.", { minimum: 0 }),
        snapshotHandle: string("The storage system's id of the snapshot."),
        volumeGroupSnapshotHandle: string("The storage system's id of the group the snapshot was taken with."),
      }),
    },
    { required: ["spec"] },
  );

export const volumeSnapshotClassSchema = (): JsonObject =>
  fields(
    'How snapshots of one driver are taken. The annotation snapshot.storage.kubernetes.io/is-default-class: "true" makes it the driver\'s default.',
    {
      ...withMetadata,
      deletionPolicy,
      driver: string("The CSI driver this class is for."),
      parameters: stringMap(
        "Passed to the driver as they are, but for the csi.storage.k8s.io/ keys, which name secrets.",
      ),
    },
    { required: ["deletionPolicy", "driver"] },
  );
