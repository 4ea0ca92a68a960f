import assert from "node:assert/strict";
import { test } from "node:test";
import { builtInShape } from "./built-in.ts";
import { DecodeError } from "./decode-error.ts";

const anObject = () => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "a", other: "x" } as { name: string },
  data: {},
});

test("a built-in kind is decoded as its Go type, and dropped fields are named", () => {
  const object = anObject();
  assert.deepEqual(builtInShape("", "v1", "ConfigMap")?.prune(object), ["metadata.other"]);
  assert.deepEqual(object, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } });
});

test("a value of the wrong type is an error that names the kind", () => {
  const object = { ...anObject(), immutable: "x" };
  assert.throws(
    () => builtInShape("", "v1", "ConfigMap")?.prune(object),
    (reason) =>
      reason instanceof DecodeError &&
      reason.message ===
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal string into Go struct field ConfigMap.immutable of type bool',
  );
});

test("kinds outside of the table have no Go type", () => {
  assert.equal(builtInShape("example.com", "v1", "Thing"), undefined);
});
