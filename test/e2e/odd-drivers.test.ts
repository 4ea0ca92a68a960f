/** Drivers that answer oddly, all at once, each beside a sidecar of its own on a real control plane. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type OddDriverHarness, openHarness, ours } from "./odd-drivers/harness.ts";
import { play } from "./odd-drivers/play.ts";
import { type Outcome, type Row, rightOf } from "./odd-drivers/row.ts";
import { rows } from "./odd-drivers/rows.ts";

describe("odd drivers", () => {
  let harness: OddDriverHarness;
  let outcomes: readonly Promise<Outcome>[];
  before(async () => {
    harness = await openHarness(ours);
    outcomes = rows.map((row, index) => play(harness, row, `odd-${index}`));
    // Each is looked at by its own test, perhaps long after it has failed.
    for (const outcome of outcomes) outcome.catch(() => undefined);
  });
  after(async () => {
    await Promise.allSettled(outcomes ?? []);
    await harness?.close();
  });

  for (const [index, row] of rows.entries())
    test(`a driver that ${row.driver} ${promiseOf(row)}`, async () => {
      const outcome = await outcomes[index];
      assert.ok(outcome !== undefined);
      const { ready, gone, left, claim } = outcome;
      assert.deepEqual({ ready, gone, left, claim }, rightOf(row), JSON.stringify(outcome));
      if (ready) assert.equal(outcome.error, undefined);
      if (row.says !== undefined) assert.match(outcome.error ?? "", row.says);
      if (row.reports !== undefined) assert.match(outcome.events.join("\n"), row.reports);
      row.shows?.(outcome);
    });
});

function promiseOf(row: Row): string {
  const { ready, left } = rightOf(row);
  const ends = left.length === 0 ? "leaves nothing behind" : "deletes nothing it should not";
  return ready
    ? `gets its snapshot ready, and ${ends}`
    : `does not get it ready, and the user can delete it: it ${ends}`;
}
