import assert from "node:assert/strict";
import { test } from "node:test";
import { planIn } from "../../../test/install-cluster.ts";
import { type CrdPhase, snapshotCrd } from "../../api/crds/index.ts";
import type { ManifestObject } from "../../api/manifests/component.ts";
import { versionAnnotation } from "../../api/manifests/objects.ts";
import type { JsonObject } from "../../base/json.ts";
import { type MigrationRecord, recordAnnotation } from "../migrate/definition.ts";
import { isLater, judgeCrd } from "./crd-age.ts";
import { phaseProblem } from "./crd-phase.ts";

const [crd] = planIn("one", "snapshot-controller").crds as [ManifestObject];
const [share] = planIn("one", "shared-resource").crds as [ManifestObject];

const annotated = (version: string, of = crd): JsonObject => ({
  ...(of as unknown as JsonObject),
  metadata: { name: of.metadata.name, annotations: { [versionAnnotation]: version } },
});
const ofOthers = (...names: readonly string[]): JsonObject => ({
  metadata: {},
  spec: { versions: names.map((name) => ({ name, storage: name === "v1" })) },
});
const verdicts: readonly (readonly [string, JsonObject | undefined, string])[] = [
  ["none", undefined, "apply"],
  ["one of this release", annotated("1.2.3"), "apply"],
  ["one of an older release", annotated("0.9.0"), "apply"],
  ["one of a newer release", annotated("1.2.4"), "refuse"],
  ["one of another maker", ofOthers("v1"), "keep"],
  ["one of another maker with an unknown version", ofOthers("v1", "v2"), "refuse"],
  ["one of another maker without versions", { metadata: {} }, "keep"],
];
for (const [given, stored, verdict] of verdicts)
  test(`given ${given}, then the definition is judged: ${verdict}`, () => {
    assert.equal(judgeCrd(stored, crd).kind, verdict);
  });

test("a refusal says why", () => {
  const why = (stored: JsonObject) => {
    const verdict = judgeCrd(stored, crd);
    return verdict.kind === "refuse" ? verdict.why : "";
  };
  assert.equal(why(annotated("1.3.0")), "it was installed by snapkeep 1.3.0, which is newer than 1.2.3");
  assert.equal(why(ofOthers("v1", "v2")), "it has version v2, which this release does not know");
});

test("definitions of other groups have no phases", () => {
  assert.equal(judgeCrd(annotated("1.2.3", share), share).kind, "apply");
  assert.equal(judgeCrd(annotated("1.2.4", share), share).kind, "refuse");
});

/** The definition of a phase with what a migration has stored on it. */
const inPhase = (phase: CrdPhase, storedVersions: readonly string[], record?: Partial<MigrationRecord>): JsonObject => {
  const run = { serveV1beta1: false, run: "r", startedAt: "2026-01-01T00:00:00Z" };
  const annotations = record === undefined ? {} : { [recordAnnotation]: JSON.stringify({ ...run, ...record }) };
  const { metadata, ...definition } = snapshotCrd("VolumeSnapshot", phase);
  return {
    ...(definition as unknown as JsonObject),
    metadata: { ...metadata, annotations: { [versionAnnotation]: "1.2.3", ...annotations } } as unknown as JsonObject,
    status: { storedVersions: [...storedVersions] },
  };
};

const phases: readonly { given: string; stored: JsonObject; why: string; next: string }[] = [
  {
    given: "phase 1",
    stored: inPhase(1, ["v1beta1"]),
    why: "it is in phase 1: objects are stored as v1beta1",
    next: "snapkeep migrate --to-phase=3",
  },
  {
    given: "phase 2",
    stored: inPhase(2, ["v1beta1"]),
    why: "it is in phase 2: objects are stored as v1beta1",
    next: "snapkeep migrate --to-phase=3",
  },
  {
    given: "phase 2 over phase 3, by kubectl",
    stored: inPhase(2, ["v1", "v1beta1"]),
    why: "it is in phase 2: objects are stored as v1beta1",
    next: "snapkeep migrate --to-phase=3",
  },
  {
    given: "phase 3, not rewritten",
    stored: inPhase(3, ["v1beta1", "v1"]),
    why: "it is in phase 3, and status.storedVersions still has v1beta1: objects may be stored in it",
    next: "snapkeep migrate --to-phase=3",
  },
  {
    given: "phase 3 at the beginning of a rollback",
    stored: inPhase(3, ["v1"], { goal: 2, back: true, step: "begun" }),
    why: "a rollback to phase 2 has not ended",
    next: "snapkeep migrate --rollback --to-phase=2",
  },
  {
    given: "phase 2 in a migration",
    stored: inPhase(2, ["v1beta1"], { goal: 2, back: false, step: "apply" }),
    why: "a migration to phase 2 has not ended",
    next: "snapkeep migrate --to-phase=2",
  },
  {
    given: "phase 3 with the record of a migration to phase 2",
    stored: inPhase(3, ["v1beta1", "v1"], { goal: 2, back: false, step: "apply" }),
    why: "it is in phase 3, and status.storedVersions still has v1beta1: objects may be stored in it",
    next: "snapkeep migrate --to-phase=3",
  },
];
for (const { given, stored, why, next } of phases)
  test(`a definition in ${given} is not replaced, and the migrate command is named`, () => {
    assert.deepEqual(judgeCrd(stored, crd), { kind: "migrate", why, next });
  });

test("a definition in phase 3 whose migration has ended is renewed", () => {
  assert.equal(judgeCrd(inPhase(3, ["v1"]), crd).kind, "apply");
  assert.equal(judgeCrd(inPhase(3, ["v1"], { goal: 3, back: false, step: "finished" }), crd).kind, "apply");
  assert.equal(judgeCrd(inPhase(3, ["v1"], { goal: 2, back: true, step: "finished" }), crd).kind, "apply", "stale");
  assert.equal(phaseProblem("VolumeSnapshot", inPhase(3, ["v1"])), undefined);
});

for (const [one, other, expected] of [
  ["0.10.0", "0.9.9", true],
  ["0.9.9", "0.10.0", false],
  ["1.0.0", "1.0.0", false],
  ["1.0.1", "1.0.0", true],
  ["1.0.0", "1.0.1", false],
  ["2.0.0", "1.9.9", true],
  ["1.0.0", "1.0.0-rc.1", true],
  ["1.0.0-rc.1", "1.0.0", false],
  ["1.0.0-rc.1", "1.0.0-rc.2", false],
  ["1.0", "1.0.0", false],
  ["1.1", "1.0.9", true],
] as const)
  test(`${one} is ${expected ? "" : "not "}later than ${other}`, () => assert.equal(isLater(one, other), expected));
