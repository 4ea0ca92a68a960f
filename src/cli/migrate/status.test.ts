import assert from "node:assert/strict";
import { test } from "node:test";
import { type CrdPhase, snapshotCrd, snapshotKinds } from "../../api/crds/index.ts";
import { type Crd, definitionOf, type MigrationRecord, withRecord } from "./definition.ts";
import { rollbackGoal, statusOf, statusText } from "./status.ts";

const installedIn = (...phases: readonly (CrdPhase | undefined)[]) =>
  snapshotKinds.map((kind, index) => {
    const phase = phases[index % phases.length];
    const crd = phase === undefined ? undefined : (snapshotCrd(kind, phase) as unknown as Crd);
    return { crd, definition: definitionOf(kind, crd) };
  });

const begun: MigrationRecord = {
  goal: 2,
  back: true,
  serveV1beta1: false,
  run: "r",
  startedAt: "2026-01-01T00:00:00Z",
  step: "apply",
};
const recorded = (record: Partial<MigrationRecord>) =>
  installedIn(2).map(({ crd, definition: { kind } }) => {
    const marked = withRecord(crd as Crd, { ...begun, ...record });
    return { crd: marked, definition: definitionOf(kind, marked) };
  });

const lastLine = (...phases: readonly (CrdPhase | undefined)[]) =>
  statusText(statusOf(installedIn(...phases)))
    .trimEnd()
    .split("\n")
    .at(-1);

test("the status ends with where the CRDs are, and what to do if they are nowhere", () => {
  assert.equal(lastLine(2), "the CRDs are in phase 2");
  assert.match(lastLine(undefined) ?? "", /^the snapshot CRDs are not installed; snapkeep migrate --to-phase=3/);
  for (const phases of [
    [1, 2],
    [3, undefined],
  ] as const)
    assert.match(
      lastLine(...phases) ?? "",
      /^the CRDs are in different phases, or some are missing; next: snapkeep migrate --to-phase=\d$/,
    );
});

test("the status shows each CRD, what is left to do and why, and which records do not fit", () => {
  const crds = installedIn(3).map(({ crd, definition: { kind } }, index) => {
    const storedVersions = index === 0 ? ["v1beta1", "v1"] : ["v1"];
    const marked = { ...(crd as Crd), status: { storedVersions } } as Crd;
    const withOld = index === 1 ? withRecord(marked, { ...begun, back: false, step: "finished" }) : marked;
    return { crd: withOld, definition: definitionOf(kind, withOld) };
  });
  const status = statusOf(crds);
  assert.deepEqual(
    [status.phase, status.next, status.changed],
    [3, "snapkeep migrate --to-phase=3", ["volumesnapshotcontents.snapshot.storage.k8s.io"]],
  );
  assert.deepEqual(status.crds[0], {
    name: "volumesnapshots.snapshot.storage.k8s.io",
    phase: 3,
    served: ["v1"],
    storage: "v1",
    storedVersions: ["v1beta1", "v1"],
    record: undefined,
  });
  assert.deepEqual(statusText(status).split("\n"), [
    "CRD                                             PHASE  SERVED  STORAGE  STORED VERSIONS",
    "volumesnapshots.snapshot.storage.k8s.io         3      v1      v1       v1beta1,v1",
    "volumesnapshotcontents.snapshot.storage.k8s.io  3      v1      v1       v1",
    "volumesnapshotclasses.snapshot.storage.k8s.io   3      v1      v1       v1",
    "volumesnapshotcontents.snapshot.storage.k8s.io was changed by something else after the last migration",
    "left to do: rewrite the stored objects of volumesnapshots.snapshot.storage.k8s.io in v1",
    "left to do: set status.storedVersions of volumesnapshots.snapshot.storage.k8s.io to v1",
    "left to do: record on volumesnapshots.snapshot.storage.k8s.io that the migration is finished",
    "status.storedVersions still has v1beta1: objects may be stored in it; next: snapkeep migrate --to-phase=3",
    "",
  ]);
});

test("CRDs that are missing have no phase", () => {
  assert.match(statusText(statusOf(installedIn(undefined))), /^volumesnapshots\.\S+ +none$/m);
});

test("a rollback goes back one phase, or to the phase that is given", () => {
  assert.deepEqual(rollbackGoal(installedIn(3)), { phase: 2, back: true });
  assert.deepEqual(rollbackGoal(installedIn(3), 1), { phase: 1, back: true });
  assert.deepEqual(rollbackGoal(installedIn(2)), { phase: 1, back: true });
  assert.throws(() => rollbackGoal(installedIn(1)), /in phase 1; there is nothing to go back to \[SNAP-605\]$/);
});

test("a rollback that is not finished is joined, unless a phase is given; a finished one is not", () => {
  assert.deepEqual(rollbackGoal(recorded({})), { phase: 2, back: true, serveV1beta1: false });
  assert.deepEqual(rollbackGoal(recorded({}), 1), { phase: 1, back: true });
  assert.deepEqual(rollbackGoal(recorded({ step: "finished" })), { phase: 1, back: true });
  assert.deepEqual(rollbackGoal(recorded({ back: false })), { phase: 1, back: true });
});

test("a rollback installs no CRDs", () => {
  for (const given of [undefined, 1, 2] as const)
    assert.throws(() => rollbackGoal(installedIn(undefined), given), /are not installed; .*\[SNAP-605\]$/);
});
