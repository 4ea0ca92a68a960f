import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiObject } from "../../contracts.ts";
import { conditionsFor, dated } from "../../namespaces.ts";
import { claimFinalizers, claimsOf, volumeFinalizers } from "./protection.ts";

const own = "kubernetes.io/pvc-protection";
const claim = (finalizers: string[], deleting: boolean): ApiObject => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: {
    name: "data",
    namespace: "team",
    finalizers,
    ...(deleting ? { deletionTimestamp: "2024-01-01T00:00:00Z" } : {}),
  },
});
const pod = (volumes: object[], nodeName = "n1"): ApiObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web", namespace: "team" },
  spec: { nodeName, volumes: volumes as never },
});
const mounts = (claimName: string) => ({ name: "v", persistentVolumeClaim: { claimName } });

const cases: readonly {
  given: string;
  claim: ApiObject;
  pods?: readonly ApiObject[];
  gets: readonly string[] | undefined;
}[] = [
  { given: "unused and not deleted", claim: claim([own], false), gets: undefined },
  { given: "without its protection", claim: claim(["other/one"], false), gets: ["other/one", own] },
  { given: "deleted and unused", claim: claim([own, "other/one"], true), gets: ["other/one"] },
  {
    given: "deleted and used by a running pod",
    claim: claim([own], true),
    pods: [pod([mounts("data")])],
    gets: undefined,
  },
  {
    given: "deleted and named by a pod no node has",
    claim: claim([own], true),
    pods: [pod([mounts("data")], "")],
    gets: [],
  },
  {
    given: "deleted beside a pod with another claim",
    claim: claim([own], true),
    pods: [pod([mounts("other")])],
    gets: [],
  },
];
for (const { given, claim, pods = [], gets } of cases)
  test(`a claim ${given} ${gets === undefined ? "keeps its finalizers" : `has [${gets.join(", ")}]`}`, () =>
    assert.deepEqual(claimFinalizers(claim, pods), gets));

test("a pod uses the claims it names and those of its ephemeral volumes", () => {
  assert.deepEqual(claimsOf(pod([mounts("data"), { name: "scratch", ephemeral: {} }, { name: "x", emptyDir: {} }])), [
    "data",
    "web-scratch",
  ]);
});

test("a deleted volume is removed when it is no longer bound", () => {
  const volume = (phase: string): ApiObject => ({
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name: "pv", finalizers: ["kubernetes.io/pv-protection"], deletionTimestamp: "2024-01-01T00:00:00Z" },
    status: { phase },
  });
  assert.equal(volumeFinalizers(volume("Bound")), undefined);
  assert.deepEqual(volumeFinalizers(volume("Released")), []);
});

test("conditions name what blocks a namespace's deletion, and an unchanged condition keeps its time", () => {
  const remaining = {
    resources: new Map([
      ["configmaps.", 1],
      ["volumesnapshots.snapshot.storage.k8s.io", 2],
    ]),
    finalizers: new Map([["a.b/c", 2]]),
  };
  const first = dated(conditionsFor(remaining), [], "then");
  const messages = first.filter(({ status }) => status === "True").map(({ message }) => message);
  assert.deepEqual(messages, [
    "Some resources are remaining: configmaps. has 1 resource instances, volumesnapshots.snapshot.storage.k8s.io has 2 resource instances",
    "Some content in the namespace has finalizers remaining: a.b/c in 2 resource instances",
  ]);
  const later = dated(conditionsFor({ ...remaining, finalizers: new Map() }), first, "now");
  assert.deepEqual(
    later.map(({ lastTransitionTime }) => lastTransitionTime),
    ["then", "then", "then", "then", "now"],
  );
});
