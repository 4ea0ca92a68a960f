/** CustomResourceDefinitions: which are accepted, what is filled in, what may change later. */
import type { JsonObject } from "../../../../src/base/json.ts";
import { create, get, gone, patch, remove, replace, type Script, script } from "../script.ts";
import { aDefinition, definitions, install, isEstablished } from "./custom.ts";

const plain = { type: "object" };
const trial = `${definitions}?dryRun=All`;
const text = { type: "string" };
const withProperty = (property: JsonObject): JsonObject => ({ type: "object", properties: { a: property } });
const of = (schema: JsonObject, more: JsonObject = {}): JsonObject =>
  aDefinition({ plural: "trials", kind: "Trial", schema, spec: more });
const withRules = (...rules: readonly JsonObject[]): JsonObject =>
  withProperty({ type: "object", properties: { b: text }, "x-kubernetes-validations": [...rules] });

/** Every one is refused, or a definition would be left behind that is never used. */
const schemas: Readonly<Record<string, JsonObject>> = {
  "no type at the root": {},
  "a root that is no object": { type: "string" },
  "a root that may be null": { type: "object", nullable: true },
  "a field without a type": withProperty({}),
  "a list without entries": withProperty({ type: "array" }),
  "entries without a type": withProperty({ type: "array", items: {} }),
  "an unknown type": withProperty({ type: "text" }),
  "the type null": withProperty({ type: "null" }),
  "a type inside of anyOf": withProperty({ type: "string", anyOf: [{ type: "string" }] }),
  "a description inside of oneOf": withProperty({ type: "object", oneOf: [{ description: "x" }] }),
  "a default inside of allOf": withProperty({ type: "string", allOf: [{ default: "x" }] }),
  "a field that only anyOf knows": { type: "object", anyOf: [{ properties: { b: { enum: ["x"] } } }] },
  "additional properties at the root": { type: "object", additionalProperties: text },
  "additional properties beside properties": withProperty({
    type: "object",
    properties: { b: text },
    additionalProperties: text,
  }),
  "unique items": withProperty({ type: "array", uniqueItems: true, items: text }),
  "a reference": withProperty({ $ref: "#/definitions/x" }),
  definitions: { type: "object", definitions: { x: text } },
  dependencies: { type: "object", dependencies: { a: ["b"] } },
  "pattern properties": { type: "object", patternProperties: { x: text } },
  "a list of entry schemas": withProperty({ type: "array", items: [text] }),
  "a default of the wrong type": withProperty({ type: "string", default: 5 }),
  "a default with an unknown field": withProperty({ type: "object", default: { x: 1 }, properties: { b: text } }),
  "a default that breaks a bound": withProperty({ type: "string", maxLength: 1, default: "xx" }),
  "a default in metadata": {
    type: "object",
    properties: { metadata: { type: "object", properties: { name: { type: "string", default: "x" } } } },
  },
  "labels in metadata": {
    type: "object",
    properties: { metadata: { type: "object", properties: { labels: { type: "object" } } } },
  },
  "a kind that is a number": { type: "object", properties: { kind: { type: "integer" } } },
  "an unknown list type": withProperty({ type: "array", items: text, "x-kubernetes-list-type": "bag" }),
  "a list type on a text": withProperty({ type: "string", "x-kubernetes-list-type": "set" }),
  "a map list without keys": withProperty({ type: "array", items: plain, "x-kubernetes-list-type": "map" }),
  "a map list with an unknown key": withProperty({
    type: "array",
    items: plain,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k"],
  }),
  "a map list whose key is optional": withProperty({
    type: "array",
    items: { type: "object", properties: { k: text } },
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k"],
  }),
  "a map list of texts": withProperty({
    type: "array",
    items: text,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k"],
  }),
  "map keys without a list type": withProperty({ type: "array", items: plain, "x-kubernetes-list-map-keys": ["k"] }),
  "a set of objects": withProperty({
    type: "array",
    items: { type: "object", properties: { b: text } },
    "x-kubernetes-list-type": "set",
  }),
  "a set with entries that may be null": withProperty({
    type: "array",
    items: { type: "string", nullable: true },
    "x-kubernetes-list-type": "set",
  }),
  "an unknown map type": withProperty({ type: "object", "x-kubernetes-map-type": "loose" }),
  "unknown fields preserved by false": withProperty({ type: "object", "x-kubernetes-preserve-unknown-fields": false }),
  "an embedded text": withProperty({ type: "string", "x-kubernetes-embedded-resource": true }),
  "an embedded object of nothing": withProperty({ type: "object", "x-kubernetes-embedded-resource": true }),
  "a number or text that preserves": withProperty({
    "x-kubernetes-int-or-string": true,
    "x-kubernetes-preserve-unknown-fields": true,
  }),
  "a rule without an expression": withRules({ rule: "" }),
  "a rule with a message of spaces": withRules({ rule: "true", message: "  " }),
  "a rule with a message of two lines": withRules({ rule: "true", message: "a\nb" }),
  "a rule of two lines without a message": withRules({ rule: "true &&\ntrue" }),
  "a rule with an unknown reason": withRules({ rule: "true", reason: "Because" }),
  "a rule with a path to nowhere": withRules({ rule: "true", fieldPath: ".c" }),
  "a rule with a path that is none": withRules({ rule: "true", fieldPath: "b" }),
  "a rule that is no bool": withRules({ rule: "1" }),
  "a rule with a message that is no text": withRules({ rule: "true", messageExpression: "1" }),
  "a rule with a message that does not compile": withRules({ rule: "true", messageExpression: "self.c" }),
  "an optional old value that is not used": withRules({ rule: "true", optionalOldSelf: true }),
  "a transition rule in a plain list": withProperty({
    type: "array",
    maxItems: 5,
    items: { type: "string", maxLength: 5, "x-kubernetes-validations": [{ rule: "self == oldSelf" }] },
  }),
  "a rule inside of anyOf": withProperty({
    type: "string",
    anyOf: [{ "x-kubernetes-validations": [{ rule: "true" }] }],
  }),
};

const specs: Readonly<Record<string, JsonObject>> = {
  "another scope": { scope: "Everywhere" },
  "no scope": { scope: "" },
  "a group without dots": { group: "example" },
  "a group of Kubernetes": { group: "things.k8s.io" },
  "names in upper case": { names: { plural: "Trials", kind: "Trial" } },
  "no kind": { names: { plural: "trials" } },
  "a list kind like the kind": { names: { plural: "trials", kind: "Trial", listKind: "Trial" } },
  "a bad short name": { names: { plural: "trials", kind: "Trial", shortNames: ["T t"] } },
  "a bad category": { names: { plural: "trials", kind: "Trial", categories: ["A"] } },
  "no versions": { versions: [] },
  "an unknown conversion": { conversion: { strategy: "Magic" } },
  "a conversion by nobody": { conversion: { strategy: "Webhook" } },
  "unknown fields preserved": { preserveUnknownFields: true },
};

const versionSchema = { openAPIV3Schema: plain };
const versions: Readonly<Record<string, readonly JsonObject[]>> = {
  "two storage versions": [
    { name: "v1", served: true, storage: true, schema: versionSchema },
    { name: "v2", served: true, storage: true, schema: versionSchema },
  ],
  "no storage version": [{ name: "v1", served: true, storage: false, schema: versionSchema }],
  "the same version twice": [
    { name: "v1", served: true, storage: true, schema: versionSchema },
    { name: "v1", served: true, storage: false, schema: versionSchema },
  ],
  "a version with a bad name": [{ name: "V1", served: true, storage: true, schema: versionSchema }],
  "a version without a schema": [{ name: "v1", served: true, storage: true }],
  "a warning without deprecation": [
    { name: "v1", served: true, storage: true, schema: versionSchema, deprecationWarning: "x" },
  ],
  "a column of an unknown type": [
    {
      name: "v1",
      served: true,
      storage: true,
      schema: versionSchema,
      additionalPrinterColumns: [{ name: "A", type: "text", jsonPath: ".a" }],
    },
  ],
  "a column without a path": [
    {
      name: "v1",
      served: true,
      storage: true,
      schema: versionSchema,
      additionalPrinterColumns: [{ name: "A", type: "string", jsonPath: "a" }],
    },
  ],
  "a scale outside of spec": [
    {
      name: "v1",
      served: true,
      storage: true,
      schema: versionSchema,
      subresources: { scale: { specReplicasPath: ".replicas", statusReplicasPath: ".status.replicas" } },
    },
  ],
  "a selectable field that is none": [
    {
      name: "v1",
      served: true,
      storage: true,
      schema: { openAPIV3Schema: withProperty(text) },
      selectableFields: [{ jsonPath: ".b" }],
    },
  ],
  "a selectable object": [
    {
      name: "v1",
      served: true,
      storage: true,
      schema: { openAPIV3Schema: withProperty(plain) },
      selectableFields: [{ jsonPath: ".a" }],
    },
  ],
};

const trials: readonly Script[] = [
  ...Object.entries(schemas).map(([name, schema]) => script(`a definition with ${name}`, create(trial, of(schema)))),
  ...Object.entries(specs).map(([name, spec]) => script(`a definition with ${name}`, create(trial, of(plain, spec)))),
  ...Object.entries(versions).map(([name, list]) =>
    script(`a definition with ${name}`, create(trial, of(plain, { versions: [...list] }))),
  ),
  script("a definition with another name than its own", create(trial, { ...of(plain), metadata: { name: "other" } })),
  script("a definition with a value of the wrong type", create(trial, of(plain, { scope: 5 }))),
  script(
    "a definition with unknown fields, strictly",
    create(`${trial}&fieldValidation=Strict`, of(withProperty({ type: "string", titel: "x" }), { foo: 1 })),
  ),
  script(
    "a definition with a field that status cannot follow",
    create(
      trial,
      aDefinition({
        plural: "trials",
        kind: "Trial",
        schema: { type: "object", maxProperties: 5 },
        version: { subresources: { status: {} } },
      }),
    ),
  ),
];

const lives: readonly Script[] = [
  script(
    "a definition lives and its objects with it",
    ...install(
      aDefinition({ plural: "lives", kind: "Life", group: "a.example.com", schema: withProperty(text) }),
      "/apis/a.example.com/v1/lives",
    ),
    create("/apis/a.example.com/v1/namespaces/$NS/lives", {
      apiVersion: "a.example.com/v1",
      kind: "Life",
      metadata: { name: "x" },
      a: "1",
    }),
    patch("merge", `${definitions}/lives.a.example.com`, { spec: { scope: "Cluster" } }),
    patch("merge", `${definitions}/lives.a.example.com`, { spec: { names: { kind: "Other" } } }),
    patch("merge", `${definitions}/lives.a.example.com`, { spec: { group: "b.example.com" } }),
    remove(`${definitions}/lives.a.example.com`),
    gone(`${definitions}/lives.a.example.com`),
    get("/apis/a.example.com/v1/namespaces/$NS/lives", { until: (_, status) => status === 404 }),
  ),
  script(
    "a version is added, stored in, and must then stay",
    ...install(
      aDefinition({ plural: "grows", kind: "Grow", group: "b.example.com", schema: withProperty(text) }),
      "/apis/b.example.com/v1/grows",
    ),
    create("/apis/b.example.com/v1/namespaces/$NS/grows", {
      apiVersion: "b.example.com/v1",
      kind: "Grow",
      metadata: { name: "x" },
      a: "1",
    }),
    patch("json", `${definitions}/grows.b.example.com`, [
      {
        op: "add",
        path: "/spec/versions/-",
        value: {
          name: "v2",
          served: true,
          storage: false,
          schema: { openAPIV3Schema: withProperty({ type: "string", maxLength: 9 }) },
        },
      },
    ]),
    get("/apis/b.example.com/v2/namespaces/$NS/grows/x", { until: (_, status) => status === 200 }),
    patch("json", `${definitions}/grows.b.example.com`, [
      { op: "replace", path: "/spec/versions/0/storage", value: false },
      { op: "replace", path: "/spec/versions/1/storage", value: true },
    ]),
    patch("json", `${definitions}/grows.b.example.com`, [{ op: "remove", path: "/spec/versions/0" }]),
    patch("merge", `${definitions}/grows.b.example.com/status`, { status: { storedVersions: ["v2"] } }),
    patch("json", `${definitions}/grows.b.example.com`, [{ op: "remove", path: "/spec/versions/0" }]),
    get("/apis/b.example.com/v1/namespaces/$NS/grows/x", { until: (_, status) => status === 404 }),
  ),
  script(
    "a definition whose names are taken waits",
    ...install(
      aDefinition({
        plural: "firsts",
        kind: "First",
        group: "c.example.com",
        schema: plain,
        spec: { names: { plural: "firsts", kind: "First", shortNames: ["f"] } },
      }),
      "/apis/c.example.com/v1/firsts",
    ),
    create(
      definitions,
      aDefinition({
        plural: "seconds",
        kind: "Second",
        group: "c.example.com",
        schema: plain,
        spec: { names: { plural: "seconds", singular: "first", kind: "Second", shortNames: ["f", "s"] } },
      }),
    ),
    get(`${definitions}/seconds.c.example.com`, {
      until: (body) => JSON.stringify(body.status ?? {}).includes("Conflict"),
    }),
    get("/apis/c.example.com/v1/seconds"),
  ),
  script(
    "what a definition asks for is asked of objects stored before only where they change",
    ...install(
      aDefinition({
        plural: "tightens",
        kind: "Tighten",
        group: "d.example.com",
        schema: {
          type: "object",
          properties: {
            a: text,
            b: text,
            list: {
              type: "array",
              "x-kubernetes-list-type": "map",
              "x-kubernetes-list-map-keys": ["k"],
              items: { type: "object", required: ["k"], properties: { k: text, v: text } },
            },
          },
        },
      }),
      "/apis/d.example.com/v1/tightens",
    ),
    create("/apis/d.example.com/v1/namespaces/$NS/tightens", {
      apiVersion: "d.example.com/v1",
      kind: "Tighten",
      metadata: { name: "x" },
      a: "long",
      b: "1",
      list: [{ k: "1", v: "long" }],
    }),
    patch("json", `${definitions}/tightens.d.example.com`, [
      { op: "add", path: "/spec/versions/0/schema/openAPIV3Schema/properties/a/maxLength", value: 2 },
      {
        op: "add",
        path: "/spec/versions/0/schema/openAPIV3Schema/properties/list/items/properties/v/maxLength",
        value: 2,
      },
      {
        op: "add",
        path: "/spec/versions/0/schema/openAPIV3Schema/properties/b/x-kubernetes-validations",
        value: [{ rule: "self != '1'" }],
      },
    ]),
    create(
      "/apis/d.example.com/v1/namespaces/$NS/tightens?dryRun=All",
      { apiVersion: "d.example.com/v1", kind: "Tighten", metadata: { name: "y" }, a: "long" },
      { until: (_, status) => status === 422 },
    ),
    patch("merge", "/apis/d.example.com/v1/namespaces/$NS/tightens/x", { metadata: { labels: { x: "y" } } }),
    patch("merge", "/apis/d.example.com/v1/namespaces/$NS/tightens/x", { a: "longer" }),
    patch("merge", "/apis/d.example.com/v1/namespaces/$NS/tightens/x", { list: [{ k: "2" }, { k: "1", v: "long" }] }),
    patch("merge", "/apis/d.example.com/v1/namespaces/$NS/tightens/x", { list: [{ k: "1", v: "longer" }] }),
    patch("merge", "/apis/d.example.com/v1/namespaces/$NS/tightens/x", { b: "1", a: "s" }),
  ),
  script(
    "a definition is replaced whole, guarded by its version",
    ...install(
      aDefinition({ plural: "wholes", kind: "Whole", group: "e.example.com", schema: plain }),
      "/apis/e.example.com/v1/wholes",
    ),
    replace(
      `${definitions}/wholes.e.example.com`,
      aDefinition({ plural: "wholes", kind: "Whole", group: "e.example.com", schema: withProperty(text) }),
    ),
    patch("merge", `${definitions}/wholes.e.example.com`, { metadata: { labels: { a: "b" } } }),
    get(`${definitions}/wholes.e.example.com`, { until: isEstablished }),
  ),
];

export const definitionScripts: readonly Script[] = [...trials, ...lives];
