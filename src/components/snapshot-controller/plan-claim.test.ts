import assert from "node:assert/strict";
import { test } from "node:test";
import { aClaim, aContent, aSnapshot } from "../../../test/builders.ts";
import { aSnapshotView } from "../../../test/views.ts";
import { annotations, finalizers } from "../../api/names.ts";
import type { PersistentVolumeClaim } from "../../api/types.ts";
import type { SnapshotView } from "./observe.ts";
import { isNeeded, planClaim } from "./plan-claim.ts";

const claim = aClaim({ metadata: { finalizers: ["kubernetes.io/pvc-protection"] } });
const guarded = aClaim({ metadata: { finalizers: ["kubernetes.io/pvc-protection", finalizers.claimAsSource] } });
const deletionTimestamp = "2026-01-01T01:00:00Z";

const of = (seen: PersistentVolumeClaim, change: Partial<SnapshotView> = {}): SnapshotView =>
  aSnapshotView({ claim: seen, ...change });
const failed = { readyToUse: false, error: { message: "no space" } };

const cases: readonly {
  given: string;
  seen: PersistentVolumeClaim;
  snapshots: readonly Partial<SnapshotView>[];
  expect: "add" | "remove" | "nothing";
}[] = [
  { given: "a new snapshot", seen: claim, snapshots: [{}], expect: "add" },
  { given: "no snapshots", seen: guarded, snapshots: [], expect: "remove" },
  { given: "a cut under way", seen: guarded, snapshots: [{ content: aContent() }], expect: "nothing" },
  {
    given: "one ready and one being cut",
    seen: guarded,
    snapshots: [{ content: aContent({ status: { readyToUse: true } }) }, { content: aContent() }],
    expect: "nothing",
  },
  {
    given: "all ready",
    seen: guarded,
    snapshots: [{ content: aContent({ status: { readyToUse: true } }) }],
    expect: "remove",
  },
  {
    given: "only snapshots that are wrong",
    seen: guarded,
    snapshots: [{ snapshotClass: undefined }],
    expect: "remove",
  },
  {
    given: "only snapshots that failed for good",
    seen: guarded,
    snapshots: [{ content: aContent({ status: failed }) }, { content: aContent({ status: failed }) }],
    expect: "remove",
  },
  {
    given: "a failed snapshot that is being tried again",
    seen: guarded,
    snapshots: [
      { content: aContent({ status: failed, metadata: { annotations: { [annotations.beingCreated]: "yes" } } }) },
    ],
    expect: "nothing",
  },
  {
    given: "a deleted snapshot without content",
    seen: guarded,
    snapshots: [{ snapshot: aSnapshot({ metadata: { deletionTimestamp } }) }],
    expect: "remove",
  },
  {
    given: "a deleted snapshot whose cut is under way",
    seen: guarded,
    snapshots: [{ snapshot: aSnapshot({ metadata: { deletionTimestamp } }), content: aContent() }],
    expect: "nothing",
  },
  {
    given: "a claim on its way out",
    seen: aClaim({ metadata: { deletionTimestamp } }),
    snapshots: [{ claim: aClaim() }],
    expect: "nothing",
  },
];
for (const { given, seen, snapshots, expect } of cases)
  test(`given ${given}, the claim's finalizer plan is: ${expect}`, () => {
    const sight = { claim: seen, snapshots: snapshots.map((change) => of(seen, change)) };
    const { actions } = planClaim({ claim: seen, isNeeded: isNeeded(sight), idleMs: 3_000 });
    const written = actions.map((action) =>
      action.kind === "replace" ? action.object.metadata.finalizers : action.kind,
    );
    const wanted = {
      add: [["kubernetes.io/pvc-protection", finalizers.claimAsSource]],
      remove: [["kubernetes.io/pvc-protection"]],
      nothing: [],
    };
    assert.deepEqual(written, wanted[expect]);
  });

test("the claim is written back exactly as it was read, unknown fields included", () => {
  const odd = { ...claim, spec: { ...claim.spec, futureField: { deep: [1] } } } as unknown as PersistentVolumeClaim;
  const [write] = planClaim({ claim: odd, isNeeded: true, idleMs: 0 }).actions;
  assert.ok(write?.kind === "replace");
  assert.deepEqual((write.object as PersistentVolumeClaim).spec, odd.spec);
  assert.equal(write.object.metadata.resourceVersion, "1");
});

test("a claim that has just become idle is kept for three seconds, and is let go at once when it is deleted", () => {
  const idle = { claim: guarded, isNeeded: false, idleMs: 1_000 };
  assert.deepEqual(planClaim(idle), { actions: [], next: { kind: "after", ms: 2_000 } });
  const going = { ...guarded, metadata: { ...guarded.metadata, deletionTimestamp } };
  assert.equal(planClaim({ ...idle, claim: going }).actions.length, 1);
});
