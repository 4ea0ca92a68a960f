import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { applyMergePatch, type JsonObject } from "../../base/json.ts";
import { anything } from "../../schema/node.ts";
import { builtInNode } from "./builtin.ts";
import { applyStrategicPatch } from "./strategic.ts";

const pod = builtInNode("", "v1", "Pod") ?? anything;
const deployment = builtInNode("apps", "v1", "Deployment") ?? anything;

const rows: readonly { given: string; from: JsonObject; patch: JsonObject; to: JsonObject }[] = [
  {
    given: "a container with the same name is merged, another goes before the ones the patch does not name",
    from: { spec: { containers: [{ name: "a", image: "1" }] } },
    patch: {
      spec: {
        containers: [
          { name: "b", image: "2" },
          { name: "a", tty: true },
        ],
      },
    },
    to: {
      spec: {
        containers: [
          { name: "b", image: "2" },
          { name: "a", image: "1", tty: true },
        ],
      },
    },
  },
  {
    given: "$patch: delete removes the entry",
    from: { spec: { containers: [{ name: "a" }, { name: "b" }] } },
    patch: { spec: { containers: [{ name: "a", $patch: "delete" }] } },
    to: { spec: { containers: [{ name: "b" }] } },
  },
  {
    given: "$patch: replace in a list replaces it",
    from: { spec: { containers: [{ name: "a" }, { name: "b" }] } },
    patch: { spec: { containers: [{ $patch: "replace" }, { name: "c" }] } },
    to: { spec: { containers: [{ name: "c" }] } },
  },
  {
    given: "$patch: replace in a map replaces it",
    from: { metadata: { labels: { a: "1", b: "2" } } },
    patch: { metadata: { labels: { $patch: "replace", c: "3" } } },
    to: { metadata: { labels: { c: "3" } } },
  },
  {
    given: "finalizers are merged by value",
    from: { metadata: { finalizers: ["x", "y"] } },
    patch: { metadata: { finalizers: ["z", "x"] } },
    to: { metadata: { finalizers: ["z", "x", "y"] } },
  },
  {
    given: "$deleteFromPrimitiveList takes values out",
    from: { metadata: { finalizers: ["x", "y"] } },
    patch: { metadata: { "$deleteFromPrimitiveList/finalizers": ["x"] } },
    to: { metadata: { finalizers: ["y"] } },
  },
  {
    given: "$setElementOrder orders what it names and leaves the rest in place",
    from: { spec: { containers: [{ name: "a" }, { name: "server" }, { name: "b" }] } },
    patch: {
      spec: { "$setElementOrder/containers": [{ name: "b" }, { name: "a" }], containers: [{ name: "b", tty: true }] },
    },
    to: { spec: { containers: [{ name: "server" }, { name: "b", tty: true }, { name: "a" }] } },
  },
  {
    given: "a list without a merge key is replaced",
    from: { spec: { containers: [{ name: "a", args: ["1", "2"] }] } },
    patch: { spec: { containers: [{ name: "a", args: ["3"] }] } },
    to: { spec: { containers: [{ name: "a", args: ["3"] }] } },
  },
  {
    given: "null deletes, and is not created where there was nothing",
    from: { metadata: { labels: { a: "1" } } },
    patch: { metadata: { labels: { a: null, b: null }, annotations: { c: null, d: "1" } } },
    to: { metadata: { labels: {}, annotations: { d: "1" } } },
  },
];

for (const { given, from, patch, to } of rows)
  test(given, () => assert.deepEqual(applyStrategicPatch(pod, from, patch), to));

test("$retainKeys drops what the new member of a union does not need", () => {
  const from = { spec: { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1 } } } };
  const patch = { spec: { strategy: { $retainKeys: ["type"], type: "Recreate" } } };
  assert.deepEqual(applyStrategicPatch(deployment, from, patch), { spec: { strategy: { type: "Recreate" } } });
});

const refusals: readonly { patch: JsonObject; code: number; says: string }[] = [
  {
    patch: { spec: { containers: [{ image: "x" }] } },
    code: 500,
    says: "map: map[image:x] does not contain declared merge key: name",
  },
  {
    patch: { spec: { $patch: "destroy" } },
    code: 500,
    says: "unknown patch type: destroy in map: map[$patch:destroy]",
  },
  {
    patch: { spec: { $retainKeys: ["a"], nodeName: "x" } },
    code: 400,
    says: "invalid patch format of retainKeys",
  },
];

for (const { patch, code, says } of refusals)
  test(`an invalid patch is rejected: ${says}`, () => {
    const from = { spec: { containers: [{ name: "a" }] } };
    assert.throws(
      () => applyStrategicPatch(pod, from, patch),
      (reason: { status?: { code: number; message: string } }) =>
        reason.status?.code === code && reason.status.message === says,
    );
  });

test("without lists and directives a strategic patch is a merge patch", () => {
  const objects = fc.object({ maxDepth: 3, values: [fc.string(), fc.integer(), fc.constant(null)] });
  const isPlain = (value: unknown): boolean =>
    !JSON.stringify(value).includes("[") && !JSON.stringify(value).includes("$");
  const plain = objects.filter(isPlain);
  const withoutNulls = plain.filter((value) => !JSON.stringify(value).includes("null"));
  fc.assert(
    fc.property(withoutNulls, plain, (from, patch) => {
      assert.deepEqual(
        applyStrategicPatch(anything, from as JsonObject, patch as JsonObject),
        applyMergePatch(from as JsonObject, patch as JsonObject),
      );
    }),
  );
});
