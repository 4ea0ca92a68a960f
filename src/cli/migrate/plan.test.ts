import assert from "node:assert/strict";
import { test } from "node:test";
import { type CrdOptions, type CrdPhase, snapshotCrd } from "../../api/crds/index.ts";
import { type Crd, definitionOf, type Goal, recordAnnotation } from "./definition.ts";
import { planOf } from "./plan.ts";
import { rollbackGoal, statusOf } from "./status.ts";

const kind = "VolumeSnapshot";

interface Stored extends CrdOptions {
  readonly phase: CrdPhase;
  readonly storedVersions?: readonly string[];
  readonly record?: object;
}

function stored({ phase, storedVersions = [phase === 3 ? "v1" : "v1beta1"], record, ...options }: Stored) {
  const crd = snapshotCrd(kind, phase, options) as unknown as Crd;
  const annotations = record === undefined ? {} : { [recordAnnotation]: JSON.stringify(record) };
  const metadata = { ...crd.metadata, generation: 1, annotations };
  return definitionOf(kind, { ...crd, metadata, status: { storedVersions } } as unknown as Crd);
}

const both = ["v1beta1", "v1"];
const begun = { goal: 3, back: false, run: "r", startedAt: "", serveV1beta1: false, step: "apply" };
const rewritten = { version: "v1", after: "5", generation: 1, done: true };

const rows: readonly (readonly [string, Stored | undefined, Partial<Goal> & { phase: CrdPhase }, string])[] = [
  ["nothing installed", undefined, { phase: 3 }, "apply 3, finish"],
  ["phase 1", { phase: 1 }, { phase: 1 }, ""],
  ["phase 1 to 2", { phase: 1 }, { phase: 2 }, "apply 2, finish"],
  ["phase 1 to 2 for old clients", { phase: 1 }, { phase: 2, serveV1beta1: true }, "apply 2 served, finish"],
  ["old clients are gone", { phase: 2, serveV1beta1: true }, { phase: 2 }, "apply 2, finish"],
  ["phase 1 to 3", { phase: 1 }, { phase: 3 }, "apply 2, apply 3, rewrite v1, prune v1, finish"],
  ["phase 2 to 3", { phase: 2 }, { phase: 3 }, "apply 3, rewrite v1, prune v1, finish"],
  ["both stored", { phase: 3, storedVersions: both }, { phase: 3 }, "rewrite v1, prune v1, finish"],
  ["phase 3 to 2", { phase: 3 }, { phase: 2, back: true }, "apply 2, rewrite v1beta1, prune v1beta1, finish"],
  ["phase 2 to 1", { phase: 2 }, { phase: 1, back: true }, "apply 1, finish"],
  [
    "phase 2 to 1 while v1 is still stored",
    { phase: 2, storedVersions: both },
    { phase: 1, back: true },
    "rewrite v1beta1, prune v1beta1, apply 1, finish",
  ],
  [
    "killed before the rewrite was done",
    { phase: 3, storedVersions: both, record: { ...begun, rewrite: { ...rewritten, done: false } } },
    { phase: 3 },
    "rewrite v1, prune v1, finish",
  ],
  [
    "killed after the rewrite",
    { phase: 3, storedVersions: both, record: { ...begun, step: "rewrite", rewrite: rewritten } },
    { phase: 3 },
    "prune v1, finish",
  ],
  [
    "somebody changed the CRD after the rewrite",
    { phase: 3, storedVersions: both, record: { ...begun, rewrite: { ...rewritten, generation: 7 } } },
    { phase: 3 },
    "rewrite v1, prune v1, finish",
  ],
  [
    "the rewrite was to another version",
    { phase: 2, storedVersions: both, record: { ...begun, rewrite: rewritten } },
    { phase: 2, back: true },
    "rewrite v1beta1, prune v1beta1, finish",
  ],
  ["killed before the end was recorded", { phase: 3, record: { ...begun, step: "prune" } }, { phase: 3 }, "finish"],
  ["an unreadable record", { phase: 2, record: [] }, { phase: 2 }, ""],
];

for (const [name, from, goal, expected] of rows)
  test(`${name}: ${expected === "" ? "nothing to do" : expected}`, () => {
    const definition = from === undefined ? definitionOf(kind, undefined) : stored(from);
    const steps = planOf([definition], { back: false, ...goal }).map((step) =>
      step.step === "apply"
        ? `apply ${step.phase}${step.serveV1beta1 ? " served" : ""}`
        : "version" in step
          ? `${step.step} ${step.version}`
          : step.step,
    );
    assert.equal(steps.join(", "), expected);
  });

/** Whoever may update CRDs may write any of these. */
const forged: readonly (readonly [string, unknown])[] = [
  ["a phase that there is not", { ...begun, goal: 99, back: true }],
  ["a step that there is not", { ...begun, step: "rewrite everything" }],
  ["a rewrite that is only said to be done", { ...begun, rewrite: "done" }],
  ["a rewrite of no version", { ...begun, rewrite: { ...rewritten, version: "v2" } }],
  ["a rewrite up to a number", { ...begun, rewrite: { ...rewritten, after: 10 ** 9 } }],
  ["a rewrite of another generation", { ...begun, rewrite: { ...rewritten, generation: 2 } }],
  ["a run that is no text", { ...begun, run: { name: "r" } }],
  ["nothing that a run writes", { goal: 3 }],
];
for (const [name, record] of forged)
  test(`a forged record with ${name} directs nothing: objects are rewritten, and a rollback goes one phase back`, () => {
    const definition = stored({ phase: 3, storedVersions: both, record: record as object });
    const steps = planOf([definition], { phase: 3, back: false }).map(({ step }) => step);
    assert.deepEqual(steps, ["rewrite", "prune", "finish"]);
    const installed = [{ crd: {} as Crd, definition }];
    assert.deepEqual(rollbackGoal(installed), { phase: 2, back: true });
    assert.equal(statusOf(installed).phase, 3);
  });

test("the CRD that is farthest from the goal goes first", () => {
  const definitions = [stored({ phase: 3 }), { ...stored({ phase: 1 }), kind: "VolumeSnapshotContent" as const }];
  const steps = planOf(definitions, { phase: 3, back: false });
  assert.deepEqual([...new Set(steps.map((step) => step.kind))], ["VolumeSnapshotContent"]);
  const behind = [stored({ phase: 1 }), { ...stored({ phase: 2 }), kind: "VolumeSnapshotContent" as const }];
  assert.deepEqual(
    planOf(behind, { phase: 2, back: false }).map(({ step, kind }) => `${step} ${kind}`),
    ["apply VolumeSnapshot", "finish VolumeSnapshot"],
  );
});
