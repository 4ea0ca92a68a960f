import assert from "node:assert/strict";
import { test } from "node:test";
import type { MigrationRecord } from "./definition.ts";
import { commandTo, isStale, latestUnfinished, unfinishedOf } from "./unfinished.ts";

type Seen = Parameters<typeof unfinishedOf>[0][number];

const recordOf = (more: Partial<MigrationRecord>): MigrationRecord => ({
  goal: 2,
  back: false,
  serveV1beta1: false,
  run: "r",
  startedAt: "2026-01-01T00:00:00Z",
  step: "apply",
  ...more,
});
const seen = (phase: Seen["phase"], more: Partial<Seen> = {}): Seen => {
  const storage = phase === undefined ? undefined : phase === 3 ? "v1" : "v1beta1";
  return { phase, storage, storedVersions: storage === undefined ? [] : [storage], record: undefined, ...more };
};
const both = ["v1beta1", "v1"];
const stored = (version: string): string => `status.storedVersions still has ${version}: objects may be stored in it`;
const different = "the CRDs are in different phases, or some are missing";

const cases: readonly { given: string; crds: readonly Seen[]; why?: string; next?: string; isRecorded?: true }[] = [
  { given: "no CRDs", crds: [seen(undefined), seen(undefined)] },
  { given: "phase 1", crds: [seen(1), seen(1)] },
  { given: "phase 3", crds: [seen(3), seen(3)] },
  {
    given: "phase 3 by kubectl",
    crds: [seen(3), seen(3, { storedVersions: both })],
    why: stored("v1beta1"),
    next: "snapkeep migrate --to-phase=3",
  },
  {
    given: "phase 2 by kubectl",
    crds: [seen(2, { storedVersions: both })],
    why: stored("v1"),
    next: "snapkeep migrate --to-phase=2",
  },
  { given: "different phases", crds: [seen(1), seen(2)], why: different, next: "snapkeep migrate --to-phase=2" },
  { given: "a missing CRD", crds: [seen(3), seen(undefined)], why: different, next: "snapkeep migrate --to-phase=3" },
  { given: "a finished migration", crds: [seen(2, { record: recordOf({ step: "finished" }) })] },
  {
    given: "an interrupted migration",
    crds: [seen(1, { record: recordOf({}) }), seen(2)],
    why: "a migration to phase 2 has not ended",
    next: "snapkeep migrate --to-phase=2",
    isRecorded: true,
  },
  {
    given: "an interrupted rollback",
    crds: [seen(2, { record: recordOf({ goal: 1, back: true }) })],
    why: "a rollback to phase 1 has not ended",
    next: "snapkeep migrate --rollback --to-phase=1",
    isRecorded: true,
  },
  {
    given: "a migration for old clients",
    crds: [seen(1, { record: recordOf({ serveV1beta1: true }) })],
    why: "a migration to phase 2 has not ended",
    next: "snapkeep migrate --to-phase=2 --serve-v1beta1",
    isRecorded: true,
  },
  {
    given: "a migration that something else has overtaken",
    crds: [seen(3, { record: recordOf({}), storedVersions: both })],
    why: stored("v1beta1"),
    next: "snapkeep migrate --to-phase=3",
  },
];
for (const { given, crds, why, next, isRecorded = false } of cases)
  test(`given ${given}, then ${next ?? "nothing is left to do"}`, () => {
    const found = unfinishedOf(crds);
    assert.deepEqual(
      found && [found.why, found.next, found.isRecorded],
      why === undefined ? undefined : [why, next, isRecorded],
    );
  });

test("of several records the latest that has not ended counts", () => {
  const crds = [
    seen(2, { record: recordOf({ goal: 2, startedAt: "2026-01-01T00:00:00Z", run: "first" }) }),
    seen(2, { record: recordOf({ goal: 3, startedAt: "2026-01-03T00:00:00Z", run: "last", step: "finished" }) }),
    seen(2, { record: recordOf({ goal: 3, startedAt: "2026-01-02T00:00:00Z", run: "second" }) }),
  ];
  assert.equal(latestUnfinished(crds)?.run, "second");
  assert.equal(latestUnfinished(crds.toReversed())?.run, "second");
});

for (const [phase, record, expected] of [
  [undefined, recordOf({}), false],
  [2, undefined, false],
  [2, recordOf({ step: "finished" }), false],
  [3, recordOf({ step: "finished" }), true],
  [1, recordOf({ step: "finished" }), true],
  [1, recordOf({}), false],
  [2, recordOf({}), false],
  [3, recordOf({}), true],
  [3, recordOf({ back: true }), false],
  [2, recordOf({ back: true }), false],
  [1, recordOf({ back: true }), true],
] as const)
  test(`a record of phase ${record?.goal}${record?.back === true ? ", back" : ""}, ${record?.step}, ${expected ? "does not fit" : "fits"} phase ${phase}`, () =>
    assert.equal(isStale({ phase, record }), expected));

test("a rollback serves no old clients, and other phases neither", () => {
  assert.equal(commandTo({ phase: 2, back: true, serveV1beta1: true }), "snapkeep migrate --rollback --to-phase=2");
  assert.equal(commandTo({ phase: 3, back: false, serveV1beta1: true }), "snapkeep migrate --to-phase=3");
  assert.equal(
    commandTo({ phase: 2, back: false, serveV1beta1: true }),
    "snapkeep migrate --to-phase=2 --serve-v1beta1",
  );
});
