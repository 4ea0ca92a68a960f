/**
 * The group snapshot kinds. All three versions have the same fields, so that the API server converts by changing apiVersion alone and
 * prunes nothing: a list that was written at v1 is read at v1beta1, and the other way round. A typed v1beta1 client knows only
 * volumeSnapshotHandlePairList and drops the other list when it replaces a status; the annotation of rules/group-members.ts has it then.
 * v1beta2 is stored, as upstream does, so that either side's definitions may follow the other's.
 */
import type { JsonObject } from "../../base/json.ts";
import { type KindName, kindRows } from "../kinds.ts";
import { crdFrom } from "./definition.ts";
import type { CrdDraft } from "./index.ts";
import { dateTime, fields, flag, int64, neverChanges, oneIsSet, requiredOnceSet, string, stringMap } from "./schema.ts";
import { deletionPolicy, lastError, only, referenceFields, type Strength, withMetadata } from "./snapshot-schemas.ts";

const listOf = (items: JsonObject, description: string, extras: object = {}): JsonObject => ({
  type: "array",
  description,
  items,
  ...extras,
});

/** Lists have no `rules` of their own words: the strict versions refuse a change of a whole list. */
const fixedList = (strength: Strength, name: string, description: string): JsonObject =>
  listOf(
    { type: "string" },
    description,
    strength === "strict" ? { "x-kubernetes-validations": [{ ...neverChanges(name) }] } : {},
  );

const onceSet = (name: string) => ({
  rule: `!has(oldSelf.${name}) || (has(self.${name}) && self.${name} == oldSelf.${name})`,
  message: `${name} is immutable once set`,
});

const notEmpty = (name: string) => ({
  rule: "size(self) > 0",
  message: `${name} must not be the empty string when set`,
});

const selector = (strength: Strength): JsonObject =>
  fields(
    "Which claims of the namespace are snapshotted together; all of matchLabels and matchExpressions counts.",
    {
      matchLabels: stringMap("Labels that a claim must have."),
      matchExpressions: listOf(
        fields(
          "One requirement.",
          {
            key: string("The label."),
            operator: string("In, NotIn, Exists or DoesNotExist."),
            values: listOf({ type: "string" }, "The values of In and NotIn."),
          },
          { required: ["key", "operator"] },
        ),
        "Requirements that a claim must meet, every one.",
      ),
    },
    { "x-kubernetes-map-type": "atomic", ...only(strength, neverChanges("selector")) },
  );

const groupSnapshotSchema = (strength: Strength): JsonObject =>
  fields(
    "A user's wish for snapshots of many claims at one moment, or for a group that already exists on the storage system.",
    {
      ...withMetadata,
      spec: fields(
        "What the user asks for.",
        {
          source: fields(
            "Where the group comes from: exactly one of the two.",
            {
              selector: selector(strength),
              volumeGroupSnapshotContentName: string(
                "The VolumeGroupSnapshotContent that stands for an existing group.",
                only(strength, neverChanges("volumeGroupSnapshotContentName")),
              ),
            },
            only(
              strength,
              requiredOnceSet("selector"),
              requiredOnceSet("volumeGroupSnapshotContentName"),
              oneIsSet("selector", "volumeGroupSnapshotContentName"),
            ),
          ),
          volumeGroupSnapshotClassName: string(
            "The VolumeGroupSnapshotClass to use. Absent: the default class of the volumes' driver.",
            only(strength, notEmpty("volumeGroupSnapshotClassName")),
          ),
        },
        { required: ["source"] },
      ),
      status: fields(
        "What has become of it.",
        {
          boundVolumeGroupSnapshotContentName: string("The content that the group is bound to."),
          creationTime: dateTime("The moment the data was frozen, by the storage system's clock."),
          readyToUse: flag("True once a volume can be restored from every member."),
          error: lastError,
        },
        only(strength, onceSet("boundVolumeGroupSnapshotContentName")),
      ),
    },
    { required: ["spec"] },
  );

const groupReference = (strength: Strength): JsonObject =>
  fields("The VolumeGroupSnapshot this content belongs to; bound when the uid is filled in.", referenceFields, {
    "x-kubernetes-map-type": "atomic",
    ...only(
      strength,
      {
        rule: "has(self.name) && has(self.__namespace__)",
        message: "both volumeGroupSnapshotRef.name and volumeGroupSnapshotRef.namespace must be set",
      },
      {
        rule: "self.name == oldSelf.name && self.__namespace__ == oldSelf.__namespace__",
        message: "volumeGroupSnapshotRef.name and volumeGroupSnapshotRef.namespace are immutable",
      },
      onceSet("uid"),
    ),
  });

const groupContentSchema = (strength: Strength): JsonObject =>
  fields(
    "A group of snapshots on a storage system: taken for a VolumeGroupSnapshot, or written down by an administrator.",
    {
      ...withMetadata,
      spec: fields(
        "What is asked of the storage system.",
        {
          deletionPolicy,
          driver: string(
            "The CSI driver that took the group or shall take it; must be its GetPluginInfo name.",
            only(strength, neverChanges("driver")),
          ),
          source: fields(
            "Where the group comes from: exactly one of the two.",
            {
              volumeHandles: fixedList(
                strength,
                "volumeHandles",
                "The storage system's ids of the volumes to be snapshotted together.",
              ),
              groupSnapshotHandles: fields(
                "A group that already exists.",
                {
                  volumeGroupSnapshotHandle: string("The storage system's id of the group."),
                  volumeSnapshotHandles: listOf({ type: "string" }, "Its ids of the members."),
                },
                {
                  required: ["volumeGroupSnapshotHandle", "volumeSnapshotHandles"],
                  ...only(strength, neverChanges("groupSnapshotHandles")),
                },
              ),
            },
            only(
              strength,
              requiredOnceSet("volumeHandles"),
              requiredOnceSet("groupSnapshotHandles"),
              oneIsSet("volumeHandles", "groupSnapshotHandles"),
            ),
          ),
          volumeGroupSnapshotClassName: string("The class the group was taken with."),
          volumeGroupSnapshotRef: groupReference(strength),
        },
        {
          required: ["deletionPolicy", "driver", "source", "volumeGroupSnapshotRef"],
          ...only(strength, onceSet("volumeGroupSnapshotClassName")),
        },
      ),
      status: fields("What the storage system answered.", {
        creationTime: dateTime("The moment the data was frozen."),
        error: lastError,
        readyToUse: flag("True once a volume can be restored from every member."),
        volumeGroupSnapshotHandle: string(
          "The storage system's id of the group.",
          only(strength, neverChanges("volumeGroupSnapshotHandle")),
        ),
        volumeSnapshotInfoList: listOf(
          fields("One member.", {
            creationTime: int64("The moment its data was frozen, in nanoseconds since 1970."),
            readyToUse: flag("True once a volume can be restored from it."),
            restoreSize: int64("The smallest volume it fits in, in bytes.", { minimum: 0 }),
            snapshotHandle: string("The storage system's id of the snapshot."),
            volumeHandle: string("The storage system's id of the volume."),
          }),
          "The members that the driver answered.",
        ),
        volumeSnapshotHandlePairList: listOf(
          fields("One member.", {
            snapshotHandle: string("The storage system's id of the snapshot."),
            volumeHandle: string("The storage system's id of the volume."),
          }),
          "The same members, as v1beta1 has them.",
        ),
      }),
    },
    { required: ["spec"] },
  );

const groupClassSchema = (strength: Strength): JsonObject =>
  fields(
    'How groups of one driver are taken. The annotation groupsnapshot.storage.kubernetes.io/is-default-class: "true" makes it the driver\'s default.',
    {
      ...withMetadata,
      deletionPolicy: { ...deletionPolicy, ...validations(strength, "deletionPolicy") },
      driver: string("The CSI driver this class is for.", only(strength, neverChanges("driver"))),
      parameters: {
        ...stringMap("Passed to the driver as they are, but for the csi.storage.k8s.io/ keys, which name secrets."),
        ...validations(strength, "parameters"),
      },
    },
    { required: ["deletionPolicy", "driver"] },
  );

const validations = (strength: Strength, name: string): JsonObject =>
  strength === "strict" ? { "x-kubernetes-validations": [{ ...neverChanges(name) }] } : {};

const column = (name: string, jsonPath: string, type = "string"): JsonObject => ({ name, type, jsonPath });
const age = column("Age", ".metadata.creationTimestamp", "date");

const sources = {
  VolumeGroupSnapshot: {
    schema: groupSnapshotSchema,
    columns: [
      column("ReadyToUse", ".status.readyToUse", "boolean"),
      column("VolumeGroupSnapshotClass", ".spec.volumeGroupSnapshotClassName"),
      column("VolumeGroupSnapshotContent", ".status.boundVolumeGroupSnapshotContentName"),
      column("CreationTime", ".status.creationTime", "date"),
      age,
    ],
  },
  VolumeGroupSnapshotContent: {
    schema: groupContentSchema,
    columns: [
      column("ReadyToUse", ".status.readyToUse", "boolean"),
      column("DeletionPolicy", ".spec.deletionPolicy"),
      column("Driver", ".spec.driver"),
      column("VolumeGroupSnapshotClass", ".spec.volumeGroupSnapshotClassName"),
      column("VolumeGroupSnapshotNamespace", ".spec.volumeGroupSnapshotRef.namespace"),
      column("VolumeGroupSnapshot", ".spec.volumeGroupSnapshotRef.name"),
      age,
    ],
  },
  VolumeGroupSnapshotClass: {
    schema: groupClassSchema,
    columns: [column("Driver", ".driver"), column("DeletionPolicy", ".deletionPolicy"), age],
  },
} as const satisfies Partial<
  Record<KindName, { schema: (strength: Strength) => JsonObject; columns: readonly JsonObject[] }>
>;

const annotations = {
  "api-approved.kubernetes.io": "https://github.com/kubernetes-csi/external-snapshotter/pull/1150",
};

export const groupSnapshotKinds = Object.keys(sources) as readonly (keyof typeof sources)[];

/** `storage` is the version that is stored; tests store each. */
export const groupSnapshotCrds = (storage = "v1beta2"): readonly CrdDraft[] =>
  groupSnapshotKinds.map((kind) => {
    const { schema, columns } = sources[kind];
    const { group, ...row } = kindRows[kind];
    return crdFrom(kind, {
      annotations,
      storage,
      schema: (version) => schema(version === "v1beta1" ? "loose" : "strict"),
      more: (version: string) => ({
        additionalPrinterColumns: columns,
        ...(row.status === true ? { subresources: { status: {} } } : {}),
        ...(version === "v1beta1"
          ? { deprecated: true, deprecationWarning: `${group}/v1beta1 ${kind} is deprecated; use ${group}/v1 ${kind}` }
          : {}),
      }),
    });
  });
