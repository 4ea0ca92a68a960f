/** What exactly is written of a snapshot and its content: who else has written there must not lose it, and facts stay facts. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { aClass, aContent, aSnapshot } from "../../../test/builders.ts";
import { both, deletionTimestamp, protectedClaim } from "../../../test/snapshot-plans.ts";
import { aSnapshotView, type SnapshotParts } from "../../../test/views.ts";
import { annotations, finalizers } from "../../api/names.ts";
import type { SnapshotFacts, SnapshotView } from "./observe.ts";
import { planSnapshot } from "./plan.ts";
import type { SnapshotAction } from "./plan-steps.ts";

const aView = (change: SnapshotParts): SnapshotView => aSnapshotView({ claim: protectedClaim, ...change });

const bodyOf = (action: SnapshotAction | undefined): unknown =>
  action?.kind === "patch" ? action.patch.body : `no patch but ${action?.kind ?? "nothing"}`;

const policies: readonly { policy: "Delete" | "Retain"; expect: readonly string[] }[] = [
  { policy: "Delete", expect: both },
  { policy: "Retain", expect: [finalizers.snapshotAsSource] },
];
for (const { policy, expect } of policies)
  test(`with ${policy} a snapshot gets ${expect.length === 1 ? "one finalizer" : "both finalizers"} in one patch, and keeps other finalizers`, () => {
    const snapshot = aSnapshot({ metadata: { finalizers: ["x/theirs"] } });
    const [write] = planSnapshot(aView({ snapshot, snapshotClass: aClass({ deletionPolicy: policy }) })).actions;
    assert.deepEqual(bodyOf(write), { metadata: { resourceVersion: "1", finalizers: ["x/theirs", ...expect] } });
  });

test("one patch removes our finalizers of a deleted snapshot and keeps other finalizers", () => {
  const metadata = { deletionTimestamp, finalizers: ["x/theirs", ...both, finalizers.snapshotRestoring] };
  const { actions } = planSnapshot(aView({ snapshot: aSnapshot({ metadata }) }));
  assert.deepEqual(bodyOf(actions.at(-1)), {
    metadata: { resourceVersion: "1", finalizers: ["x/theirs", finalizers.snapshotRestoring] },
  });
});

test("the being-deleted annotation is added without changing other annotations", () => {
  const snapshot = aSnapshot({ metadata: { deletionTimestamp, finalizers: both } });
  const content = aContent({ metadata: { annotations: { theirs: "kept" } } });
  const [mark] = planSnapshot(aView({ snapshot, content })).actions;
  assert.deepEqual(bodyOf(mark), {
    metadata: { resourceVersion: "1", annotations: { [annotations.beingDeleted]: "yes" } },
  });
});

const adopted = { source: { snapshotHandle: "s-9" }, volumeSnapshotRef: { namespace: "team", name: "monday" } };
const adopting = (volumeSnapshotClassName: string) =>
  aSnapshot({
    metadata: { finalizers: both },
    spec: { source: { volumeSnapshotContentName: "old" }, volumeSnapshotClassName },
  });

test("a terminating pre-provisioned content gets its snapshot reference and no new finalizer, which the server would reject", () => {
  const content = aContent({ metadata: { name: "old", deletionTimestamp, finalizers: ["x/theirs"] }, spec: adopted });
  const [bind] = planSnapshot(aView({ snapshot: adopting("fast"), content })).actions;
  assert.deepEqual(bodyOf(bind), {
    metadata: { resourceVersion: "1" },
    spec: { volumeSnapshotRef: { uid: "uid-snap" } },
  });
});

test("a pre-provisioned content keeps its own class name", () => {
  const content = aContent({ metadata: { name: "old" }, spec: { ...adopted, volumeSnapshotClassName: "its-own" } });
  const [bind] = planSnapshot(aView({ snapshot: adopting("another"), content })).actions;
  assert.deepEqual((bodyOf(bind) as { spec: unknown }).spec, { volumeSnapshotRef: { uid: "uid-snap" } });
});

const said = { snapshotHandle: "s-1", creationTime: 1_767_225_999_000_000_000n, restoreSize: 2_147_483_648n };
const statusOf = (
  status: NonNullable<SnapshotFacts["snapshot"]["status"]>,
  content: SnapshotFacts["content"],
): unknown => {
  const snapshot = aSnapshot({ metadata: { finalizers: both }, status });
  const [write] = planSnapshot(aView({ snapshot, content })).actions;
  return write === undefined ? "nothing" : (bodyOf(write) as { status: unknown }).status;
};
const reported = { boundVolumeSnapshotContentName: "snapcontent-uid-snap", readyToUse: false };

test("creation time and size of a snapshot stay once they are written", () =>
  assert.deepEqual(
    statusOf(
      { ...reported, creationTime: "2026-01-01T00:00:01Z", restoreSize: "1Gi" },
      aContent({ status: { ...said, readyToUse: true } }),
    ),
    { readyToUse: true },
  ));

test("a size of zero is unknown, and the size is written once it is known", () =>
  assert.deepEqual(
    statusOf(
      { ...reported, creationTime: "2026-01-01T00:00:01Z", restoreSize: "0" },
      aContent({ status: { ...said, readyToUse: false } }),
    ),
    { restoreSize: "2Gi" },
  ));

test("a ready content without a handle does not make its snapshot ready", () =>
  assert.equal(statusOf(reported, aContent({ status: { readyToUse: true } })), "nothing"));

const lost = { [annotations.contentLost]: "uid-snap" };
const withoutContent = (metadata: object, status: object) =>
  planSnapshot(aView({ snapshot: aSnapshot({ metadata: { finalizers: both, ...metadata }, status }) })).actions;

test("a snapshot that was reported as lost stays lost, and no content is created for it", () => {
  for (const message of ["VolumeSnapshotContent is missing: it was removed", "another error since", undefined]) {
    const error = message === undefined ? {} : { error: { message, time: "then" } };
    const actions = withoutContent({ annotations: lost }, { readyToUse: false, ...error });
    assert.ok(!actions.some(({ kind }) => kind === "create"), message);
  }
});

test("a lost snapshot without a creation time is annotated as lost before its readiness is withdrawn", () => {
  assert.deepEqual(
    withoutContent({}, { readyToUse: true }).map((action) => [action.kind, "patch" in action && action.patch.body]),
    [
      ["confirm", false],
      ["patch", { metadata: { resourceVersion: "1", annotations: lost } }],
    ],
  );
  const noted = withoutContent({ annotations: lost }, { readyToUse: true });
  assert.deepEqual(
    noted.map((action) => action.kind),
    ["confirm", "patch", "event"],
  );
});

test("neither an error message nor another snapshot's annotation makes a snapshot lost: its content is created", () => {
  const error = { message: "VolumeSnapshotContent is missing: says an error that somebody wrote", time: "then" };
  for (const metadata of [{}, { annotations: { [annotations.contentLost]: "uid-of-the-one-in-the-backup" } }]) {
    const actions = withoutContent(metadata, { readyToUse: false, error });
    assert.ok(actions.some(({ kind }) => kind === "create"));
  }
});
