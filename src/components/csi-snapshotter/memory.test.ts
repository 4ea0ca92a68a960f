import assert from "node:assert/strict";
import { test } from "node:test";
import { aContent } from "../../../test/builders.ts";
import { createVirtualWorld } from "../../../test/virtual-world.ts";
import { annotations } from "../../api/names.ts";
import { Fault } from "../../base/fault.ts";
import type { CsiReply } from "../../runtime/reply-cache.ts";
import { createMemory, type Goal } from "./memory.ts";
import type { SnapshotAnswer } from "./reply.ts";

type Reply = CsiReply<SnapshotAnswer>;
const refused: Reply = { kind: "failed", fault: new Fault("FailedPrecondition", "no") };
const unreached: Reply = { kind: "failed", fault: new Fault("Unavailable", "nobody there") };
const unsent: Reply = { kind: "unsent", fault: new Fault("NotFound", "no secret") };
const taken = (ready: boolean): Reply => ({
  kind: "taken",
  snapshot: { handle: "s-1", ready, creationTimeNs: 1n, sizeBytes: 1n, oddities: [] },
});

const backoff = { startMs: 1_000, maxMs: 300_000 };
const poll = { startMs: 100, maxMs: 30_000 };
function setUp() {
  const world = createVirtualWorld();
  return { world, ...createMemory({ world, backoff, poll, sidecarId: "our-id" }) };
}

const beingCreated = { annotations: { [annotations.beingCreated]: "yes" } };
const cases: readonly [given: string, metadata: object, reply: Reply, ageMs: number, counts: string][] = [
  ["a recent final error", beingCreated, refused, 0, "failed"],
  ["an old final error without the being-created annotation", {}, refused, 2_000, "none"],
  ["an old final error with the being-created annotation", beingCreated, refused, 2_000, "failed"],
  ["an old fault with an unknown outcome", beingCreated, unreached, 2_000, "none"],
];
for (const [given, metadata, reply, ageMs, counts] of cases)
  test(`given ${given}, the reply that counts is: ${counts}`, async () => {
    const { world, replies, about } = setUp();
    const content = aContent({ metadata });
    replies.put(content, reply);
    await world.advance(ageMs);
    assert.equal(about(content).reply.kind, counts);
  });

test("a rejected deletion of a ready content is retried, even with a leftover being-created annotation", async () => {
  const { world, replies, about } = setUp();
  const content = aContent({ metadata: beingCreated, status: { readyToUse: true, snapshotHandle: "s-1" } });
  replies.put(content, refused);
  await world.advance(2_000);
  assert.equal(about(content).reply.kind, "none");
});

const deletionTimestamp = "2026-01-01T01:00:00Z";
const confirmed = { deletionTimestamp, annotations: { [annotations.beingDeleted]: "yes" } };
/** Metadata of a content for which a call has this goal. */
const during: Readonly<Record<Goal, object>> = { snapshot: {}, outcome: { deletionTimestamp }, removal: confirmed };

const goals: readonly [given: string, metadata: object, goal: Goal, reply: Reply, counts: string][] = [
  ["an error of CreateSnapshot for a wanted snapshot", {}, "snapshot", unreached, "failed"],
  [
    "an error of CreateSnapshot, now that the content is terminating",
    { deletionTimestamp },
    "snapshot",
    unreached,
    "none",
  ],
  ["a final error before the deletion was confirmed", confirmed, "snapshot", refused, "none"],
  ["an unreadable secret before the deletion was confirmed", confirmed, "outcome", unsent, "none"],
  ["an error of DeleteSnapshot", confirmed, "removal", refused, "failed"],
  [
    "a final error with the being-created annotation, now that the content is terminating",
    { ...beingCreated, deletionTimestamp },
    "snapshot",
    refused,
    "failed",
  ],
];
for (const [given, metadata, goal, reply, counts] of goals)
  test(`given ${given}, the recent reply that counts is: ${counts}`, () => {
    const { replies, about } = setUp();
    replies.put(aContent({ metadata: during[goal] }), reply);
    assert.equal(about(aContent({ metadata })).reply.kind, counts);
  });

test("malformed replies and attempts count for the goal of their calls", () => {
  const { replies, about } = setUp();
  const malformed: Reply = { kind: "failed", fault: new Fault("MalformedReply", "???") };
  for (let count = 0; count < 4; count++) replies.put(aContent({ metadata: during.outcome }), malformed);
  assert.deepEqual(
    (["snapshot", "outcome", "removal"] as const)
      .map((goal) => about(aContent({ metadata: during[goal] })))
      .map(({ malformedReplies, isFirstAttempt }) => [malformedReplies, isFirstAttempt]),
    [
      [0, true],
      [4, false],
      [0, true],
    ],
  );
});

const validities: readonly [
  given: string,
  snapshotHandle: string | undefined,
  reply: Reply,
  [from: number, to: number],
][] = [
  ["a ready snapshot counts for good", "s-1", taken(true), [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]],
  ["a deletion counts for good", "s-1", { kind: "deleted" }, [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]],
  ["a snapshot that is not ready counts until the next poll", undefined, taken(false), [50, 100]],
  ["a reply with another handle counts until the next retry", "s-before", taken(true), [500, 1_000]],
];
for (const [given, snapshotHandle, reply, [from, to]] of validities)
  test(given, () => {
    const { replies, about } = setUp();
    const content = aContent(snapshotHandle === undefined ? {} : { status: { snapshotHandle, readyToUse: false } });
    replies.put(content, reply);
    const { replyLeftMs } = about(content);
    assert.ok(replyLeftMs >= from && replyLeftMs <= to, `${replyLeftMs} ms`);
  });

test("a content that is gone leaves no reply", () => {
  const { replies, about, forget } = setUp();
  replies.put(aContent(), refused);
  forget(aContent());
  assert.deepEqual([replies.size, about(aContent()).reply.kind], [0, "none"]);
});

test("the memory of a content contains its create attempt", () => {
  const { attempts, about } = setUp();
  attempts.willCreate(aContent());
  attempts.willRemoveAnnotation(aContent());
  assert.deepEqual(about(aContent()).attempt, { sidecarId: "our-id", createSent: "sent", isRemovalPending: true });
});

test("reading the memory changes nothing", () => {
  const { replies, about } = setUp();
  replies.put(aContent(), refused);
  const contents = [aContent(), aContent({ metadata: { uid: "unknown" } }), aContent({ metadata: confirmed })];
  const before = contents.map(about);
  assert.deepEqual([contents.map(about), replies.size], [before, 1]);
});
