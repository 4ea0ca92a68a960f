import assert from "node:assert/strict";
import { test } from "node:test";
import { aClaim, aSnapshot } from "../../../test/builders.ts";
import { createVirtualWorld } from "../../../test/virtual-world.ts";
import type { PersistentVolumeClaim } from "../../api/types.ts";
import { silent } from "../../base/log.ts";
import { createClaimLists } from "./claim-lists.ts";

const snapshot = aSnapshot({ metadata: { namespace: "team", name: "monday" } });
const action = { kind: "readClaims", snapshot } as const;
const { signal } = new AbortController();

/** Lists that take 10 ms; undefined: they fail. */
function setUp(listed: readonly PersistentVolumeClaim[] | undefined) {
  const world = createVirtualWorld();
  const cache: PersistentVolumeClaim[] = [];
  const asked: (string | undefined)[] = [];
  const triggered: (readonly [key: string, afterMs: number | undefined])[] = [];
  const lists = createClaimLists({
    api: {
      list: (async (_kind: string, query: { namespace?: string }) => {
        asked.push(query.namespace);
        await world.sleep(10);
        if (listed === undefined) throw new Error("unreadable");
        return { objects: listed, resourceVersion: "9" };
      }) as never,
    },
    world,
    log: silent,
    store: { applyReply: (claim) => cache.push(claim) },
    trigger: (key, afterMs) => triggered.push([key, afterMs]),
  });
  return { ...lists, world, cache, asked, triggered };
}

test("the claims of the namespace are listed, and the snapshot is triggered when they are in the cache", async () => {
  const { readClaims, wereReadFor, world, asked, cache, triggered } = setUp([aClaim()]);
  await readClaims(action, signal);
  assert.deepEqual([wereReadFor(snapshot), triggered], [false, []], "no reconcile waits for the list");
  await world.advance(10);
  assert.deepEqual([asked, cache.length, wereReadFor(snapshot)], [["team"], 1, true]);
  assert.deepEqual(triggered, [["team/monday", undefined]]);
});

test("a snapshot that waits for a list does not ask for another", async () => {
  const { readClaims, world, asked, triggered } = setUp([]);
  await readClaims(action, signal);
  await readClaims(action, signal);
  await world.advance(100);
  assert.deepEqual([asked.length, triggered.length], [1, 1]);
});

test("all that are deleted during a list share the next one, after a millisecond for each claim", async () => {
  const { readClaims, world, asked, triggered } = setUp([aClaim(), aClaim(), aClaim()]);
  const others = ["tuesday", "wednesday", "thursday"].map((name) =>
    aSnapshot({ metadata: { namespace: "team", name, uid: name } }),
  );
  await readClaims(action, signal);
  await world.advance(1);
  for (const other of others) await readClaims({ kind: "readClaims", snapshot: other }, signal);
  await world.advance(21);
  assert.deepEqual([asked.length, triggered.length], [2, 1]);
  await world.advance(1);
  assert.equal(triggered.length, 4);
});

test("a list that fails is asked for again after a second", async () => {
  const { readClaims, wereReadFor, world, asked, triggered } = setUp(undefined);
  await readClaims(action, signal);
  await world.advance(10);
  assert.deepEqual([wereReadFor(snapshot), triggered], [false, [["team/monday", 1_000]]]);
  await readClaims(action, signal);
  await world.advance(1);
  assert.equal(asked.length, 2);
});

test("nothing is triggered when the controller has stopped", async () => {
  const { readClaims, world, triggered } = setUp([]);
  const stopping = new AbortController();
  await readClaims(action, stopping.signal);
  stopping.abort();
  await world.advance(10);
  assert.deepEqual(triggered, []);
});
