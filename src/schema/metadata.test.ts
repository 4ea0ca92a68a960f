import assert from "node:assert/strict";
import { test } from "node:test";
import type { Metadata } from "./contracts.ts";
import { messageOf } from "./field-error.ts";
import { metadataErrors, metadataUpdateErrors } from "./metadata.ts";

const rules = { scope: "namespace", nameRule: "subdomain" } as const;
const messages = (metadata: Metadata): readonly string[] => metadataErrors(metadata, rules).map(messageOf);

const cases: readonly { given: string; metadata: Metadata; expected: readonly RegExp[] }[] = [
  { given: "a plain object", metadata: { name: "a.b", namespace: "n" }, expected: [] },
  {
    given: "no name",
    metadata: { namespace: "n" },
    expected: [/^metadata.name: Required value: name or generateName is required$/],
  },
  {
    given: "a name in upper case",
    metadata: { name: "Bad", namespace: "n" },
    expected: [
      /^metadata.name: Invalid value: "Bad": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '\.', and must start and end with an alphanumeric character \(e\.g\. 'example\.com', regex used for validation is '\[a-z0-9\]\(\[-a-z0-9\]\*\[a-z0-9\]\)\?\(\\\.\[a-z0-9\]\(\[-a-z0-9\]\*\[a-z0-9\]\)\?\)\*'\)$/,
    ],
  },
  {
    given: "a generateName that ends in a dash",
    metadata: { name: "x-12345", generateName: "x-", namespace: "n" },
    expected: [],
  },
  {
    given: "a label key with two slashes and a value with a blank",
    metadata: { name: "a", namespace: "n", labels: { "a/b/c": "x y" } },
    expected: [
      /^metadata.labels: Invalid value: "a\/b\/c": a valid label key must/,
      /^metadata.labels: Invalid value: "x y": a valid label must be/,
    ],
  },
  {
    given: "annotations beyond the limit",
    metadata: { name: "a", namespace: "n", annotations: { big: "x".repeat(300_000) } },
    expected: [/^metadata.annotations: Too long: may not be more than 262144 bytes$/],
  },
  {
    given: "two owners that both control",
    metadata: {
      name: "a",
      namespace: "n",
      ownerReferences: [
        { apiVersion: "v1", kind: "Pod", name: "p", uid: "1", controller: true },
        { apiVersion: "v1", kind: "Pod", name: "q", uid: "2", controller: true },
      ],
    },
    expected: [
      /Only one reference can have Controller set to true\. Found "true" in references for Pod\/p and Pod\/q$/,
    ],
  },
  {
    given: "a finalizer that is not a qualified name",
    metadata: { name: "a", namespace: "n", finalizers: ["_"] },
    expected: [/^metadata.finalizers: Invalid value: "_": name part must consist/],
  },
];

for (const { given, metadata, expected } of cases)
  test(`given ${given}, then ${expected.length === 0 ? "nothing is refused" : `${expected.length} errors name the field`}`, () => {
    const found = messages(metadata);
    assert.equal(found.length, expected.length, found.join("\n"));
    expected.forEach((pattern, index) => {
      assert.match(found[index] ?? "", pattern);
    });
  });

test("a finalizer cannot be added once the object is being deleted", () => {
  const old: Metadata = {
    name: "a",
    resourceVersion: "1",
    deletionTimestamp: "2020-01-01T00:00:00Z",
    finalizers: ["a/b"],
  };
  const errors = metadataUpdateErrors({ ...old, finalizers: ["a/b", "c/d"] }, old);
  assert.deepEqual(errors.map(messageOf), [
    'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"c/d"}',
  ]);
});

test("name, namespace and uid never change", () => {
  const errors = metadataUpdateErrors({ name: "b", uid: "2", resourceVersion: "1" }, { name: "a", uid: "1" });
  assert.deepEqual(errors.map(messageOf), [
    'metadata.name: Invalid value: "b": field is immutable',
    'metadata.uid: Invalid value: "2": field is immutable',
  ]);
});
