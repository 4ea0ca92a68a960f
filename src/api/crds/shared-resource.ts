/** SharedSecret and SharedConfigMap, with the schema of the driver we replace: v1alpha1 only, one reference, conditions in the status. */
import type { JsonObject } from "../../base/json.ts";
import { kindRows } from "../kinds.ts";
import type { ObjectOf } from "../types.ts";
import type { CrdDraft } from "./index.ts";
import { dateTime, enumOf, fields, int64, string } from "./schema.ts";

const condition = fields(
  "One aspect of the current state.",
  {
    type: string("What it is about. Available: the referenced object exists. Ready: it is fit for its purpose.", {
      maxLength: 316,
      pattern:
        "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$",
    }),
    status: enumOf("Whether it holds.", "True", "False", "Unknown"),
    reason: string("Why, in one word for programs.", {
      minLength: 1,
      maxLength: 1024,
      pattern: "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
    }),
    message: string("Why, for people.", { maxLength: 32_768 }),
    lastTransitionTime: dateTime("When the status changed last."),
    observedGeneration: int64("The generation of the share that was looked at.", { minimum: 0 }),
  },
  { required: ["lastTransitionTime", "message", "reason", "status", "type"] },
);

const status = fields("What was found out about the referenced object.", {
  conditions: {
    type: "array",
    description:
      "Each type is written by one owner: Available by the shared-resource controller, Ready by whoever maintains the data.",
    items: condition,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["type"],
  },
});

const reference = (what: string): JsonObject =>
  fields(
    `The ${what} whose data pods may mount.`,
    { name: string(`Name of the ${what}.`), namespace: string(`Namespace of the ${what}.`) },
    { required: ["name", "namespace"] },
  );

const shapes = {
  SharedSecret: { field: "secretRef", what: "Secret" },
  SharedConfigMap: { field: "configMapRef", what: "ConfigMap" },
} as const;

function crdOf(kind: keyof typeof shapes): CrdDraft {
  const { group, plural, singular, versions } = kindRows[kind];
  const { field, what } = shapes[kind];
  const schema = fields(
    `Lets pods of other namespaces mount one ${what}.`,
    {
      apiVersion: string("Version of the API."),
      kind: string("Kind of the object."),
      metadata: { type: "object" },
      spec: fields(
        `Which ${what} is shared.`,
        { [field]: reference(what), description: string("What the share is for, in free text.") },
        { required: [field] },
      ),
      status,
    },
    { required: ["spec"] },
  );
  const spec = {
    group,
    scope: "Cluster",
    names: { kind, listKind: `${kind}List`, plural, singular },
    versions: versions.map((name) => ({
      name,
      served: true,
      storage: true,
      schema: { openAPIV3Schema: schema },
      subresources: { status: {} },
    })),
  };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: {
      name: `${plural}.${group}`,
      annotations: {
        "api-approved.openshift.io": "https://github.com/openshift/api/pull/979",
        displayName: kind,
        description: `Makes a ${what} of one namespace available to pods of other namespaces.`,
      },
    },
    spec: spec as unknown as NonNullable<ObjectOf<"CustomResourceDefinition">["spec"]>,
  };
}

export const sharedResourceCrds = (): readonly CrdDraft[] => [crdOf("SharedSecret"), crdOf("SharedConfigMap")];
