import assert from "node:assert/strict";
import { test } from "node:test";
import { aClaim, aSnapshot } from "../../../test/builders.ts";
import type { PersistentVolumeClaim } from "../../api/types.ts";
import { realWorld } from "../../base/world.ts";
import { createClaimLists } from "./claim-lists.ts";

const snapshot = aSnapshot({ metadata: { namespace: "team" } });
const restored = aClaim({ metadata: { namespace: "team", name: "restored" } });
const { signal } = new AbortController();

function setUp(listed: readonly PersistentVolumeClaim[] | undefined) {
  const cache: PersistentVolumeClaim[] = [];
  const asked: (string | undefined)[] = [];
  const lists = createClaimLists({
    api: {
      list: (async (_kind: string, query: { namespace?: string }) => {
        asked.push(query.namespace);
        if (listed === undefined) throw new Error("unreadable");
        return { objects: listed, resourceVersion: "9" };
      }) as never,
    },
    world: realWorld,
    store: { applyReply: (claim) => cache.push(claim) },
    restoringFrom: () => cache.filter(({ metadata }) => metadata.name === "restored"),
  });
  return { ...lists, cache, asked };
}
const action = { kind: "readClaims", snapshot } as const;

test("the claims of the snapshot's namespace are listed, and it is remembered for which snapshot", async () => {
  const { readClaims, wereReadFor, asked, cache } = setUp([aClaim()]);
  assert.equal(wereReadFor(snapshot), false);
  await readClaims(action, signal);
  assert.deepEqual([asked, cache.length, wereReadFor(snapshot)], [["team"], 1, true]);
});

test("a claim that waits to be restored ends the reconcile as a conflict, and is in the cache for the next one", async () => {
  const { readClaims, cache } = setUp([restored]);
  await assert.rejects(readClaims(action, signal), {
    code: "Conflict",
    message: /claim team\/restored is restored from/,
  });
  assert.deepEqual(cache, [restored]);
});

test("so does one that a watch has brought while the list was on its way", async () => {
  const { readClaims, cache } = setUp([]);
  const reading = readClaims(action, signal);
  cache.push(restored);
  await assert.rejects(reading, { code: "Conflict" });
});

test("a list that fails is not remembered", async () => {
  const { readClaims, wereReadFor } = setUp(undefined);
  await assert.rejects(readClaims(action, signal));
  assert.equal(wereReadFor(snapshot), false);
});
