import assert from "node:assert/strict";
import { test } from "node:test";
import { keyIn } from "../base/brand.ts";
import type { ApiObject, StoreEvent } from "./contracts.ts";
import { createStore } from "./store.ts";

const pod = (namespace: string, name: string): ApiObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace },
});
const put = (namespace: string, name: string, expect: number | "absent" | "any" = "any") =>
  ({ kind: "put", collection: "pods", key: keyIn(namespace, name), object: pod(namespace, name), expect }) as const;

test("every write gets the next version, written into the object", () => {
  const store = createStore();
  const written = store.commit([put("a", "x"), put("a", "y")]);
  assert.notEqual(written, "conflict");
  assert.deepEqual(
    store.list("pods").map(({ object }) => object.metadata.resourceVersion),
    ["2", "3"],
  );
  assert.equal(store.version(), 3);
});

test("a commit whose expectation fails changes nothing at all", () => {
  const store = createStore();
  store.commit([put("a", "x", "absent")]);
  assert.equal(store.commit([put("a", "y"), put("a", "x", "absent")]), "conflict");
  assert.equal(store.commit([put("a", "x", 1)]), "conflict");
  assert.equal(store.commit([{ kind: "remove", collection: "pods", key: keyIn("a", "z"), expect: "any" }]), "conflict");
  assert.equal(store.count("pods"), 1);
  assert.equal(store.version(), 2);
});

test("a list is in the order of keys, and of one namespace when asked", () => {
  const store = createStore();
  store.commit([put("b", "1"), put("a", "2"), put("a-b", "1"), put("a", "1"), put("a0", "1")]);
  const names = (namespace?: string) =>
    store.list("pods", namespace).map(({ object }) => `${object.metadata.namespace}/${object.metadata.name}`);
  assert.deepEqual(names(), ["a-b/1", "a/1", "a/2", "a0/1", "b/1"]);
  assert.deepEqual(names("a"), ["a/1", "a/2"]);
  assert.deepEqual(names("c"), []);
});

test("a removal is an event of its own version that carries the last state", () => {
  const store = createStore();
  const seen: StoreEvent[] = [];
  store.onCommit((events) => void seen.push(...events));
  store.commit([put("a", "x")]);
  store.commit([{ kind: "remove", collection: "pods", key: keyIn("a", "x"), expect: 2 }]);
  assert.deepEqual(
    seen.map(({ type, now }) => [type, now.object.metadata.name, now.object.metadata.resourceVersion]),
    [
      ["ADDED", "x", "2"],
      ["DELETED", "x", "3"],
    ],
  );
  assert.equal(store.get("pods", keyIn("a", "x")), undefined);
});

test("the history returns events since any known version, and reports an unknown version", () => {
  const store = createStore({ historyMax: 4 });
  for (let index = 0; index < 10; index += 1) store.commit([put("a", String(index))]);
  const versions = (after: number) => {
    const events = store.eventsAfter("pods", after);
    return events === "expired" ? events : events.map(({ now }) => now.version);
  };
  assert.deepEqual(versions(9), [10, 11]);
  assert.deepEqual(versions(11), []);
  assert.equal(versions(2), "expired");
  assert.deepEqual(store.eventsAfter("never written", 1), []);
});

test("the history of all collections is bounded by size, and the largest one is trimmed", () => {
  const store = createStore({ historyCharsMax: 20_000 });
  const write = (collection: string, index: number, chars: number) => {
    const object = { ...pod("a", String(index)), data: "x".repeat(chars) };
    store.commit([{ kind: "put", collection, key: keyIn("a", String(index)), object, expect: "any" }]);
  };
  write("small", 0, 10);
  const beforeLarge = store.version();
  for (let index = 0; index < 100; index += 1) write("large", index, 1_000);
  write("large", 100, 30_000);
  write("small", 1, 10);
  assert.equal(store.eventsAfter("large", beforeLarge), "expired");
  assert.deepEqual(store.eventsAfter("large", store.version() - 2), "expired");
  const events = store.eventsAfter("small", 1);
  assert.deepEqual(events === "expired" ? events : events.map(({ key }) => key), ["a/0", "a/1"]);
  write("large", 1, 1_000);
  const later = store.eventsAfter("large", store.version() - 1);
  assert.equal(later.length, 1);
});

test("a history of large objects holds fewer events than of small ones", () => {
  const kept = (chars: number): number => {
    const store = createStore({ historyCharsMax: 1_000_000 });
    for (let index = 0; index < 500; index += 1)
      store.commit([{ ...put("a", "x"), object: { ...pod("a", "x"), data: String(index).padEnd(chars) } }]);
    let version = store.version();
    while (version > 1 && store.eventsAfter("pods", version - 1) !== "expired") version -= 1;
    return store.version() - version;
  };
  assert.equal(kept(10), 500);
  assert.ok(kept(10_000) <= 100 && kept(10_000) >= 45, String(kept(10_000)));
});

test("commits of an observer are announced after the event that it got", () => {
  const store = createStore();
  const heard: number[] = [];
  store.onCommit(([event]) => {
    if (event?.key === keyIn("a", "x")) store.commit([put("a", "y")]);
  });
  store.onCommit((events) => void heard.push(...events.map(({ now }) => now.version)));
  store.commit([put("a", "x")]);
  assert.deepEqual(heard, [2, 3]);
});

test("a failing observer does not affect other observers, and its error reaches the writer", () => {
  const store = createStore();
  const heard: string[] = [];
  const hear = (events: readonly StoreEvent[]): void => void heard.push(...events.map(({ key }) => key));
  store.onCommit(() => {
    throw new Error("a mistake of mine");
  });
  store.onCommit(hear);
  for (const name of ["x", "y"]) assert.throws(() => store.commit([put("a", name)]), /a mistake of mine/);
  assert.deepEqual(heard, ["a/x", "a/y"]);
});
