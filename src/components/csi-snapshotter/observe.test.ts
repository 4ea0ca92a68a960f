import assert from "node:assert/strict";
import { test } from "node:test";
import { aContent, driver } from "../../../test/builders.ts";
import { annotations } from "../../api/names.ts";
import type { VolumeSnapshotContent } from "../../api/types.ts";
import { keyIn, type Millis } from "../../base/brand.ts";
import { Fault } from "../../base/fault.ts";
import { type CachedSnapshotReply, type ContentView, type Goal, observe, type Reply, validityOf } from "./observe.ts";

const marked = { annotations: { [annotations.beingCreated]: "yes" } };
const refused: CachedSnapshotReply["reply"] = { kind: "failed", fault: new Fault("FailedPrecondition", "no") };
const unreached: CachedSnapshotReply["reply"] = { kind: "failed", fault: new Fault("Unavailable", "nobody there") };

const unsent: CachedSnapshotReply["reply"] = { kind: "unsent", fault: new Fault("NotFound", "no secret") };

const aSlot = (change: Partial<CachedSnapshotReply>): CachedSnapshotReply => ({
  reply: refused,
  goal: "snapshot",
  malformedReplies: 0,
  receivedAtMs: 0,
  expiresAtMs: 300_000,
  ...change,
});

const observed = (
  content: VolumeSnapshotContent,
  slot: CachedSnapshotReply | undefined,
  elapsedMs: Millis,
  lastReplyAtMs: Millis = 0,
): ContentView | undefined =>
  observe(
    {
      stores: { VolumeSnapshotContent: { get: () => content }, VolumeSnapshotClass: { get: () => undefined } },
      replies: new Map(slot === undefined ? [] : [[content.metadata.uid, slot]]),
      attempts: { name: "our-term", asked: () => "perhaps", isAnnotationRemovalPending: () => true },
      facts: { driver, canListSnapshots: true },
      options: { snapshotNamePrefix: "snapshot", snapshotNameUuidLength: -1, extraCreateMetadata: false },
    },
    keyIn(undefined, content.metadata.name),
    { nowMs: 0, elapsedMs, lastReplyAtMs },
  );

const cases: readonly {
  given: string;
  isMarked: boolean;
  reply: CachedSnapshotReply["reply"];
  ageMs: number;
  counts: Reply["kind"];
}[] = [
  { given: "a recent final error", isMarked: true, reply: refused, ageMs: 0, counts: "failed" },
  {
    given: "an old final error without the being-created annotation",
    isMarked: false,
    reply: refused,
    ageMs: 2_000,
    counts: "none",
  },
  {
    given: "an old final error with the being-created annotation",
    isMarked: true,
    reply: refused,
    ageMs: 2_000,
    counts: "failed",
  },
  {
    given: "an old fault with an unknown outcome",
    isMarked: true,
    reply: unreached,
    ageMs: 2_000,
    counts: "none",
  },
];
for (const { given, isMarked, reply, ageMs, counts } of cases)
  test(`given ${given}, the reply that counts is: ${counts}`, () => {
    const content = aContent(isMarked ? { metadata: marked } : {});
    const view = observed(content, aSlot({ reply, expiresAtMs: 1_000 }), ageMs);
    assert.equal(view?.reply.kind, counts);
  });

test("a rejected deletion of a ready content is retried, even with a leftover being-created annotation", () => {
  const content = aContent({ metadata: marked, status: { readyToUse: true, snapshotHandle: "s-1" } });
  const view = observed(content, aSlot({ reply: refused, expiresAtMs: 1_000 }), 2_000);
  assert.equal(view?.reply.kind, "none");
});

const deletionTimestamp = "2026-01-01T01:00:00Z";
const letGo = { deletionTimestamp, annotations: { [annotations.beingDeleted]: "yes" } };
const goals: readonly [
  given: string,
  metadata: object,
  goal: Goal,
  reply: CachedSnapshotReply["reply"],
  counts: Reply["kind"],
][] = [
  ["trouble with what is still wanted", {}, "snapshot", unreached, "failed"],
  ["trouble with a cut that nobody wants any more", { deletionTimestamp }, "snapshot", unreached, "none"],
  ["trouble with a cut or a look, now that it may be removed", letGo, "snapshot", refused, "none"],
  ["a secret that could not be read for it, now that it may be removed", letGo, "outcome", unsent, "none"],
  ["trouble with the removal itself", letGo, "removal", refused, "failed"],
  ["a refusal whose mark is still on", { ...marked, deletionTimestamp }, "snapshot", refused, "failed"],
];
for (const [given, metadata, goal, reply, counts] of goals)
  test(`given ${given}, the fresh reply that counts is: ${counts}`, () => {
    const content = aContent({ metadata });
    const view = observed(content, aSlot({ reply, goal }), 0);
    assert.equal(view?.reply.kind, counts);
  });

test("the view contains the recorded create attempts", () => {
  const { sidecarId, createSent, isAnnotationRemovalPending } = observed(aContent(), undefined, 0) ?? {};
  assert.deepEqual(
    { term: sidecarId, asked: createSent, unmarking: isAnnotationRemovalPending },
    { term: "our-term", asked: "perhaps", unmarking: true },
  );
});

test("the view has the age of this content's reply and the time since any reply", () => {
  const slot = aSlot({ reply: unreached, receivedAtMs: 1_000, expiresAtMs: 9_000 });
  const { sinceReplyMs, lullMs } = observed(aContent(), slot, 5_000, 4_000) ?? {};
  assert.deepEqual({ sinceReplyMs, lullMs }, { sinceReplyMs: 4_000, lullMs: 1_000 });
});

test("malformed replies and attempts count for the operation at that time", () => {
  const slot = aSlot({ reply: unreached, goal: "outcome", malformedReplies: 4 });
  const views = [{}, { deletionTimestamp }, letGo].map((metadata) => observed(aContent({ metadata }), slot, 0));
  assert.deepEqual(
    views.map((view) => [view?.malformedReplies, view?.isFirstAttempt]),
    [
      [0, true],
      [4, false],
      [0, true],
    ],
  );
});

const info = { handle: "s", ready: true, creationTimeNs: 1n, sizeBytes: 1n, oddities: [] };
const known = (snapshotHandle: string) => aContent({ status: { snapshotHandle, readyToUse: false } });

test("answers count for good when the snapshot is ready or deleted, until the next poll when it is not ready", () =>
  assert.deepEqual(
    [
      validityOf(known("s"), { kind: "taken", snapshot: info }),
      validityOf(known("s"), { kind: "deleted" }),
      validityOf(aContent(), { kind: "taken", snapshot: { ...info, ready: false } }),
    ],
    ["for good", "for good", "until poll"],
  ));

test("CreateSnapshot is retried, on the backoff of failures, after an answer with another handle than the known one", () =>
  assert.equal(validityOf(known("s-before"), { kind: "taken", snapshot: info }), "until retry"));
