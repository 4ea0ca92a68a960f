import assert from "node:assert/strict";
import { test } from "node:test";
import { aClaim, aContent, aSnapshot } from "../../../test/builders.ts";
import { aClaimView, aSnapshotView, type SnapshotParts } from "../../../test/views.ts";
import { annotations, finalizers } from "../../api/names.ts";
import type { ReasonCode } from "../../api/reasons.ts";
import type { PersistentVolumeClaim } from "../../api/types.ts";
import type { Protection } from "../../kube/fence.ts";
import type { MissingSnapshot } from "./memory.ts";
import { type ClaimPhase, claimPhaseOf } from "./phase-claim.ts";
import { planSnapshot } from "./plan.ts";
import { planClaim } from "./plan-claim.ts";

const claim = aClaim({ metadata: { finalizers: ["kubernetes.io/pvc-protection"] } });
const guarded = aClaim({ metadata: { finalizers: ["kubernetes.io/pvc-protection", finalizers.claimAsSource] } });
const deletionTimestamp = "2026-01-01T01:00:00Z";

const failed = { readyToUse: false, error: { message: "no space" } };

const cases: readonly {
  given: string;
  seen: PersistentVolumeClaim;
  snapshots: readonly SnapshotParts[];
  phase: ClaimPhase;
  reason: ReasonCode;
  expect: "add" | "remove" | "nothing";
}[] = [
  { given: "a new snapshot", seen: claim, snapshots: [{}], phase: "unprotected", reason: "Writes", expect: "add" },
  { given: "no snapshots", seen: guarded, snapshots: [], phase: "idle", reason: "Released", expect: "remove" },
  {
    given: "a snapshot being taken",
    seen: guarded,
    snapshots: [{ content: aContent() }],
    phase: "protected",
    reason: "Settled",
    expect: "nothing",
  },
  {
    given: "one ready snapshot and one being taken",
    seen: guarded,
    snapshots: [{ content: aContent({ status: { readyToUse: true } }) }, { content: aContent() }],
    phase: "protected",
    reason: "Settled",
    expect: "nothing",
  },
  {
    given: "all ready",
    seen: guarded,
    snapshots: [{ content: aContent({ status: { readyToUse: true } }) }],
    phase: "idle",
    reason: "Released",
    expect: "remove",
  },
  {
    given: "only invalid snapshots",
    seen: guarded,
    snapshots: [{ snapshotClass: undefined }],
    phase: "idle",
    reason: "Released",
    expect: "remove",
  },
  {
    given: "only snapshots with a final error",
    seen: guarded,
    snapshots: [{ content: aContent({ status: failed }) }, { content: aContent({ status: failed }) }],
    phase: "idle",
    reason: "Released",
    expect: "remove",
  },
  {
    given: "a failed snapshot that is being retried",
    seen: guarded,
    snapshots: [
      { content: aContent({ status: failed, metadata: { annotations: { [annotations.beingCreated]: "yes" } } }) },
    ],
    phase: "protected",
    reason: "Settled",
    expect: "nothing",
  },
  {
    given: "a deleted snapshot without content",
    seen: guarded,
    snapshots: [{ snapshot: aSnapshot({ metadata: { deletionTimestamp } }) }],
    phase: "idle",
    reason: "Released",
    expect: "remove",
  },
  {
    given: "a deleted snapshot that is being taken",
    seen: guarded,
    snapshots: [{ snapshot: aSnapshot({ metadata: { deletionTimestamp } }), content: aContent() }],
    phase: "protected",
    reason: "Settled",
    expect: "nothing",
  },
  {
    given: "a deleted snapshot that failed because the storage is full",
    seen: guarded,
    snapshots: [
      {
        snapshot: aSnapshot({ metadata: { deletionTimestamp } }),
        content: aContent({ status: failed, metadata: { annotations: { [annotations.beingCreated]: "yes" } } }),
      },
    ],
    phase: "idle",
    reason: "Released",
    expect: "remove",
  },
  {
    given: "a deleted snapshot without a reply of the driver",
    seen: guarded,
    snapshots: [
      {
        snapshot: aSnapshot({ metadata: { deletionTimestamp } }),
        content: aContent({ metadata: { annotations: { [annotations.beingCreated]: "yes" } } }),
      },
    ],
    phase: "protected",
    reason: "Settled",
    expect: "nothing",
  },
  {
    given: "a terminating claim",
    seen: aClaim({ metadata: { deletionTimestamp } }),
    snapshots: [{ claim: aClaim() }],
    phase: "unprotected",
    reason: "Settled",
    expect: "nothing",
  },
];
for (const { given, seen, snapshots, phase, reason, expect } of cases)
  test(`given ${given}, the claim is ${phase} and its finalizer plan is: ${expect}`, () => {
    const protection = seen === guarded ? "certain" : "none";
    const view = aClaimView(seen, snapshots, { protection });
    const { actions, reason: why } = planClaim(view);
    assert.deepEqual([claimPhaseOf(view), why.code], [phase, reason]);
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
  const [write] = planClaim(aClaimView(odd, [{}])).actions;
  assert.ok(write?.kind === "replace");
  assert.deepEqual((write.object as PersistentVolumeClaim).spec, odd.spec);
  assert.equal(write.object.metadata.resourceVersion, "1");
});

test("an idle claim is released after three seconds, and at once when it is deleted", () => {
  const planIdle = (seen: PersistentVolumeClaim) =>
    planClaim(aClaimView(seen, [], { protection: "certain", idleMs: 1_000 }));
  const { actions, next } = planIdle(guarded);
  assert.deepEqual({ actions, next }, { actions: [], next: { kind: "after", ms: 2_000 } });
  const going = { ...guarded, metadata: { ...guarded.metadata, deletionTimestamp } };
  assert.equal(planIdle(going).actions.length, 1);
});

const held = (change: NonNullable<Parameters<typeof aSnapshot>[0]> = {}) =>
  aSnapshot({ ...change, metadata: { finalizers: [finalizers.snapshotAsSource], ...change.metadata } });
const tuesday = { namespace: "default", name: "tuesday", cachedVersion: undefined };
const questions: readonly {
  given: string;
  protection?: Protection;
  snapshots?: readonly SnapshotParts[];
  missingSnapshots?: readonly MissingSnapshot[];
  expect: readonly string[];
}[] = [
  { given: "nothing", expect: [] },
  {
    given: "a snapshot that left the cache unseen",
    missingSnapshots: [tuesday],
    expect: ["VolumeSnapshot tuesday undefined"],
  },
  {
    given: "one of which the cache has another incarnation",
    missingSnapshots: [{ ...tuesday, cachedVersion: "7" }],
    expect: ["VolumeSnapshot tuesday 7"],
  },
  { given: "a claim that is not protected", protection: "none", missingSnapshots: [tuesday], expect: [] },
  {
    given: "a snapshot with our finalizer and without a content",
    snapshots: [{ snapshot: held() }],
    expect: [`VolumeSnapshotContent snapcontent-${held().metadata.uid} undefined`],
  },
  { given: "one that has its content", snapshots: [{ snapshot: held(), content: aContent() }], expect: [] },
  { given: "one that was never worked on", snapshots: [{ snapshot: aSnapshot() }], expect: [] },
  {
    given: "one that is being deleted",
    snapshots: [{ snapshot: held({ metadata: { deletionTimestamp } }) }],
    expect: [],
  },
];
for (const { given, protection = "certain", snapshots = [], missingSnapshots = [], expect } of questions)
  test(`before a claim is released, given ${given}, the server is asked for [${expect.join(", ")}]`, () => {
    // None of these needs the claim: each is of a class that is gone.
    const unneeded = snapshots.map((change) => ({ snapshotClass: undefined, ...change }));
    const seen = protection === "none" ? claim : guarded;
    const { actions } = planClaim(aClaimView(seen, unneeded, { protection, missingSnapshots }));
    assert.deepEqual(
      actions.flatMap((action) =>
        action.kind === "confirm" ? [`${action.ref.kind} ${action.ref.name} ${action.resourceVersion}`] : [],
      ),
      expect,
    );
  });

test("the evidence is asked for before the finalizer goes, and not while the claim is needed", () => {
  const memory = { protection: "certain", missingSnapshots: [tuesday] } as const;
  const kinds = (isCreationUnderWay: boolean) =>
    planClaim(aClaimView(guarded, [], { ...memory, isCreationUnderWay })).actions.map(({ kind }) => kind);
  assert.deepEqual(kinds(false), ["confirm", "replace"]);
  assert.deepEqual(kinds(true), []);
});

const own = finalizers.claimAsSource;
const other = "kubernetes.io/pvc-protection";
const waiting = {};
const taking = { content: aContent() };
const doubts: readonly {
  given: string;
  on: readonly string[];
  protection: Protection;
  snapshots: readonly SnapshotParts[];
  expect: readonly string[] | undefined;
}[] = [
  { given: "a new snapshot", on: [other, own], protection: "doubtful", snapshots: [waiting], expect: [own, other] },
  {
    given: "a finalizer that was renewed before",
    on: [own, other],
    protection: "doubtful",
    snapshots: [waiting],
    expect: [other, own],
  },
  {
    given: "a new snapshot after one that is being taken",
    on: [other, own],
    protection: "doubtful",
    snapshots: [taking, waiting],
    expect: [own, other],
  },
  { given: "no other finalizer", on: [own], protection: "doubtful", snapshots: [waiting], expect: [] },
  { given: "no new snapshot", on: [other, own], protection: "doubtful", snapshots: [taking], expect: undefined },
  { given: "a certain finalizer", on: [other, own], protection: "certain", snapshots: [waiting], expect: undefined },
];
for (const { given, on, protection, snapshots, expect } of doubts)
  test(`a claim whose finalizer may be removed any moment, given ${given}, is written ${expect === undefined ? "not at all" : `with [${expect.join(", ")}]`}`, () => {
    const seen = aClaim({ metadata: { finalizers: on } });
    const { actions } = planClaim(aClaimView(seen, snapshots, { protection, idleMs: 0 }));
    const written = actions.map((action) => action.kind === "replace" && action.object.metadata.finalizers);
    assert.deepEqual(written, expect === undefined ? [] : [expect]);
  });

test("no content is created while the protection of the claim is uncertain", () => {
  const kindsFor = (protection: Protection) =>
    planSnapshot(aSnapshotView({ claim: guarded, protection })).actions.map(({ kind }) => kind);
  assert.deepEqual(kindsFor("doubtful"), ["patch"]);
  assert.deepEqual(kindsFor("certain"), ["patch", "create", "event"]);
});
