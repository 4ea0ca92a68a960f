import assert from "node:assert/strict";
import { test } from "node:test";
import { createFakeKube } from "../../test/fake-kube.ts";
import { createVirtualWorld } from "../../test/virtual-world.ts";
import { draftOf } from "../api/builders.ts";
import { Fault } from "../base/fault.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { silent } from "../base/log.ts";
import { createOptionalStore } from "./optional-store.ts";

const group = "gateway.networking.k8s.io";
const recheckMs = 60_000;
const aGrant = (name: string) => draftOf("ReferenceGrant", { namespace: "team", name }, { spec: {} } as never);

/** A cluster in which the kind may come and go, and the right to read it. */
function setUp({
  isServed = true,
  isDown = false,
  allowed = ["list", "watch"],
}: {
  isServed?: boolean;
  isDown?: boolean;
  allowed?: string[];
} = {}) {
  const world = createVirtualWorld();
  const kube = createFakeKube();
  const state = { isServed, allowed, isDown };
  const asked: JsonObject[] = [];
  const changes: string[] = [];
  const api = {
    ...kube,
    findVersion: async (): Promise<string | undefined> => {
      if (state.isDown) throw new Fault("Unavailable", "no server");
      return state.isServed ? "v1" : undefined;
    },
    postPath: async (path: string, body: JsonObject): Promise<JsonValue> => {
      assert.equal(path, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews");
      const { resourceAttributes } = body.spec as { resourceAttributes: { verb: string } };
      asked.push(resourceAttributes);
      return { kind: "SelfSubjectAccessReview", status: { allowed: state.allowed.includes(resourceAttributes.verb) } };
    },
  };
  const optional = createOptionalStore("ReferenceGrant", { api, world, log: silent, recheckMs });
  optional.onChange((before, after) =>
    changes.push(`${before?.metadata.name ?? "nothing"} to ${after?.metadata.name ?? "nothing"}`),
  );
  const stop = new AbortController();
  const watching = optional.watch(stop.signal);
  const end = async (): Promise<void> => {
    stop.abort();
    await world.run(watching);
  };
  return { world, kube, state, asked, changes, optional, end };
}

test("an optional kind that is served and readable is cached", async () => {
  const { world, kube, optional, asked, end } = setUp();
  await kube.create("ReferenceGrant", aGrant("lend"));
  await world.advance(1_000);
  assert.equal(optional.current()?.size(), 1);
  assert.deepEqual(asked, [
    { verb: "list", group, resource: "referencegrants" },
    { verb: "watch", group, resource: "referencegrants" },
  ]);
  await end();
});

test("what there is of an optional kind is undecided until the server has listed it or said that it is not there", async () => {
  const { world, kube, state, optional, end } = setUp({ isDown: true });
  await kube.create("ReferenceGrant", aGrant("lend"));
  await world.advance(60_000);
  assert.equal(optional.isUndecided(), true);
  state.isDown = false;
  await world.advance(5_000);
  assert.deepEqual([optional.isUndecided(), optional.current()?.size()], [false, 1]);
  state.isServed = false;
  await world.advance(2 * recheckMs);
  assert.deepEqual([optional.isUndecided(), optional.current()], [false, undefined]);
  await end();
});

test("a server that never says what there is of an optional kind counts as decided after five minutes", async () => {
  const { world, optional, end } = setUp({ isDown: true });
  await world.advance(299_000);
  assert.equal(optional.isUndecided(), true);
  await world.advance(2_000);
  assert.equal(optional.isUndecided(), false);
  await end();
});

const absences = [
  { given: "is not served", options: { isServed: false } },
  { given: "may not be listed", options: { allowed: ["watch"] } },
  { given: "may not be watched", options: { allowed: ["list"] } },
];
for (const { given, options } of absences)
  test(`an optional kind that ${given} is never listed, and does not block the start`, async () => {
    const { world, kube, optional, end } = setUp(options);
    await world.run(optional.known(new AbortController().signal));
    assert.ok(world.elapsed() < 1_000);
    await world.advance(10 * recheckMs);
    assert.deepEqual([optional.current(), kube.calls], [undefined, []]);
    await end();
  });

test("the optional store starts when the kind is served, and stops when it is no longer readable", async () => {
  const { world, kube, state, optional, changes, end } = setUp({ isServed: false });
  await kube.create("ReferenceGrant", aGrant("lend"));
  await world.advance(recheckMs / 2);
  state.isServed = true;
  await world.advance(recheckMs);
  assert.equal(optional.current()?.size(), 1);
  state.allowed = [];
  await world.advance(recheckMs);
  assert.equal(optional.current(), undefined);
  assert.deepEqual(changes, ["nothing to lend", "lend to nothing"]);
  assert.equal(kube.openWatches(), 0);
  await end();
});

test("discovery that lacks the kind for a moment, while its CRD is changed, does not empty the store", async () => {
  const { world, kube, state, optional, changes, end } = setUp();
  await kube.create("ReferenceGrant", aGrant("lend"));
  await world.advance(recheckMs - 100);
  state.isServed = false;
  await world.advance(200);
  state.isServed = true;
  await world.advance(recheckMs);
  assert.deepEqual([optional.current()?.size(), changes], [1, ["nothing to lend"]]);
  state.isServed = false;
  await world.advance(recheckMs + 2_000);
  assert.deepEqual([optional.current(), changes], [undefined, ["nothing to lend", "lend to nothing"]]);
  await end();
});

test("a temporary failure of the access check changes nothing", async () => {
  const { world, state, optional, end } = setUp();
  await world.advance(1_000);
  state.isDown = true;
  await world.advance(3 * recheckMs);
  assert.notEqual(optional.current(), undefined);
  await end();
});

test("a failed access check at start is repeated soon, and the start waits for it", async () => {
  const { world, state, optional, end } = setUp({ isDown: true });
  const known = optional.known(new AbortController().signal).then(() => optional.current());
  await world.advance(1);
  state.isDown = false;
  assert.notEqual(await world.run(known), undefined);
  assert.ok(world.elapsed() <= 10_000);
  await end();
});

test("the start waits for the complete list, with a time limit", async () => {
  const { world, optional, end } = setUp({ isDown: true });
  await world.advance(10);
  const hanging = createOptionalStore("ReferenceGrant", {
    api: { findVersion: () => new Promise<never>(() => undefined) } as never,
    world,
    log: silent,
  });
  const stop = new AbortController();
  void hanging.watch(stop.signal);
  const startedAt = world.elapsed();
  await world.run(hanging.known(stop.signal));
  assert.equal(world.elapsed() - startedAt, 10_000);
  assert.equal(optional.current(), undefined);
  stop.abort();
  await end();
});

test("an optional kind that something waits for is looked for every few seconds, and no oftener", async () => {
  const { world, state, asked, optional, end } = setUp({ isServed: false });
  await world.advance(1_000);
  for (let second = 0; second < 20; second++) {
    for (let times = 0; times < 10; times++) optional.lookSoon();
    await world.advance(1_000);
  }
  state.isServed = true;
  state.allowed = [];
  optional.lookSoon();
  await world.advance(5_000);
  assert.equal(asked.length, 1, "it is served, and may not be read");
  state.allowed = ["list", "watch"];
  await world.advance(20_000);
  assert.equal(asked.length, 1, "nobody waits");
  optional.lookSoon();
  await world.advance(1_000);
  assert.equal(asked.length, 3);
  assert.notEqual(optional.current(), undefined);
  optional.lookSoon();
  await end();
});
