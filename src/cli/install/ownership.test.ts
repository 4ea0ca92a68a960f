import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../base/json.ts";
import { isOfSnapkeep, labelled, namespacesNamedBy, type Ownership, ownershipOf } from "./ownership.ts";

const ours = { "app.kubernetes.io/name": "snapkeep" };
const installation = { namespace: "one", driverNamespace: "one-drivers" };

const object = (metadata: JsonObject, more: JsonObject = {}): JsonObject => ({
  kind: "ClusterRole",
  metadata,
  ...more,
});
const boundTo = (...namespaces: readonly string[]): JsonObject => ({
  subjects: namespaces.map((namespace) => ({ kind: "ServiceAccount", name: "any", namespace })),
});
const asking = (namespace: string): JsonObject => ({
  webhooks: [{ clientConfig: { service: { namespace, name: "any" } } }, { clientConfig: { url: "https://any" } }],
});
const label = (namespace: string): JsonObject => ({ labels: { "snapkeep.dev/installation": namespace } });
const helm = (more: JsonObject = {}): JsonObject => ({
  labels: ours,
  annotations: { "meta.helm.sh/release-name": "snaps", ...more },
});

const cases: readonly { given: string; found?: JsonObject; named?: readonly string[]; is: Ownership }[] = [
  { given: "nothing", is: { kind: "absent" } },
  { given: "our label", found: object(label("one")), is: { kind: "own" } },
  {
    given: "our label, although others name another",
    found: object(label("one")),
    named: ["two"],
    is: { kind: "own" },
  },
  {
    given: "another label",
    found: object(label("two")),
    named: ["one"],
    is: { kind: "foreign", owner: "the installation in namespace two" },
  },
  {
    given: "another label and a release",
    found: object({ ...label("two"), annotations: { "snapkeep.dev/version": "1.2.3" } }),
    is: { kind: "foreign", owner: "the installation in namespace two (release 1.2.3)" },
  },
  {
    given: "a Helm release",
    found: object(helm({ "meta.helm.sh/release-namespace": "one" })),
    named: ["one"],
    is: { kind: "foreign", owner: "Helm release one/snaps" },
  },
  {
    given: "a Helm release of any namespace",
    found: object(helm()),
    is: { kind: "foreign", owner: "Helm release snaps" },
  },
  { given: "a binding to our account", found: object({ labels: ours }, boundTo("one")), is: { kind: "unlabelled" } },
  { given: "a binding to a driver's account", found: object({}, boundTo("one-drivers")), is: { kind: "unlabelled" } },
  {
    given: "a binding to another account, although others name ours",
    found: object({ labels: ours }, boundTo("two")),
    named: ["one"],
    is: { kind: "foreign", owner: "the installation in namespace two" },
  },
  {
    given: "a binding in our namespace to another account",
    found: object({ labels: ours, namespace: "one" }, boundTo("two")),
    is: { kind: "foreign", owner: "the installation in namespace two" },
  },
  {
    given: "a binding of a user",
    found: object({ labels: ours }, { subjects: [{ kind: "User", name: "any", namespace: "two" }] }),
    is: { kind: "unclaimed" },
  },
  { given: "a configuration that asks our Service", found: object({}, asking("one")), is: { kind: "unlabelled" } },
  {
    given: "a configuration that asks another Service",
    found: object({ labels: ours }, asking("two")),
    is: { kind: "foreign", owner: "the installation in namespace two" },
  },
  { given: "a role whose component is bound to us", found: object({}), named: ["one"], is: { kind: "unlabelled" } },
  {
    given: "a role whose component is bound to a driver of ours",
    found: object({}),
    named: ["one-drivers"],
    is: { kind: "unlabelled" },
  },
  {
    given: "a role whose component is bound to another",
    found: object({ labels: ours, annotations: { "snapkeep.dev/version": "0.2.0" } }),
    named: ["two"],
    is: { kind: "foreign", owner: "the installation in namespace two (release 0.2.0)" },
  },
  { given: "a role without any binding", found: object({ labels: ours }), is: { kind: "unclaimed" } },
  {
    given: "a role without our label and any binding",
    found: object({ labels: { app: "any" } }),
    is: { kind: "foreign", owner: "somebody else: it has no label of snapkeep" },
  },
  {
    given: "an object in our namespace",
    found: object({ labels: ours, namespace: "one" }),
    is: { kind: "unlabelled" },
  },
  {
    given: "an object in our namespace, although its component is bound to another",
    found: object({ labels: ours, namespace: "one" }),
    named: ["two"],
    is: { kind: "unlabelled" },
  },
  {
    given: "an object in our drivers' namespace",
    found: object({ labels: ours, namespace: "one-drivers" }),
    is: { kind: "unlabelled" },
  },
  { given: "an object elsewhere", found: object({ labels: ours, namespace: "two" }), is: { kind: "unclaimed" } },
  {
    given: "an object in our namespace without our label",
    found: object({ namespace: "one" }),
    is: { kind: "foreign", owner: "somebody else: it has no label of snapkeep" },
  },
  {
    given: "our namespace",
    found: { kind: "Namespace", metadata: { name: "one", labels: ours } },
    is: { kind: "unlabelled" },
  },
  {
    given: "another namespace",
    found: { kind: "Namespace", metadata: { name: "two", labels: ours } },
    is: { kind: "unclaimed" },
  },
  {
    given: "a role that has the name of our namespace",
    found: object({ name: "one", labels: ours }),
    is: { kind: "unclaimed" },
  },
];
for (const { given, found, named = [], is } of cases)
  test(`given ${given}, then it is ${is.kind}`, () => {
    assert.deepEqual(ownershipOf(found, installation, new Set(named)), is);
  });

test("a component names its installations: by label, else by its bindings and webhooks; Helm releases name none", () => {
  assert.deepEqual(
    [
      ...namespacesNamedBy([
        undefined,
        object({ ...label("one") }, boundTo("two")),
        object({}, boundTo("three", "four")),
        object({}, asking("five")),
        object(helm(), boundTo("six")),
        object({}),
      ]),
    ],
    ["one", "three", "four", "five"],
  );
});

test("a label keeps the others, and tells namespace and release", () => {
  const given = { apiVersion: "v1", kind: "Service", metadata: { name: "any", labels: { app: "any" } } };
  const { metadata } = labelled(given, { namespace: "one", version: "1.2.3" } as never) as unknown as JsonObject;
  assert.deepEqual(metadata, {
    name: "any",
    labels: { app: "any", ...ours, "snapkeep.dev/installation": "one" },
    annotations: { "snapkeep.dev/version": "1.2.3" },
  });
  assert.ok(isOfSnapkeep(object({ labels: ours })));
  assert.ok(!isOfSnapkeep(object({ labels: { "app.kubernetes.io/name": "other" } })));
  assert.ok(!isOfSnapkeep(object({})));
});
