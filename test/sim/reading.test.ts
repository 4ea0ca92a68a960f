import assert from "node:assert/strict";
import { test } from "node:test";
import { type JsonObject, parse, print } from "../../src/base/json.ts";
import type { KubeApi } from "../../src/kube/api.ts";
import { judged, scheduleOf } from "./campaign.ts";
import { createSharedReader } from "./reading.ts";

const seeds = 40;

test("an object that is delivered twice is parsed once, and every receiver gets its own top-level object", () => {
  const { read } = createSharedReader();
  const [one, other] = [read('{"a":[1]}'), read('{"a":[1]}')] as { a: unknown }[];
  assert.equal(one?.a, other?.a);
  assert.notEqual(one, other);
  assert.deepEqual(read('{"a":[2]}'), { a: [2] });
  assert.throws(() => read('{"a":'), SyntaxError);
});

test("stored objects are not parsed again, neither in responses nor in events", () => {
  const { read, learn } = createSharedReader();
  const object = { metadata: { resourceVersion: "7" }, spec: { size: 1 } };
  learn({ object, version: 7, text: () => print(object) });
  const [answer, event] = [read(`${print(object)}\n`), read(`{"type":"ADDED","object":${print(object)}}`)];
  assert.deepEqual([answer, event], [object, { type: "ADDED", object }]);
  assert.equal((answer as typeof object).spec, object.spec);
  assert.equal((event as { object: typeof object }).object.spec, object.spec);
  const others = [
    { type: "BOOKMARK", object: { metadata: { resourceVersion: "7" } } },
    { type: "ADDED", object: { ...object, spec: { size: 2 } } },
    { ...object, status: {} },
    { kind: "List", metadata: { resourceVersion: "7" }, items: [object] },
  ];
  assert.deepEqual(
    others.map((other) => read(print(other))),
    others,
  );
});

test("a list of initial objects is parsed once for all simulations", () => {
  const list = (version: string, ...items: JsonObject[]): JsonObject => ({
    kind: "PersistentVolumeList",
    apiVersion: "v1",
    metadata: { resourceVersion: version },
    items,
  });
  const item = { metadata: { name: "pv", resourceVersion: "3" } };
  const [one, other] = ["4", "5"].map((version) =>
    createSharedReader().read(print(list(version, item))),
  ) as JsonObject[];
  assert.deepEqual([one, other], [list("4", item), list("5", item)]);
  assert.equal(one?.items, other?.items);
  assert.deepEqual(createSharedReader().read(print(list("4"))), list("4"));
  assert.throws(() => createSharedReader().read(print(list("4", item)).slice(0, -9)), SyntaxError);
});

test("the stored object equals its JSON text", async () => {
  for (let seed = 1; seed <= seeds; seed++) {
    const { entries } = await judged(await scheduleOf(seed));
    for (const entry of entries)
      if (entry.type === "write" && entry.after !== undefined)
        assert.deepEqual(parse(print(entry.after as unknown as JsonObject)), entry.after);
  }
});

test("no component changes an object that it has read", async () => {
  let frozen = 0;
  const freeze = (value: unknown): void => {
    if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
    frozen += 1;
    Object.values(Object.freeze(value)).forEach(freeze);
  };
  /** Below its top, to which the client itself writes kind and version. */
  const held = <T>(object: T): T => {
    Object.values(object ?? {}).forEach(freeze);
    return object;
  };
  const sabotage = {
    api: (api: KubeApi): KubeApi => ({
      get: async (...call) => held(await api.get(...call)),
      create: async (...call) => held(await api.create(...call)),
      replace: async (...call) => held(await api.replace(...call)),
      patch: async (...call) => held(await api.patch(...call)),
      delete: async (...call) => held(await api.delete(...call)),
      list: async (...call) => {
        const listed = await api.list(...call);
        listed.objects.forEach(held);
        return listed;
      },
      watch: (kind, query, take) =>
        api.watch(kind, query, (event) => {
          if (event.kind !== "bookmark") held(event.object);
          take(event);
        }),
    }),
  };
  for (let seed = 1; seed <= seeds; seed++) {
    const { violations } = await judged({ ...(await scheduleOf(seed)), sabotage: () => sabotage });
    assert.deepEqual(violations, []);
  }
  assert.ok(frozen > 50 * seeds, `only ${frozen} values were frozen`);
});
