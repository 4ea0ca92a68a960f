import assert from "node:assert/strict";
import { test } from "node:test";
import { type CrdPhase, snapshotCrd } from "../../api/crds/index.ts";
import {
  type Crd,
  definitionOf,
  inPhase,
  type MigrationRecord,
  recordAnnotation,
  recordIn,
  withRecord,
} from "./definition.ts";

const kind = "VolumeSnapshot";
const inStore = (phase: CrdPhase, more: object = {}): Crd => {
  const { metadata, ...rest } = snapshotCrd(kind, phase) as unknown as Crd;
  return { ...rest, metadata: { ...metadata, generation: 4 }, ...more } as Crd;
};
const record: MigrationRecord = {
  goal: 3,
  back: false,
  serveV1beta1: false,
  run: "r",
  startedAt: "2026-01-01T00:00:00Z",
  step: "apply",
  rewrite: { version: "v1", after: "7", generation: 4, done: true },
};

for (const [phase, storage, versions, served] of [
  [1, "v1beta1", ["v1beta1"], ["v1beta1"]],
  [2, "v1beta1", ["v1", "v1beta1"], ["v1"]],
  [3, "v1", ["v1", "v1beta1"], ["v1"]],
] as const)
  test(`phase ${phase} is known by what is stored and listed`, () => {
    const found = definitionOf(kind, inStore(phase, { status: { storedVersions: [storage] } }));
    assert.deepEqual(
      [found.kind, found.phase, found.storage, found.versions, found.served, found.storedVersions],
      [kind, phase, storage, versions, served, [storage]],
    );
    for (const other of [1, 2, 3] as const) assert.equal(found.isAsIn(other, {}), other === phase);
    assert.equal(found.isAsIn(2, { serveV1beta1: true }), false);
  });

test("a CRD that is not there has no phase", () => {
  const { phase, storage, versions, storedVersions, record: none, rewrite } = definitionOf(kind, undefined);
  assert.deepEqual(
    [phase, storage, versions, storedVersions, none, rewrite],
    [undefined, undefined, [], [], undefined, undefined],
  );
});

test("a record is read as it was written, and what nobody can read is as good as none", () => {
  assert.deepEqual(recordIn(withRecord(inStore(3), record)), record);
  assert.equal(recordIn(inStore(3)), undefined);
  for (const text of ["", "[]", "{", '"any"', "null"]) {
    const metadata = { name: "any", annotations: { [recordAnnotation]: text } };
    assert.equal(recordIn(inStore(3, { metadata })), undefined, text);
  }
});

const counts = (more: Partial<MigrationRecord>, generation = 4): boolean => {
  const crd = withRecord(inStore(3), { ...record, ...more });
  return definitionOf(kind, { ...crd, metadata: { ...crd.metadata, generation } } as Crd).rewrite !== undefined;
};
test("a recorded rewrite counts for the same version and spec, until the run has finished", () => {
  assert.equal(counts({}), true);
  assert.equal(counts({ step: "finished" }), false);
  assert.equal(counts({}, 5), false);
  assert.equal(counts({ rewrite: { version: "v1beta1", after: "7", generation: 4, done: true } }), false);
  assert.equal(counts({ rewrite: undefined }), false);
});

test("another phase changes the spec alone: labels and annotations of others stay", () => {
  const metadata = { name: "any", labels: { mine: "yes" }, annotations: { mine: "yes" } };
  const moved = inPhase(inStore(1, { metadata }), kind, 3, {});
  assert.deepEqual(moved.spec, snapshotCrd(kind, 3).spec);
  assert.deepEqual(moved.metadata.labels, { mine: "yes" });
  assert.equal(moved.metadata.annotations?.mine, "yes");
  assert.ok("api-approved.kubernetes.io" in (moved.metadata.annotations ?? {}));
});
