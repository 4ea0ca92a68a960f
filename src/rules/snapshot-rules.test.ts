import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../base/json.ts";
import { errorRows } from "../errors/codes.ts";
import { judgeObject, type ObjectRules } from "./object-rules.ts";
import { classRules, contentRules, defaultClassDriver, secondDefault, snapshotRules } from "./snapshot-rules.ts";

const aSnapshot = (spec: JsonObject, version = "v1"): JsonObject => ({
  apiVersion: `snapshot.storage.k8s.io/${version}`,
  kind: "VolumeSnapshot",
  metadata: { name: "monday", namespace: "team" },
  spec,
});
const aContent = (spec: JsonObject): JsonObject => ({
  apiVersion: "snapshot.storage.k8s.io/v1",
  kind: "VolumeSnapshotContent",
  metadata: { name: "snapcontent-1" },
  spec: {
    deletionPolicy: "Delete",
    driver: "driver.example",
    source: { volumeHandle: "vol-1" },
    volumeSnapshotRef: { name: "monday", namespace: "team" },
    ...spec,
  },
});
const aClass = (rest: JsonObject): JsonObject => ({
  apiVersion: "snapshot.storage.k8s.io/v1",
  kind: "VolumeSnapshotClass",
  metadata: { name: "gold" },
  driver: "driver.example",
  deletionPolicy: "Delete",
  ...rest,
});

const ofClaim = { source: { persistentVolumeClaimName: "data" } };
const ofContent = { source: { volumeSnapshotContentName: "content" } };
const ofBoth = { source: { ...ofClaim.source, ...ofContent.source } };
const besideEmpty = { source: { ...ofClaim.source, volumeSnapshotContentName: "" } };
const bound = { volumeSnapshotRef: { name: "monday", namespace: "team", uid: "1" } };

interface Row {
  readonly given: string;
  readonly rules: ObjectRules;
  readonly before?: JsonObject;
  readonly after: JsonObject;
  readonly refused?: readonly string[];
  readonly ratcheted?: readonly string[];
}

const creations: readonly Row[] = [
  { given: "a snapshot of a claim", rules: snapshotRules, after: aSnapshot(ofClaim) },
  { given: "a snapshot of a content", rules: snapshotRules, after: aSnapshot(ofContent) },
  {
    given: "a snapshot with a class",
    rules: snapshotRules,
    after: aSnapshot({ ...ofClaim, volumeSnapshotClassName: "gold" }),
  },
  {
    given: "a snapshot without a class",
    rules: snapshotRules,
    after: aSnapshot({ ...ofClaim, volumeSnapshotClassName: null }),
  },
  { given: "a snapshot of both", rules: snapshotRules, after: aSnapshot(ofBoth), refused: ["SNAP-101"] },
  {
    given: "a snapshot of a claim, and of a content with an empty name",
    rules: snapshotRules,
    after: aSnapshot(besideEmpty),
    refused: ["SNAP-104"],
  },
  {
    given: "the empty name of a stored snapshot removed",
    rules: snapshotRules,
    before: aSnapshot(besideEmpty),
    after: aSnapshot(ofClaim),
  },
  {
    given: "another claim in a stored snapshot with an empty name",
    rules: snapshotRules,
    before: aSnapshot(besideEmpty),
    after: aSnapshot({ source: { persistentVolumeClaimName: "other", volumeSnapshotContentName: "" } }),
    refused: ["SNAP-102"],
    ratcheted: ["SNAP-104"],
  },
  {
    given: "an empty name added to a stored snapshot",
    rules: snapshotRules,
    before: aSnapshot(ofClaim),
    after: aSnapshot(besideEmpty),
    refused: ["SNAP-104"],
  },
  {
    given: "a content with a handle and an empty one",
    rules: contentRules,
    after: aContent({ source: { volumeHandle: "a", snapshotHandle: "" } }),
    refused: ["SNAP-104"],
  },
  { given: "a snapshot of neither", rules: snapshotRules, after: aSnapshot({ source: {} }), refused: ["SNAP-101"] },
  { given: "a snapshot without a source", rules: snapshotRules, after: aSnapshot({}), refused: ["SNAP-101"] },
  {
    given: "a snapshot of a claim with an empty name",
    rules: snapshotRules,
    after: aSnapshot({ source: { persistentVolumeClaimName: "" } }),
    refused: ["SNAP-101"],
  },
  {
    given: "a snapshot with an empty class name",
    rules: snapshotRules,
    after: aSnapshot({ ...ofClaim, volumeSnapshotClassName: "" }),
    refused: ["SNAP-103"],
  },
  {
    given: "a snapshot of v1beta1 with two mistakes",
    rules: snapshotRules,
    after: aSnapshot({ ...ofBoth, volumeSnapshotClassName: "" }, "v1beta1"),
    refused: ["SNAP-101", "SNAP-103"],
  },
  {
    given: "a snapshot whose claim name is a number",
    rules: snapshotRules,
    after: aSnapshot({ source: { persistentVolumeClaimName: 5 } }),
    refused: ["SNAP-191"],
  },
  { given: "an object without a spec", rules: snapshotRules, after: {}, refused: ["SNAP-101"] },
  { given: "a dynamic content", rules: contentRules, after: aContent({}) },
  {
    given: "a pre-provisioned content",
    rules: contentRules,
    after: aContent({ source: { snapshotHandle: "snap-1" } }),
  },
  {
    given: "a content with both handles",
    rules: contentRules,
    after: aContent({ source: { volumeHandle: "a", snapshotHandle: "b" } }),
    refused: ["SNAP-111"],
  },
  {
    given: "a content with neither handle",
    rules: contentRules,
    after: aContent({ source: {} }),
    refused: ["SNAP-111"],
  },
  {
    given: "a content whose reference has no name",
    rules: contentRules,
    after: aContent({ volumeSnapshotRef: { namespace: "team" } }),
    refused: ["SNAP-113"],
  },
  {
    given: "a content whose reference has no namespace",
    rules: contentRules,
    after: aContent({ volumeSnapshotRef: { name: "monday", namespace: "" } }),
    refused: ["SNAP-113"],
  },
  {
    given: "a content with another deletion policy and no driver",
    rules: contentRules,
    after: aContent({ deletionPolicy: "Keep", driver: null }),
    refused: ["SNAP-116", "SNAP-117"],
  },
  { given: "a class", rules: classRules, after: aClass({}) },
  {
    given: "a class without a policy",
    rules: classRules,
    after: aClass({ deletionPolicy: null }),
    refused: ["SNAP-116"],
  },
];

const updates: readonly Row[] = [
  {
    given: "a finalizer taken off a valid snapshot",
    rules: snapshotRules,
    before: aSnapshot(ofClaim),
    after: { ...aSnapshot(ofClaim), metadata: { name: "monday", finalizers: [] } },
  },
  {
    given: "another source of a valid snapshot",
    rules: snapshotRules,
    before: aSnapshot(ofClaim),
    after: aSnapshot(ofContent),
    refused: ["SNAP-102"],
  },
  {
    given: "a second source of a valid snapshot",
    rules: snapshotRules,
    before: aSnapshot(ofClaim),
    after: aSnapshot(ofBoth),
    refused: ["SNAP-102", "SNAP-101"],
  },
  {
    given: "another class of a valid snapshot",
    rules: snapshotRules,
    before: aSnapshot({ ...ofClaim, volumeSnapshotClassName: "gold" }),
    after: aSnapshot({ ...ofClaim, volumeSnapshotClassName: "silver" }),
  },
  {
    given: "an empty class name on a valid snapshot",
    rules: snapshotRules,
    before: aSnapshot(ofClaim),
    after: aSnapshot({ ...ofClaim, volumeSnapshotClassName: "" }),
    refused: ["SNAP-103"],
  },
  {
    given: "a finalizer taken off an invalid snapshot",
    rules: snapshotRules,
    before: aSnapshot(ofBoth),
    after: { ...aSnapshot(ofBoth), metadata: { name: "monday", finalizers: [] } },
    ratcheted: ["SNAP-101"],
  },
  {
    given: "an invalid source that is mended",
    rules: snapshotRules,
    before: aSnapshot(ofBoth),
    after: aSnapshot(ofClaim),
  },
  {
    given: "an invalid source that stays invalid in another way",
    rules: snapshotRules,
    before: aSnapshot(ofBoth),
    after: aSnapshot({ source: {} }),
    ratcheted: ["SNAP-101"],
  },
  {
    given: "an invalid source and a class name that becomes empty",
    rules: snapshotRules,
    before: aSnapshot(ofBoth),
    after: aSnapshot({ ...ofBoth, volumeSnapshotClassName: "" }),
    refused: ["SNAP-103"],
    ratcheted: ["SNAP-101"],
  },
  {
    given: "another source of a snapshot whose class name was empty already",
    rules: snapshotRules,
    before: aSnapshot({ ...ofClaim, volumeSnapshotClassName: "" }),
    after: aSnapshot({ ...ofContent, volumeSnapshotClassName: "" }),
    refused: ["SNAP-102"],
    ratcheted: ["SNAP-103"],
  },
  {
    given: "another handle of a valid content",
    rules: contentRules,
    before: aContent({}),
    after: aContent({ source: { volumeHandle: "vol-2" } }),
    refused: ["SNAP-112"],
  },
  { given: "a content that is bound", rules: contentRules, before: aContent({}), after: aContent(bound) },
  {
    given: "another snapshot of a content that is not bound",
    rules: contentRules,
    before: aContent({}),
    after: aContent({ volumeSnapshotRef: { name: "tuesday", namespace: "team" } }),
  },
  {
    given: "another snapshot of a bound content",
    rules: contentRules,
    before: aContent(bound),
    after: aContent({ volumeSnapshotRef: { name: "tuesday", namespace: "team", uid: "1" } }),
    refused: ["SNAP-114"],
  },
  {
    given: "a bound content that is released",
    rules: contentRules,
    before: aContent(bound),
    after: aContent({}),
    refused: ["SNAP-114"],
  },
  {
    given: "a bound reference whose absent members are written as null",
    rules: contentRules,
    before: aContent(bound),
    after: aContent({ volumeSnapshotRef: { ...bound.volumeSnapshotRef, fieldPath: null } }),
  },
  {
    given: "a volume mode that is added",
    rules: contentRules,
    before: aContent({}),
    after: aContent({ sourceVolumeMode: "Block" }),
  },
  {
    given: "a volume mode that is removed",
    rules: contentRules,
    before: aContent({ sourceVolumeMode: "Block" }),
    after: aContent({}),
    refused: ["SNAP-115"],
  },
  {
    given: "another policy and driver of a content",
    rules: contentRules,
    before: aContent({}),
    after: aContent({ deletionPolicy: "Retain", driver: "other.example" }),
  },
];

const codes = (violations: readonly { readonly code: string }[]): readonly string[] =>
  violations.map(({ code }) => code);
const reported = (names: readonly string[] = []): string => names.join(", ") || "nothing";

for (const { given, rules, before, after, refused = [], ratcheted = [] } of [...creations, ...updates])
  test(`given ${given}, ${reported(refused)} is refused and ${reported(ratcheted)} is ratcheted`, () => {
    const verdict = judgeObject(rules, after, before);
    assert.deepEqual({ refused: codes(verdict.refused), ratcheted: codes(verdict.ratcheted) }, { refused, ratcheted });
    for (const { code, field, message } of verdict.refused) {
      assert.ok(message.startsWith(`${field}: `) && message.endsWith(` [${code}]`), message);
      assert.ok(code in errorRows);
    }
  });

test("only the annotation makes a class the default of its driver", () => {
  const annotated = aClass({
    metadata: { name: "gold", annotations: { "snapshot.storage.kubernetes.io/is-default-class": "true" } },
  });
  assert.equal(defaultClassDriver(annotated), "driver.example");
  assert.equal(defaultClassDriver(aClass({})), undefined);
  assert.match(secondDefault("driver.example", ["gold"]).message, /driver\.example .*\(gold\).* \[SNAP-121\]$/);
});
