/** VolumeSnapshotLink, by which a claim names a snapshot of another namespace on any cluster, and VolumePopulator, which registers it. */
import type { JsonObject } from "../../base/json.ts";
import { crdFrom } from "./definition.ts";
import type { CrdDraft } from "./index.ts";
import { fields, neverChanges, string } from "./schema.ts";

const source = fields(
  "The VolumeSnapshot.",
  {
    name: string("Name of the VolumeSnapshot.", { minLength: 1, maxLength: 253 }),
    namespace: string(
      "Namespace of the VolumeSnapshot; left out, that of the link. If it is set, a ReferenceGrant in it has to allow the link, also where it is the link's own.",
      { maxLength: 63 },
    ),
  },
  { required: ["name"], rules: [neverChanges("source")] },
);
const top = { apiVersion: string(""), kind: string(""), metadata: { type: "object" } };
const linkSchema = fields(
  "Names a VolumeSnapshot, perhaps of another namespace, as the data source of claims in its own namespace.",
  { ...top, spec: fields("What the link points at.", { source }, { required: ["source"] }) },
  { required: ["spec"] },
);
const populatorSchema = fields(
  "Registers a kind as a data source of claims.",
  {
    ...top,
    sourceKind: fields(
      "The kind.",
      { group: string("Its API group."), kind: string("Its name.") },
      { required: ["group", "kind"] },
    ),
  },
  { required: ["sourceKind"] },
);

const column = (name: string, jsonPath: string): JsonObject => ({ name, type: "string", jsonPath });
const annotations = { "api-approved.kubernetes.io": "unapproved, after the alternative of KEP-3294" };

export const crossNamespaceCrds = (): readonly CrdDraft[] => [
  crdFrom("VolumeSnapshotLink", {
    schema: linkSchema,
    annotations,
    more: {
      additionalPrinterColumns: [
        column("Snapshot", ".spec.source.name"),
        column("SnapshotNamespace", ".spec.source.namespace"),
      ],
    },
  }),
  crdFrom("VolumePopulator", {
    schema: populatorSchema,
    annotations,
    more: { additionalPrinterColumns: [column("SourceKind", ".sourceKind.kind")] },
  }),
];
