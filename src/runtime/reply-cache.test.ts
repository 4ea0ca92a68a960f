import assert from "node:assert/strict";
import { test } from "node:test";
import { createVirtualWorld } from "../../test/virtual-world.ts";
import { Fault } from "../base/fault.ts";
import { type CsiReply, createReplyCache, observeReply, type Validity } from "./reply-cache.ts";

interface Target {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly goal: "create" | "delete";
}
interface Answer {
  readonly kind: "answered";
  readonly validity: Validity;
}
type Reply = CsiReply<Answer>;

const backoff = { startMs: 1_000, maxMs: 300_000 };
const poll = { startMs: 1_000, maxMs: 30_000 };
const creating: Target = { metadata: { name: "one", uid: "uid-1" }, goal: "create" };
const deleting: Target = { ...creating, goal: "delete" };
const failed: Reply = { kind: "failed", fault: new Fault("Unavailable", "away") };
const answered = (validity: Validity): Reply => ({ kind: "answered", validity });

function setUp() {
  const world = createVirtualWorld();
  const cache = createReplyCache<Target, Answer, Target["goal"]>({
    world,
    backoff,
    poll,
    goalOf: ({ goal }) => goal,
    validityOf: (_, { validity }) => validity,
  });
  const cached = () => cache.get(creating.metadata.uid);
  return { world, cache, cached, leftMs: (): number => (cached()?.expiresAtMs ?? 0) - world.elapsed() };
}

/** How long the last of several equal replies counts. */
function countsMs(reply: Reply, times: number): number {
  const { cache, leftMs } = setUp();
  for (let count = 0; count < times; count++) cache.put(creating, reply);
  return leftMs();
}
const isAbout = (ms: number, longest: number): boolean => ms >= longest / 2 && ms <= longest;

test("polls have their own timer, at most half a minute apart", () => {
  assert.ok(isAbout(countsMs(answered("until poll"), 1), poll.startMs));
  assert.ok(isAbout(countsMs(answered("until poll"), 50), poll.maxMs));
});

test("failures back off to minutes, and the first reply resets the poll interval", () => {
  assert.ok(isAbout(countsMs(failed, 1), backoff.startMs));
  assert.ok(isAbout(countsMs(failed, 50), backoff.maxMs));
  const { cache, leftMs } = setUp();
  for (let count = 0; count < 50; count++) cache.put(creating, failed);
  cache.put(creating, answered("until poll"));
  assert.ok(isAbout(leftMs(), poll.startMs));
});

test("an answer that counts until the retry has the backoff of failures", () =>
  assert.ok(isAbout(countsMs(answered("until retry"), 50), backoff.maxMs)));

test("an answer that counts for good never expires", () =>
  assert.equal(countsMs(answered("for good"), 1), Number.POSITIVE_INFINITY));

test("a secret that could not be read because the API server was unavailable is read again within seconds", () => {
  const unsent = (code: "Unavailable" | "NotFound"): Reply => ({ kind: "unsent", fault: new Fault(code, "no") });
  assert.ok(countsMs(unsent("Unavailable"), 50) <= 10_000);
  assert.ok(countsMs(unsent("NotFound"), 50) > 10_000);
});

test("errors of one goal do not increase the backoff of the next", () => {
  const { cache, leftMs } = setUp();
  for (let count = 0; count < 50; count++) cache.put(creating, failed);
  cache.put(deleting, failed);
  assert.ok(isAbout(leftMs(), backoff.startMs));
});

test("malformed replies are counted until another reply or goal; a missing reply does not reset the count", () => {
  const { cache, cached } = setUp();
  const malformed: Reply = { kind: "failed", fault: new Fault("MalformedReply", "???") };
  const counted = (
    [
      [creating, malformed],
      [creating, malformed],
      [creating, failed],
      [creating, { kind: "unsent", fault: new Fault("NotFound", "no secret") }],
      [creating, malformed],
      [creating, { kind: "failed", fault: new Fault("FailedPrecondition", "no") }],
      [creating, malformed],
      [deleting, malformed],
      [deleting, malformed],
      [deleting, answered("until poll")],
    ] as const
  ).map(([target, reply]) => {
    cache.put(target, reply);
    return cached()?.malformedReplies;
  });
  assert.deepEqual(counted, [1, 2, 2, 2, 3, 0, 1, 1, 2, 0]);
});

test("without a call the observed reply is none, and the next attempt is the first", () =>
  assert.deepEqual(observeReply(undefined, "create", 5_000), {
    reply: { kind: "none" },
    isFirstAttempt: true,
    malformedReplies: 0,
    replyLeftMs: 0,
  }));

const observations: readonly [given: string, Reply, Target["goal"], afterMs: number, expect: Reply["kind"] | "none"][] =
  [
    ["a recent error", failed, "create", 100, "failed"],
    ["an expired error", failed, "create", 1_000, "none"],
    ["a recent error of another goal", failed, "delete", 100, "none"],
    ["a recent answer of another goal", answered("until poll"), "delete", 100, "answered"],
    ["an expired answer", answered("until poll"), "create", 1_000, "none"],
  ];
for (const [given, reply, goal, afterMs, expect] of observations)
  test(`given ${given}, the observed reply is: ${expect}`, () => {
    const { cache, cached } = setUp();
    cache.put(creating, reply);
    assert.equal(observeReply(cached(), goal, afterMs).reply.kind, expect);
  });

test("a held reply counts beyond its time and its goal", () => {
  const { cache, cached } = setUp();
  cache.put(creating, failed);
  const { reply, isFirstAttempt, replyLeftMs } = observeReply(cached(), "delete", 5_000, () => true);
  assert.deepEqual([reply, isFirstAttempt, replyLeftMs], [failed, true, 0]);
});
