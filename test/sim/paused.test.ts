/** A leader is stopped with a write or a call in hand, for which there is no connection yet, and another one takes over. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { judged } from "./campaign.ts";
import type { Sabotage } from "./components.ts";
import { parseFaults } from "./faults/index.ts";
import { scenarioNamed } from "./scenarios.ts";

const scenario = scenarioNamed("two-leaders");
/** Writes and calls of a create, spread over its whole length. */
const moments = Array.from({ length: 22 }, (_, index) => 3 * index);
/** Stopped for long enough to lose the lease. */
const twentySeconds = 4;

/** Who sends what it may not, wherever in the life of a snapshot the leader is stopped. */
async function sentOutOfTurn(sabotage: Sabotage): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const at of moments) {
    const faults = parseFaults(`${at}:paused-before-sending:${twentySeconds}`);
    const { violations } = await judged({ scenario, seed: 1, faults, sabotage: () => sabotage });
    for (const { id, text } of violations) found.add(`${id}: ${text}`);
  }
  return [...found].sort();
}

test("a leader that was stopped before sending sends nothing after it continues, to the API server or the driver", async () =>
  assert.deepEqual(await sentOutOfTurn({}), []));

test("without the second leadership check the leader would call the driver", async () =>
  assert.deepEqual(await sentOutOfTurn({ sendsUnasked: "ofCall" }), [
    "I-37: csi-snapshotter.3 acts while csi-snapshotter.4 leads",
  ]));

test("without the second leadership check the leader would write", async () => {
  const found = await sentOutOfTurn({ sendsUnasked: "ofRequest" });
  assert.ok(found.includes("I-37: snapshot-controller.1 acts while snapshot-controller.2 leads"), found.join("; "));
});
