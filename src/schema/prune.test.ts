import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { JsonObject } from "../base/json.ts";
import { messageOf } from "./field-error.ts";
import { duplicatesIn } from "./list-types.ts";
import { readSchema } from "./node.ts";
import { applyDefaults, defaulted, dropNulls, prune } from "./prune.ts";

const schema = readSchema({
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        known: { type: "string" },
        open: {
          type: "object",
          "x-kubernetes-preserve-unknown-fields": true,
          properties: { shut: { type: "object" } },
        },
        items: { type: "array", items: { type: "object", properties: { a: { type: "string" } } } },
        map: { type: "object", additionalProperties: { type: "object", properties: { a: { type: "string" } } } },
        nullable: { type: "string", nullable: true },
        mode: { type: "string", default: "fast" },
        nested: { type: "object", default: {}, properties: { deep: { type: "integer", default: 3 } } },
      },
    },
  },
});

test("unknown fields are pruned at any depth and named in the order of the object", () => {
  const object: JsonObject = {
    apiVersion: "a/v1",
    kind: "A",
    metadata: { anything: 1 },
    extra: 1,
    spec: {
      known: "x",
      foo: 1,
      open: { kept: { deep: 1 }, shut: { gone: 1 } },
      items: [{ a: "x", b: 1 }],
      map: { k: { a: "x", b: 1 } },
    },
  };
  assert.deepEqual(prune(schema, object), [
    "extra",
    "spec.foo",
    "spec.open.shut.gone",
    "spec.items[0].b",
    "spec.map.k.b",
  ]);
  assert.deepEqual(object, {
    apiVersion: "a/v1",
    kind: "A",
    metadata: { anything: 1 },
    spec: { known: "x", open: { kept: { deep: 1 }, shut: {} }, items: [{ a: "x" }], map: { k: { a: "x" } } },
  });
});

test("a null is dropped unless it is allowed or has a default to become", () => {
  const object: JsonObject = { spec: { known: null, nullable: null, mode: null } };
  dropNulls(schema, object);
  assert.deepEqual(object, { spec: { nullable: null, mode: null } });
  applyDefaults(schema, object);
  assert.deepEqual(object, { spec: { nullable: null, mode: "fast", nested: { deep: 3 } } });
});

test("defaults apply from the outside in, never overwrite values, and are copied", () => {
  const one: { spec: JsonObject } = { spec: { mode: "slow" } };
  const two: { spec: JsonObject } = { spec: {} };
  applyDefaults(schema, one as unknown as JsonObject);
  applyDefaults(schema, two as unknown as JsonObject);
  assert.deepEqual(one, { spec: { mode: "slow", nested: { deep: 3 } } });
  assert.notEqual(one.spec.nested, two.spec.nested);
  const bare: JsonObject = {};
  applyDefaults(schema, bare);
  assert.deepEqual(bare, {});
});

test("a stored object gets its defaults in a copy, and is returned itself when it lacks none", () => {
  const stored: JsonObject = { spec: { known: "x" } };
  const shown = defaulted(schema, stored);
  assert.deepEqual(shown, { spec: { known: "x", mode: "fast", nested: { deep: 3 } } });
  assert.deepEqual(stored, { spec: { known: "x" } });
  assert.equal(defaulted(schema, shown), shown);
});

test("changed parts are copied and unchanged parts are shared with the stored object", () => {
  const stored = {
    spec: { known: "x", foo: 1, items: [{ a: "x" }, { b: 1 }], map: { k: { a: null } }, nested: {} },
    kept: 1,
  };
  const before = structuredClone(stored);
  const object: JsonObject = { ...stored };
  prune(schema, object);
  dropNulls(schema, object);
  applyDefaults(schema, object);
  assert.deepEqual(object, {
    spec: { known: "x", items: [{ a: "x" }, {}], map: { k: {} }, nested: { deep: 3 }, mode: "fast" },
  });
  assert.deepEqual(stored, before);
  const { spec } = object as { spec: { items: unknown[] } };
  assert.equal(spec.items[0], stored.spec.items[0]);
  const again: JsonObject = { ...object };
  prune(schema, again);
  dropNulls(schema, again);
  applyDefaults(schema, again);
  assert.equal(again.spec, object.spec);
});

test("pruning a second time finds nothing", () => {
  fc.assert(
    fc.property(fc.object({ maxDepth: 4, values: [fc.string(), fc.integer(), fc.constant(null)] }), (generated) => {
      const object = { spec: generated } as JsonObject;
      prune(schema, object);
      assert.deepEqual(prune(schema, object), []);
    }),
  );
});

const lists = readSchema({
  type: "object",
  properties: {
    set: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
    map: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["a", "b"],
      items: { type: "object", properties: { a: { type: "string" }, b: { type: "integer" } } },
    },
  },
});

test("a duplicate list entry is reported once, at its second index", () => {
  assert.deepEqual(duplicatesIn(lists, { set: ["x", "y", "x", "x"] }).map(messageOf), ['set[2]: Duplicate value: "x"']);
  const map = [{ a: "x", b: 1, c: 1 }, { a: "x" }, { a: "x", b: 1, c: 2 }];
  assert.deepEqual(duplicatesIn(lists, { map }).map(messageOf), ['map[2]: Duplicate value: {"a":"x","b":1}']);
});
