import assert from "node:assert/strict";
import { test } from "node:test";
import { type CrdOptions, type CrdPhase, snapshotCrd } from "../../api/crds/index.ts";
import { type Crd, definitionOf, recordAnnotation } from "./definition.ts";
import { oldWritesSince } from "./judge-stored.ts";

const kind = "VolumeSnapshot";
const [nowMs, hourMs] = [Date.parse("2026-01-01T12:00:00Z"), 3_600_000];

function stored(phase: CrdPhase, options: CrdOptions = {}, bothServedSince?: string) {
  const crd = snapshotCrd(kind, phase, options) as unknown as Crd;
  const run = { goal: 3, back: false, serveV1beta1: false, run: "r", startedAt: "", step: "apply" };
  const annotations = { [recordAnnotation]: JSON.stringify({ ...run, bothServedSince }) };
  const marked = { ...crd, metadata: { ...crd.metadata, annotations } } as Crd;
  return { crd: marked, definition: definitionOf(kind, marked) };
}
const both = (since?: string) => stored(2, { serveV1beta1: true }, since);
const since = (installed: Parameters<typeof oldWritesSince>[0], serveV1beta1 = false, windowMs = hourMs) =>
  oldWritesSince(installed, { phase: 2, back: false, serveV1beta1 }, windowMs, nowMs);

test("writes in v1beta1 count while it is served beside v1, for the window", () => {
  assert.equal(since([both()]), nowMs - hourMs);
  assert.equal(since([both()], false, 0), Number.POSITIVE_INFINITY);
  assert.equal(since([both()], true), Number.POSITIVE_INFINITY, "it stays served");
  for (const phase of [1, 2, 3] as const) assert.equal(since([stored(phase)]), Number.POSITIVE_INFINITY);
});

test("writes from before v1 was served do not count, in whole seconds", () => {
  assert.equal(since([both("2026-01-01T11:50:00.900Z")]), Date.parse("2026-01-01T11:50:00Z"));
  assert.equal(since([both("2026-01-01T01:00:00Z")]), nowMs - hourMs, "the window is shorter");
  const earlier = "2026-01-01T11:40:00Z";
  assert.equal(since([both("2026-01-01T11:50:00Z"), both(earlier)]), Date.parse(earlier));
  for (const unknown of [undefined, "yesterday"])
    assert.equal(since([both("2026-01-01T11:50:00Z"), both(unknown)]), nowMs - hourMs);
});
