/** A definition for the scripts about custom resources: a field of every kind a schema can describe. */
import type { JsonObject } from "../../../../src/base/json.ts";
import { create, get, type Script, type Step, script } from "../script.ts";

export const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

interface DefinitionOptions {
  readonly plural: string;
  readonly kind: string;
  readonly group?: string;
  readonly schema: JsonObject;
  readonly spec?: JsonObject;
  readonly version?: JsonObject;
}

export const aDefinition = ({
  plural,
  kind,
  group = "schema.example.com",
  schema,
  spec = {},
  version = {},
}: DefinitionOptions): JsonObject => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: "Namespaced",
    names: { plural, kind },
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema }, ...version }],
    ...spec,
  },
});

const approval = "api-approved.kubernetes.io";

/** Several controllers have a say, each in its own time. */
export const isEstablished = (body: JsonObject): boolean => {
  const { annotations = {} } = (body.metadata ?? {}) as { annotations?: JsonObject };
  const conditions = JSON.stringify((body.status as JsonObject | undefined)?.conditions ?? []);
  const isJudged = annotations[approval] === undefined || conditions.includes("KubernetesAPIApprovalPolicyConformant");
  return isJudged && conditions.includes('"Established"') && !conditions.includes('"status":"False"');
};
/** The definition, and requests to its resource until they are served. */
export const install = (definition: JsonObject, list: string): readonly Step[] => {
  const { name } = definition.metadata as { name: string };
  return [
    create(definitions, definition),
    get(`${definitions}/${name}`, { until: isEstablished }),
    get(list, { until: (_, status) => status === 200 }),
  ];
};

const text = { type: "string" };

const spec: JsonObject = {
  type: "object",
  required: ["must"],
  properties: {
    must: text,
    text: { type: "string", minLength: 2, maxLength: 5 },
    pattern: { type: "string", pattern: "^[a-z]+$" },
    number: { type: "integer", minimum: 3, maximum: 10 },
    between: { type: "number", minimum: 1, exclusiveMinimum: true, maximum: 2.5, exclusiveMaximum: true },
    even: { type: "integer", multipleOf: 2 },
    small: { type: "integer", format: "int32" },
    large: { type: "integer", format: "int64" },
    on: { type: "boolean" },
    policy: { type: "string", enum: ["Delete", "Retain"] },
    level: { type: "integer", enum: [1, 2] },
    time: { type: "string", format: "date-time" },
    day: { type: "string", format: "date" },
    id: { type: "string", format: "uuid" },
    address: { type: "string", format: "ipv4" },
    bytes: { type: "string", format: "byte" },
    odd: { type: "string", format: "nobody-knows" },
    list: { type: "array", items: { type: "string", maxLength: 3 }, minItems: 1, maxItems: 3 },
    set: { type: "array", "x-kubernetes-list-type": "set", items: text },
    map: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["key", "port"],
      items: {
        type: "object",
        required: ["key"],
        properties: { key: text, port: { type: "integer", default: 80 }, value: { type: "string", maxLength: 3 } },
      },
    },
    labels: {
      type: "object",
      additionalProperties: { type: "string", maxLength: 3 },
      minProperties: 1,
      maxProperties: 2,
    },
    maybe: { type: "string", nullable: true },
    choice: { type: "object", properties: { a: text, b: text }, oneOf: [{ required: ["a"] }, { required: ["b"] }] },
    some: { type: "object", properties: { a: text, b: text }, anyOf: [{ required: ["a"] }, { required: ["b"] }] },
    all: { type: "string", allOf: [{ minLength: 2 }, { pattern: "x" }] },
    not: { type: "string", not: { enum: ["never"] } },
    either: { "x-kubernetes-int-or-string": true },
    open: { type: "object", "x-kubernetes-preserve-unknown-fields": true, properties: { known: text } },
    embedded: {
      type: "object",
      "x-kubernetes-embedded-resource": true,
      "x-kubernetes-preserve-unknown-fields": true,
    },
    defaulted: { type: "string", default: "here" },
    nested: {
      type: "object",
      default: {},
      properties: {
        deep: { type: "integer", default: 7 },
        note: text,
        also: { type: "string", nullable: true, default: "set" },
      },
    },
  },
};

export const things = "/apis/schema.example.com/v1/namespaces/$NS/things";

export const thingsDefinition = aDefinition({
  plural: "things",
  kind: "Thing",
  schema: {
    type: "object",
    properties: {
      spec,
      status: {
        type: "object",
        properties: { phase: { type: "string", enum: ["Ready"] }, count: { type: "integer" } },
      },
    },
  },
  version: {
    subresources: { status: {} },
  },
  spec: { names: { plural: "things", kind: "Thing", shortNames: ["th"], categories: ["all"] } },
});

export const aThing = (fields: JsonObject = {}, metadata: JsonObject = {}): JsonObject => ({
  apiVersion: "schema.example.com/v1",
  kind: "Thing",
  metadata: { name: "t", ...metadata },
  spec: { must: "x", ...fields },
});

export const setUpThings: Script = script(
  "a definition with a field of every kind is established",
  ...install(thingsDefinition, "/apis/schema.example.com/v1/things"),
);
