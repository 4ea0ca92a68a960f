import assert from "node:assert/strict";
import { test } from "node:test";
import { aContent, aSnapshot } from "../../test/builders.ts";
import type { JsonObject } from "../base/json.ts";
import { bindingRules } from "./binding-rules.ts";
import { kindRules } from "./kind-rules.ts";
import { contentNameOf, contentSourceOf, sourceOf } from "./snapshot-source.ts";
import { firstViolation } from "./violation.ts";

/** The controller serves a source beside an empty one, as loose CRDs have stored it; admission refuses it, as strict CRDs do. */
const sources: readonly { one: string | undefined; other: string | undefined; finds: 0 | 1 | 2; isStrict?: false }[] = [
  { one: "a", other: undefined, finds: 1 },
  { one: undefined, other: "b", finds: 1 },
  { one: "a", other: "", finds: 1, isStrict: false },
  { one: "", other: "b", finds: 1, isStrict: false },
  { one: "a", other: "b", finds: 2 },
  { one: "", other: "", finds: 0 },
  { one: undefined, other: undefined, finds: 0 },
];
const members = (pairs: Record<string, string | undefined>) =>
  Object.fromEntries(Object.entries(pairs).filter(([, value]) => value !== undefined));

for (const { one, other, finds, isStrict = finds === 1 } of sources)
  test(`sources ${JSON.stringify(one)} and ${JSON.stringify(other)} count as ${finds} for the controller, and admission ${isStrict ? "allows" : "refuses"} them`, () => {
    const snapshot = aSnapshot({
      spec: { source: members({ persistentVolumeClaimName: one, volumeSnapshotContentName: other }) },
    });
    const content = aContent({ spec: { source: members({ volumeHandle: one, snapshotHandle: other }) } });
    for (const source of [sourceOf(snapshot), contentSourceOf(content)])
      assert.equal(source.kind === "unclear" ? source.count : 1, finds);
    const codes = [
      ...kindRules.VolumeSnapshot.strict(snapshot as unknown as JsonObject),
      ...kindRules.VolumeSnapshotContent.strict(content as unknown as JsonObject),
    ].map(({ code }) => code);
    assert.deepEqual(codes, isStrict ? [] : finds === 1 ? ["SNAP-104", "SNAP-104"] : ["SNAP-101", "SNAP-111"]);
  });

test("a snapshot of a claim has a content of its uid, any other the content that it names", () => {
  assert.equal(contentNameOf(aSnapshot()), "snapcontent-uid-snap");
  assert.equal(contentNameOf(aSnapshot({ spec: { source: { volumeSnapshotContentName: "by-hand" } } })), "by-hand");
});

test("a bound snapshot whose source was changed is deleted with the content that it was bound to", () => {
  const status = { boundVolumeSnapshotContentName: "by-hand" };
  const both = { source: { persistentVolumeClaimName: "a", volumeSnapshotContentName: "by-hand" } };
  const going = { metadata: { deletionTimestamp: "2026-01-01T01:00:00Z" } };
  assert.equal(contentNameOf(aSnapshot({ status, spec: both })), "by-hand");
  assert.equal(contentNameOf(aSnapshot({ status })), "snapcontent-uid-snap");
  assert.equal(contentNameOf(aSnapshot({ status, ...going })), "by-hand");
});

test("a content with a snapshot handle and an empty volume handle is pre-provisioned", () => {
  const snapshot = aSnapshot({ spec: { source: { volumeSnapshotContentName: "by-hand" } } });
  const { namespace = "", name } = snapshot.metadata;
  const content = aContent({
    metadata: { name: "by-hand" },
    spec: { source: { volumeHandle: "", snapshotHandle: "s-1" }, volumeSnapshotRef: { namespace, name } },
  });
  const none = { claim: undefined, volume: undefined, snapshotClass: undefined, defaultClasses: [] };
  const found = firstViolation(bindingRules, {
    snapshot,
    source: sourceOf(snapshot),
    content,
    ...none,
    place: { kind: "anywhere" },
  });
  assert.equal(found, undefined);
});
