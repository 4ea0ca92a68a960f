import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "yaml";
import type { JsonObject } from "../../base/json.ts";
import { objectFindings } from "../../rules/object-findings.ts";
import { type Origin, schemaFindings, unlessSaid } from "./shipped-schemas.ts";

const gates = { anyVolumeDataSource: true, crossNamespace: true };

/** "code field" of each error, with "warning" where it is one. */
function verdictOn(yaml: string, { old, origin = "manifest" }: { old?: string; origin?: Origin } = {}) {
  const object = parse(yaml) as JsonObject;
  const before = old === undefined ? undefined : (parse(old) as JsonObject);
  const said = objectFindings(object, before, gates);
  return [...said, ...unlessSaid(said, schemaFindings(object, before, origin))].map(
    ({ severity, violation: { code, field } }) => `${code} ${field}${severity === "warning" ? " warning" : ""}`,
  );
}

const snapshot = (more: string, head = "snapshot.storage.k8s.io/v1, kind: VolumeSnapshot"): string =>
  `{ apiVersion: ${head}, metadata: { name: s }, ${more} }`;
const good = "spec: { source: { persistentVolumeClaimName: a } }";
const named = (metadata: string): string =>
  `{ apiVersion: snapshot.storage.k8s.io/v1, kind: VolumeSnapshot, metadata: { ${metadata} }, ${good} }`;

const cases: Readonly<Record<string, readonly [yaml: string, found: readonly string[]]>> = {
  "a right snapshot": [snapshot(good), []],
  "a right snapshot of v1beta1": [
    snapshot(good, "snapshot.storage.k8s.io/v1beta1, kind: VolumeSnapshot"),
    ["SNAP-193 apiVersion warning"],
  ],
  "an empty second source": [
    snapshot('spec: { source: { persistentVolumeClaimName: a, volumeSnapshotContentName: "" } }'),
    ["SNAP-104 spec.source"],
  ],
  "a null second source, which is none": [
    snapshot("spec: { source: { persistentVolumeClaimName: a, volumeSnapshotContentName: null } }"),
    [],
  ],
  "a misspelled field": [
    snapshot("spec: { source: { persistentVolumeClaimName: a }, volumeSnapshotClasName: gold }"),
    ["SNAP-194 spec.volumeSnapshotClasName"],
  ],
  "a misspelled source, which is also missing": [
    snapshot("spec: { source: { persistentVolumeClaim: a } }"),
    ["SNAP-101 spec.source"],
  ],
  "an unknown field beside spec": [snapshot(`${good}, specs: {}`), ["SNAP-194 specs"]],
  "an unknown field of metadata": [named("name: s, lables: {}"), ["SNAP-194 metadata.lables"]],
  "an unknown kind": [snapshot(good, "snapshot.storage.k8s.io/v1, kind: VolumeSnapshots"), ["SNAP-193 kind"]],
  "an unknown version": [snapshot(good, "snapshot.storage.k8s.io/v2, kind: VolumeSnapshot"), ["SNAP-193 apiVersion"]],
  "no group": [snapshot(good, "v1, kind: VolumeSnapshot"), ["SNAP-193 apiVersion"]],
  "a misspelled group": [snapshot(good, "snapshots.storage.k8s.io/v1, kind: VolumeSnapshot"), ["SNAP-193 apiVersion"]],
  "a kind of another group": [
    snapshot(good, "sharedresource.openshift.io/v1alpha1, kind: VolumeSnapshot"),
    ["SNAP-193 kind"],
  ],
  "the same kind of somebody else": [
    snapshot(good, "volumesnapshot.external-storage.k8s.io/v1, kind: VolumeSnapshot"),
    [],
  ],
  "an illegal name": [named("name: Monday_1"), ["SNAP-196 metadata.name"]],
  "a name of 254 characters": [named(`name: ${"a".repeat(254)}`), ["SNAP-196 metadata.name"]],
  "no name": [named("namespace: team"), ["SNAP-196 metadata.name"]],
  "a generated name": [named("generateName: s-"), []],
  "a number as name": [named("name: 5"), ["SNAP-195 "]],
  "an illegal namespace": [named("name: s, namespace: a.b"), ["SNAP-196 metadata.namespace"]],
  "an illegal label": [named("name: s, labels: { a/b/c: d }"), ["SNAP-196 metadata.labels"]],
  "a list in the place of spec": [snapshot("spec: []"), ["SNAP-101 spec.source"]],
  "a policy of another spelling": [
    "{ apiVersion: snapshot.storage.k8s.io/v1, kind: VolumeSnapshotClass, metadata: { name: c }, driver: d, deletionPolicy: delete }",
    ["SNAP-116 deletionPolicy"],
  ],
  "a parameter that is a number": [
    "{ apiVersion: snapshot.storage.k8s.io/v1, kind: VolumeSnapshotClass, metadata: { name: c }, driver: d, deletionPolicy: Delete, parameters: { n: 5 } }",
    ["SNAP-195 parameters.n"],
  ],
  "a content with two handles, one of them empty": [
    '{ apiVersion: snapshot.storage.k8s.io/v1, kind: VolumeSnapshotContent, metadata: { name: c }, spec: { driver: d, deletionPolicy: Delete, source: { volumeHandle: v, snapshotHandle: "" }, volumeSnapshotRef: { name: s, namespace: n } } }',
    ["SNAP-104 spec.source"],
  ],
  "a link without a source": [
    "{ apiVersion: snapshot.storage.k8s.io/v1alpha1, kind: VolumeSnapshotLink, metadata: { name: l }, spec: {} }",
    ["SNAP-195 spec.source"],
  ],
  "a claim with a misspelled field": [
    "{ apiVersion: v1, kind: PersistentVolumeClaim, metadata: { name: c }, spec: { storageClass: fast } }",
    ["SNAP-194 spec.storageClass"],
  ],
  "a share with a misspelled reference": [
    "{ apiVersion: sharedresource.openshift.io/v1alpha1, kind: SharedSecret, metadata: { name: s }, spec: { secretref: { name: a, namespace: b } } }",
    ["SNAP-194 spec.secretref", "SNAP-195 spec.secretRef"],
  ],
};

for (const [given, [yaml, found]] of Object.entries(cases))
  test(`${given}: ${found.join(", ") || "nothing is found"}`, () => assert.deepEqual(verdictOn(yaml), found));

test("what was wrong before is a warning", () => {
  const old = snapshot(`${good}, specs: {}`);
  assert.deepEqual(verdictOn(snapshot(`${good}, specs: {}, more: 1`), { old }), [
    "SNAP-194 more",
    "SNAP-194 specs warning",
  ]);
});

test("of a stored object the status counts, and its version does not; of a new one it is the other way round", () => {
  const odd = snapshot(
    `${good}, status: { readyToUse: perhaps }`,
    "snapshot.storage.k8s.io/v1beta1, kind: VolumeSnapshot",
  );
  assert.deepEqual(verdictOn(odd, { origin: "stored" }), ["SNAP-195 status.readyToUse"]);
  assert.deepEqual(verdictOn(odd), ["SNAP-193 apiVersion warning"]);
});

test("a template needs no name, and its fields are judged", () => {
  const template = "{ apiVersion: v1, kind: PersistentVolumeClaim, metadata: {}, spec: { storageClass: fast } }";
  assert.deepEqual(verdictOn(template, { origin: "template" }), ["SNAP-194 spec.storageClass"]);
});
