import assert from "node:assert/strict";
import { test } from "node:test";
import { createVirtualWorld } from "../../../../test/virtual-world.ts";
import { Fault } from "../../../base/fault.ts";
import type { JsonObject, JsonValue } from "../../../base/json.ts";
import { silent } from "../../../base/log.ts";
import { createReviews } from "./reviews.ts";
import type { Subject } from "./types.ts";

const subject: Subject = { shareKind: "SharedSecret", share: "tls", namespace: "team", serviceAccount: "web" };

function setUp(isWatched = () => false) {
  const world = createVirtualWorld();
  const stop = new AbortController();
  const asked: { readonly atMs: number; readonly body: JsonObject }[] = [];
  const changed: Subject[] = [];
  const server = { answer: (): JsonValue => ({ status: { allowed: true } }) };
  const postPath = async (_path: string, body: JsonObject): Promise<JsonValue> => {
    asked.push({ atMs: world.elapsed(), body });
    await world.sleep(2);
    return server.answer();
  };
  const reviews = createReviews({
    api: () => ({ postPath }),
    world,
    log: silent,
    signal: stop.signal,
    isWatched,
    onChange: (one) => void changed.push(one),
  });
  return { world, stop, asked, changed, server, reviews };
}

test("R62: the review names user, all groups, share, namespace and the verb use", async () => {
  const { world, asked, reviews } = setUp();
  assert.equal(await world.run(reviews.fresh(subject)), "allowed");
  assert.deepEqual(asked[0]?.body.spec, {
    user: "system:serviceaccount:team:web",
    groups: ["system:serviceaccounts", "system:serviceaccounts:team", "system:authenticated"],
    resourceAttributes: {
      verb: "use",
      group: "sharedresource.openshift.io",
      resource: "sharedsecrets",
      namespace: "team",
      name: "tls",
    },
  });
});

test("R61: 1,000 volumes of 5 shares by 10 accounts cost at most 600 reviews a minute", async () => {
  const { world, asked, reviews } = setUp();
  const subjects = Array.from(
    { length: 1_000 },
    (_, index): Subject => ({
      ...subject,
      share: `share-${index % 5}`,
      serviceAccount: `account-${Math.floor(index / 5) % 10}`,
    }),
  );
  for (const one of subjects) reviews.hold(one);
  await world.run(Promise.all(subjects.map((one) => reviews.fresh(one))));
  await world.advance(120_000);
  const lastMinute = asked.filter(({ atMs }) => atMs >= 60_000 && atMs < 120_000);
  assert.ok(lastMinute.length <= 600 && lastMinute.length >= 550, String(lastMinute.length));
});

test("a second publish within five seconds asks nothing, whatever the answer was", async () => {
  for (const allowed of [true, false]) {
    const { world, asked, server, reviews } = setUp();
    server.answer = () => ({ status: { allowed } });
    const first = await world.run(reviews.fresh(subject));
    await world.advance(4_000);
    assert.equal(await reviews.fresh(subject), first);
    assert.equal(asked.length, 1);
    await world.advance(2_000);
    await world.run(reviews.fresh(subject));
    assert.equal(asked.length, 2);
  }
});

test("publishes at the same time share one review", async () => {
  const { world, asked, reviews } = setUp();
  await world.run(Promise.all(Array.from({ length: 100 }, () => reviews.fresh(subject))));
  assert.equal(asked.length, 1);
});

test("a denial is learnt within five seconds, and a new permission too", async () => {
  const { world, changed, server, reviews } = setUp();
  reviews.hold(subject);
  await world.run(reviews.fresh(subject));
  changed.length = 0;
  server.answer = () => ({ status: { allowed: false } });
  await world.advance(5_010);
  assert.deepEqual([reviews.current(subject), changed.length], ["denied", 1]);
  server.answer = () => ({ status: { allowed: true } });
  await world.advance(5_010);
  assert.deepEqual([reviews.current(subject), changed.length], ["allowed", 2]);
});

test("an API server that fails changes no verdict; after ten seconds an old permission permits nothing new", async () => {
  const { world, server, reviews } = setUp();
  reviews.hold(subject);
  await world.run(reviews.fresh(subject));
  server.answer = () => {
    throw new Fault("Unavailable", "nothing answers");
  };
  await world.advance(9_000);
  assert.equal(reviews.current(subject), "allowed");
  await world.advance(2_000);
  assert.equal(reviews.current(subject), undefined);
  await assert.rejects(world.run(reviews.fresh(subject)), { code: "Unavailable" });
});

test("a failed review is not repeated for each pod that waits, but after five seconds", async () => {
  const { world, asked, server, reviews } = setUp();
  const { answer } = server;
  server.answer = () => {
    throw new Fault("Unavailable", "nothing answers");
  };
  for (let pod = 0; pod < 100; pod++) await assert.rejects(world.run(reviews.fresh(subject)), { code: "Unavailable" });
  assert.equal(asked.length, 1);
  server.answer = answer;
  await world.advance(5_000);
  assert.equal(await world.run(reviews.fresh(subject)), "allowed");
});

test("a denial counts until it is taken back, also without an API server", async () => {
  const { world, server, reviews } = setUp();
  server.answer = () => ({ status: { allowed: false } });
  reviews.hold(subject);
  await world.run(reviews.fresh(subject));
  server.answer = () => {
    throw new Fault("Unavailable", "nothing answers");
  };
  await world.advance(60_000);
  assert.equal(reviews.current(subject), "denied");
});

test("a fresh permission after a pause is told, because volumes wait for it", async () => {
  const { world, changed, server, reviews } = setUp();
  reviews.hold(subject);
  await world.run(reviews.fresh(subject));
  const { answer } = server;
  server.answer = () => {
    throw new Fault("Unavailable", "nothing answers");
  };
  await world.advance(30_000);
  changed.length = 0;
  server.answer = answer;
  await world.advance(6_000);
  assert.equal(changed.length, 1);
});

test("an answer without a status permits nothing", async () => {
  const { world, server, reviews } = setUp();
  for (const answer of [{}, null, { status: "allowed" }]) {
    server.answer = () => answer;
    await assert.rejects(world.run(reviews.fresh(subject)), { code: "UnknownOutcome" });
    await world.advance(5_000);
  }
});

test("a review that hangs is given up after three seconds", async () => {
  const { world, reviews } = setUp();
  const hanging = createReviews({
    api: () => ({
      postPath: (_path, _body, { signal } = {}) =>
        new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason))),
    }),
    world,
    log: silent,
    signal: new AbortController().signal,
    onChange: () => undefined,
  });
  const startedAt = world.elapsed();
  await assert.rejects(world.run(hanging.fresh(subject)), { code: "DeadlineExceeded" });
  assert.equal(world.elapsed() - startedAt, 3_000);
  assert.equal(reviews.current(subject), undefined);
});

test("nothing is asked for a subject without a volume, nor after the stop, and nothing is remembered of it", async () => {
  const { world, stop, asked, reviews } = setUp();
  const release = reviews.hold(subject);
  await world.run(reviews.fresh(subject));
  release();
  release();
  await world.advance(60_000);
  assert.equal(asked.length, 1);
  assert.equal(reviews.current(subject), undefined);
  reviews.hold(subject);
  await world.run(reviews.fresh(subject));
  stop.abort();
  const before = asked.length;
  await world.advance(60_000);
  assert.equal(asked.length, before);
  assert.equal(world.sleepers(), 0);
});

test("however often roles change, a subject is asked for as often as without a watch, and all nodes not in one moment", async () => {
  const { world, asked, reviews } = setUp(() => true);
  reviews.hold(subject);
  await world.run(reviews.fresh(subject));
  for (let second = 0; second < 60; second++) {
    reviews.mayHaveChanged(second % 2 === 0 ? "team" : undefined);
    reviews.mayHaveChanged("other");
    await world.advance(1_000);
  }
  assert.ok(asked.length >= 10 && asked.length <= 13, `${asked.length}`);
  await world.advance(40_000);
  const before = world.elapsed();
  reviews.mayHaveChanged("team");
  await world.advance(1_000);
  const inMs = (asked.at(-1)?.atMs ?? 0) - before;
  assert.ok(inMs > 0 && inMs < 1_000, `${inMs}`);
});

test("where roles are watched, a verdict counts until the next question is overdue, and a publish asks all the same", async () => {
  let isWatched = true;
  const { world, asked, server, reviews } = setUp(() => isWatched);
  reviews.hold(subject);
  await world.run(reviews.fresh(subject));
  server.answer = () => {
    throw new Fault("Unavailable", "no answer");
  };
  await world.advance(34_000);
  assert.equal(reviews.current(subject), "allowed");
  await world.advance(2_000);
  assert.equal(reviews.current(subject), undefined);
  server.answer = () => ({ status: { allowed: true } });
  await world.advance(43_000);
  const before = asked.length;
  await world.run(reviews.fresh(subject));
  assert.equal(asked.length, before + 1, "at most five seconds old");
  await world.advance(12_000);
  assert.equal(reviews.current(subject), "allowed");
  isWatched = false;
  assert.equal(reviews.current(subject), undefined, "nobody tells of changes any more");
});

test("where roles are watched, a question that failed is asked again as soon as without a watch", async () => {
  const { world, asked, server, reviews } = setUp(() => true);
  reviews.hold(subject);
  await world.run(reviews.fresh(subject));
  server.answer = () => {
    throw new Fault("Unavailable", "no answer");
  };
  await world.advance(31_000);
  const before = asked.length;
  await world.advance(20_000);
  assert.ok(asked.length >= before + 3, `${asked.length - before}`);
});

test("a change of roles does not make a publish forget what was asked, and that it failed", async () => {
  const { world, asked, server, reviews } = setUp(() => true);
  const { answer } = server;
  server.answer = () => {
    throw new Fault("Unavailable", "no answer");
  };
  await assert.rejects(world.run(reviews.fresh(subject)), { code: "Unavailable" });
  reviews.mayHaveChanged("team");
  await world.advance(1_500);
  await assert.rejects(world.run(reviews.fresh(subject)), { code: "Unavailable" });
  assert.equal(asked.length, 1, "five seconds are not over");
  await world.advance(3_500);
  server.answer = answer;
  assert.equal(await world.run(reviews.fresh(subject)), "allowed");
  reviews.mayHaveChanged("team");
  await world.advance(4_000);
  assert.equal(await world.run(reviews.fresh(subject)), "allowed");
  assert.equal(asked.length, 2);
});
