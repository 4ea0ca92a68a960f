/** Failed reconciles: conflicts, faults, outages, objects that cause exceptions. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { aConfig, actingOn, inTeam, setUpController, viewOf } from "../../test/controller-harness.ts";
import { keyOf } from "../api/types.ts";
import type { Key } from "../base/brand.ts";
import { Fault } from "../base/fault.ts";
import { limits } from "../base/limits.ts";

test("a fault requeues with growing backoff, and a success resets it", async () => {
  let failures = 3;
  const { world, stores, acted, sync, run } = setUpController({
    act: async () => {
      if (failures-- > 0) throw new Fault("Unavailable", "not now");
    },
  });
  sync(aConfig("a"));
  void run();
  await world.advance(60_000);
  const dates = acted.map((line) => Number(line.split("@")[1]));
  const delays = dates.slice(1).map((date, index) => date - (dates[index] ?? 0));
  assert.equal(delays.length, 3);
  for (const [index, delay] of delays.entries()) assert.ok(delay >= 500 * 2 ** index && delay <= 1_000 * 2 ** index);
  failures = 1;
  stores.ConfigMap.take({ kind: "put", object: aConfig("a") });
  await world.advance(1_000);
  assert.equal(acted.length, 6, "the first delay is short again");
});

test("a conflict is retried at once and not logged", async () => {
  let conflicts = 1;
  const { world, acted, logged, sync, run } = setUpController({
    act: async () => {
      if (conflicts-- > 0) throw new Fault("Conflict", "changed");
    },
  });
  sync(aConfig("a"));
  void run();
  await world.advance(10);
  assert.equal(acted.length, 2);
  assert.deepEqual(logged, []);
});

const outages: readonly [string, ConstructorParameters<typeof Fault>[0], boolean][] = [
  ["an API server that was away for long is tried again soon after it is back", "Unavailable", true],
  ["an object that was refused for long is tried seldom", "Invalid", false],
];
for (const [claim, code, isSoon] of outages)
  test(claim, async () => {
    let isAway = true;
    const { world, acted, sync, run } = setUpController({
      act: async () => {
        if (isAway) throw new Fault(code, "no");
      },
    });
    sync(aConfig("a"));
    void run();
    await world.advance(300_000);
    isAway = false;
    const before = acted.length;
    await world.advance(10_000);
    assert.equal(acted.length > before, isSoon);
  });

test("Retry-After of the server is respected", async () => {
  let refusals = 1;
  const { world, acted, sync, run } = setUpController({
    act: async () => {
      if (refusals-- > 0) throw new Fault("ResourceExhausted", "later", { retryAfterMs: 30_000 });
    },
  });
  sync(aConfig("a"));
  void run();
  await world.advance(29_999);
  assert.equal(acted.length, 1);
  await world.advance(1);
  assert.equal(acted.length, 2);
});

test("an object is reconciled again after half a minute, even with a Retry-After of an hour", async () => {
  const { world, acted, sync, run } = setUpController({
    act: async () => {
      throw new Fault("Unavailable", "maintenance", { retryAfterMs: 3_600_000 });
    },
  });
  sync(aConfig("a"));
  void run();
  await world.advance(limits.retryAfterMsMax);
  assert.deepEqual(acted, ["team/a@0", `team/a@${limits.retryAfterMsMax}`]);
});

test("an unreachable API server does not flood the log, for any number of objects", async () => {
  const { world, logged, sync, run } = setUpController({
    act: async () => {
      throw new Fault("Unavailable", "nothing answers");
    },
  });
  sync(...Array.from({ length: 500 }, (_, index) => aConfig(`map-${index}`)));
  void run();
  await world.advance(600_000);
  assert.ok(logged.length > 50 && logged.length <= 61, `${logged.length} lines in ten minutes`);
});

test("an exception in observe, plan or an action handler of one object does not affect others", async () => {
  const poison = (key: Key, word: string): void => {
    if (key === inTeam(word)) throw new TypeError(`cannot read ${word}`);
  };
  const { world, stores, acted, logged, sync, run } = setUpController({
    workers: 1,
    observe: (all, nowMs, key) => {
      poison(key, "bad-view");
      return viewOf(all.ConfigMap.get(key), nowMs);
    },
    plan: (view) => {
      poison(keyOf(view.facts.config), "bad-plan");
      return actingOn(view);
    },
    act: async (key) => poison(key, "bad-hand"),
  });
  sync(...["bad-view", "bad-plan", "bad-hand", "good"].map((name) => aConfig(name)));
  void run();
  await world.advance(0);
  assert.deepEqual(acted, ["team/bad-hand@0", "team/good@0"]);
  assert.deepEqual(
    logged,
    ["view", "plan", "hand"].map((part) => `error: reconcile failed with an unexpected error team/bad-${part}`),
  );
  stores.ConfigMap.take({ kind: "put", object: aConfig("late") });
  await world.advance(60_000);
  assert.equal(acted.includes("team/late@0"), true);
});

test("each failed reconcile is reported, a conflict is not a failure", async () => {
  const reported: Key[] = [];
  const faults = [
    new Fault("PermissionDenied", "no"),
    new Fault("Conflict", "changed"),
    new Fault("Unavailable", "later"),
  ];
  const { world, sync, run } = setUpController({
    act: async () => {
      const fault = faults.shift();
      if (fault !== undefined) throw fault;
    },
    onFailure: (key) => void reported.push(key),
  });
  sync(aConfig("one"));
  void run();
  await world.advance(60_000);
  assert.deepEqual([faults, reported], [[], [inTeam("one"), inTeam("one")]]);
});

test("an exception while a failed reconcile is counted ends neither its controller nor its retries", async () => {
  const tries: Key[] = [];
  const { world, acted, logged, sync, run } = setUpController({
    workers: 1,
    act: async (key) => {
      tries.push(key);
      if (key === inTeam("bad")) throw new Fault("PermissionDenied", "no");
    },
    onFailure: () => {
      throw new TypeError("cannot read driver");
    },
  });
  sync(aConfig("bad"), aConfig("good"));
  void run();
  await world.advance(60_000);
  assert.ok(acted.includes("team/good@0"), acted.join());
  assert.ok(tries.filter((key) => key === inTeam("bad")).length > 3);
  assert.ok(
    logged.some((line) => line.startsWith("error: a failed reconcile cannot be counted")),
    logged.join("\n"),
  );
});

const failures: readonly [string, unknown, string | undefined][] = [
  ["a write that is refused with 403", new Fault("PermissionDenied", "no"), "NotPermitted"],
  ["a token that is not accepted", new Fault("Unauthenticated", "who?"), "NotPermitted"],
  ["an API server that cannot be reached", new Fault("Unavailable", "nothing answers"), "ServerUnreachable"],
  ["a server that asks to be asked later", new Fault("ResourceExhausted", "later"), "ServerUnreachable"],
  ["a request without an answer in time", new Fault("DeadlineExceeded", "no answer"), "ServerUnreachable"],
  ["a write that breaks a rule of the server", new Fault("Invalid", "spec is immutable"), "RequestRefused"],
  ["an exception", new TypeError("cannot read driver"), "UnexpectedError"],
  ["a conflict", new Fault("Conflict", "changed"), undefined],
  ["a lease that is gone", new Fault("Aborted", "no longer leads"), undefined],
];
for (const [what, thrown, code] of failures)
  test(`${what} ${code === undefined ? "counts as no failure of the object" : `is counted as ${code}`}, until the write succeeds`, async () => {
    let isRefused = true;
    const { world, sync, run, waiting } = setUpController({
      act: async () => {
        if (isRefused) throw thrown;
      },
    });
    sync(aConfig("a"), aConfig("b"));
    void run();
    await world.advance(30_000);
    assert.deepEqual(waiting(), code === undefined ? {} : { [code]: 2 });
    isRefused = false;
    await world.advance(60_000);
    assert.deepEqual(waiting(), {});
  });

test("an object that the controller cannot decide about is counted, and no longer once it is gone", async () => {
  const gone = new Set<Key>();
  const { world, controller, sync, run, waiting } = setUpController({
    observe: (all, nowMs, key) => (gone.has(key) ? undefined : viewOf(all.ConfigMap.get(key), nowMs)),
    plan: () => {
      throw new TypeError("cannot read spec");
    },
  });
  sync(aConfig("odd"));
  void run();
  await world.advance(5_000);
  assert.deepEqual(waiting(), { UnexpectedError: 1 });
  gone.add(inTeam("odd"));
  controller.trigger(inTeam("odd"));
  await world.advance(0);
  assert.deepEqual(waiting(), {});
});
