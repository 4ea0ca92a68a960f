import assert from "node:assert/strict";
import { test } from "node:test";
import { createVirtualWorld } from "../../../../test/virtual-world.ts";
import type { JsonObject } from "../../../base/json.ts";
import { messageOf } from "../../../schema/field-error.ts";
import type { ApiObject, Context } from "../../contracts.ts";
import { definitionShape } from "./shape.ts";
import { createDefinitionStrategy } from "./strategy.ts";

const strategy = createDefinitionStrategy(() => () => []);
const context = (others: readonly ApiObject[] = []): Context => ({
  world: { ...createVirtualWorld(), now: () => 0 },
  gates: { enabled: () => false },
  user: { name: "admin", groups: [] },
  reader: { get: () => undefined, list: () => others },
  dryRun: false,
  subresource: "",
});

function aDefinition(schema: JsonObject = { type: "object" }, spec: JsonObject = {}): ApiObject {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "tests.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "tests", kind: "Test" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }],
      ...spec,
    },
  };
}

function errorsOf(definition: ApiObject): readonly string[] {
  strategy.defaults?.(definition, { enabled: () => false });
  strategy.prepareForCreate?.(definition, context());
  return (strategy.validateCreate?.(definition, context()) ?? []).map(messageOf);
}

test("names and conversion have defaults", () => {
  const definition = aDefinition();
  strategy.defaults?.(definition, { enabled: () => false });
  const { names, conversion } = definition.spec as { names: JsonObject; conversion: JsonObject };
  assert.deepEqual(names, { plural: "tests", kind: "Test", singular: "test", listKind: "TestList" });
  assert.deepEqual(conversion, { strategy: "None" });
});

test("a new CRD is established at once, unless its names are taken", () => {
  const definition = aDefinition();
  strategy.defaults?.(definition, { enabled: () => false });
  strategy.prepareForCreate?.(definition, context());
  assert.deepEqual(definition.status, {
    conditions: null,
    acceptedNames: { plural: "", kind: "" },
    storedVersions: ["v1"],
  });
  const established = strategy.afterCreate?.(definition, context()) ?? definition;
  const status = established.status as { conditions: { type: string; status: string }[]; storedVersions: string[] };
  assert.deepEqual(
    status.conditions.map(({ type, status: value }) => `${type}=${value}`),
    ["NamesAccepted=True", "Established=True"],
  );
  assert.deepEqual(status.storedVersions, ["v1"]);

  const rival = aDefinition({ type: "object" }, { names: { plural: "others", singular: "test", kind: "Other" } });
  rival.metadata.name = "others.example.com";
  strategy.defaults?.(rival, { enabled: () => false });
  strategy.prepareForCreate?.(rival, context([established]));
  const waiting = strategy.afterCreate?.(rival, context([established])) ?? rival;
  assert.deepEqual((waiting.status as { conditions: JsonObject[] }).conditions[0], {
    lastTransitionTime: "1970-01-01T00:00:00Z",
    type: "NamesAccepted",
    status: "False",
    reason: "SingularConflict",
    message: '"test" is already in use',
  });
});

const root = "spec.validation.openAPIV3Schema";
const refusals: readonly { schema?: JsonObject; spec?: JsonObject; says: readonly string[] }[] = [
  { schema: { type: "object" }, says: [] },
  { schema: {}, says: [`${root}.type: Required value: must not be empty at the root`] },
  {
    schema: { type: "object", properties: { a: {} } },
    says: [`${root}.properties[a].type: Required value: must not be empty for specified object fields`],
  },
  {
    schema: { type: "object", properties: { a: { type: "array" } } },
    says: [`${root}.properties[a].items: Required value: must be specified`],
  },
  {
    schema: { type: "object", properties: { a: { type: "text" } } },
    says: [
      `${root}.properties[a].type: Unsupported value: "text": supported values: "array", "boolean", "integer", "number", "object", "string"`,
    ],
  },
  {
    schema: { type: "object", properties: { a: { type: "string", anyOf: [{ type: "string" }] } } },
    says: [`${root}.properties[a].anyOf[0].type: Forbidden: must be empty to be structural`],
  },
  {
    schema: { type: "object", anyOf: [{ properties: { b: { enum: ["x"] } } }] },
    says: [`${root}.properties[b]: Required value: because it is defined in ${root}.anyOf[0].properties[b]`],
  },
  {
    schema: { type: "object", properties: { a: { type: "string", default: 5 } } },
    says: [`${root}.properties[a].default: Invalid value: "integer":  in body must be of type string: "integer"`],
  },
  {
    schema: {
      type: "object",
      properties: { metadata: { type: "object", properties: { labels: { type: "object" } } } },
    },
    says: [
      `${root}.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified`,
    ],
  },
  {
    schema: {
      type: "object",
      properties: { a: { type: "array", "x-kubernetes-list-type": "map", items: { type: "object" } } },
    },
    says: [
      `${root}.properties[a].x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map`,
    ],
  },
  {
    schema: { type: "object", properties: { a: { type: "string", uniqueItems: true } } },
    says: [
      `${root}.properties[a].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic`,
    ],
  },
  {
    spec: { scope: "Everywhere" },
    says: ['spec.scope: Unsupported value: "Everywhere": supported values: "Cluster", "Namespaced"'],
  },
  {
    spec: { group: "nodots" },
    says: [
      'metadata.name: Invalid value: "tests.example.com": must be spec.names.plural+"."+spec.group',
      'spec.group: Invalid value: "nodots": should be a domain with at least one dot',
    ],
  },
  {
    spec: { group: "test.k8s.io" },
    says: [
      'metadata.name: Invalid value: "tests.example.com": must be spec.names.plural+"."+spec.group',
      'metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
    ],
  },
];

for (const { schema, spec, says } of refusals)
  test(`a CRD with ${JSON.stringify(spec ?? schema)} gives: ${says.join(" and ") || "no error"}`, () =>
    assert.deepEqual(errorsOf(aDefinition(schema, spec)), says));

test("a CRD without exactly one storage version is rejected", () => {
  const schema = { openAPIV3Schema: { type: "object" } };
  const versions = ["v1", "v2"].map((name) => ({ name, served: true, storage: true, schema }));
  const [message = ""] = errorsOf(aDefinition({}, { versions }));
  assert.match(
    message,
    /^spec.versions: Invalid value: \[\{"Name":"v1","Served":true,.*\]: must have exactly one version marked as storage version$/,
  );
});

test("group and plural of a CRD cannot change, nor scope and kind once it is established", () => {
  const created = aDefinition();
  strategy.defaults?.(created, { enabled: () => false });
  strategy.prepareForCreate?.(created, context());
  const old = strategy.afterCreate?.(created, context()) ?? created;
  const changed = structuredClone(old);
  Object.assign(changed.spec as JsonObject, { scope: "Cluster" });
  assert.deepEqual((strategy.validateUpdate?.(changed, old, context()) ?? []).map(messageOf), [
    'spec.scope: Invalid value: "Cluster": field is immutable',
  ]);
});

const named = (format: string): JsonObject => ({ type: "object", properties: { a: { type: "string", format } } });

test("an unknown format is one warning", () => {
  const [known, odd, odder] = [named("date-time"), named("odd"), named("odder")].map((schema) => aDefinition(schema));
  assert.ok(known !== undefined && odd !== undefined && odder !== undefined);
  assert.deepEqual(strategy.warnings?.(known, undefined, context()), []);
  assert.deepEqual(strategy.warnings?.(odd, undefined, context()), ['unrecognized format "odd"']);
  assert.deepEqual(strategy.warnings?.(odd, odd, context()), []);
  assert.deepEqual(strategy.warnings?.(odder, odd, context()), ['unrecognized format "odder"']);
});

test("a version in status.storedVersions must stay", () => {
  const old = aDefinition();
  strategy.defaults?.(old, { enabled: () => false });
  strategy.prepareForCreate?.(old, context());
  const changed = structuredClone(old);
  const [version] = (changed.spec as { versions: JsonObject[] }).versions;
  Object.assign(version ?? {}, { name: "v2" });
  strategy.prepareForUpdate?.(changed, old, context());
  assert.deepEqual((changed.status as JsonObject).storedVersions, ["v1", "v2"]);
  const [message = ""] = (strategy.validateUpdate?.(changed, old, context()) ?? []).map(messageOf);
  assert.match(
    message,
    /^status.storedVersions\[0\]: Invalid value: "v1": missing from spec.versions; v1 was previously/,
  );
});

test("unknown fields of a CRD are dropped and named; fields of nested schemas are known", () => {
  const definition = aDefinition({ type: "object", properties: { a: { type: "string", titel: "x" } } }, { foo: 1 });
  assert.deepEqual(definitionShape.prune(definition), [
    "spec.versions[0].schema.openAPIV3Schema.properties.a.titel",
    "spec.foo",
  ]);
});

test("a CRD with a value of the wrong type is rejected with the message of Go's decoder", () => {
  assert.throws(() => definitionShape.prune(aDefinition({}, { scope: 5 })), {
    message:
      'CustomResourceDefinition in version "v1" cannot be handled as a CustomResourceDefinition: json: cannot unmarshal number into Go struct field CustomResourceDefinitionSpec.spec.scope of type v1.ResourceScope',
  });
});
