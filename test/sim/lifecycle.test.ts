import assert from "node:assert/strict";
import { test } from "node:test";
import { runOne } from "./run-one.ts";
import { scenarios } from "./scenarios.ts";

/** The larger ones take seconds: thousands.sim.ts has them. */
for (const scenario of scenarios.filter(({ entriesMax }) => entriesMax < 10_000))
  test(`without faults, ${scenario.name} comes to rest without a violation`, async () => {
    const { violations, trace, entries } = await runOne({ scenario, seed: 1, faults: [] });
    assert.deepEqual(violations, [], trace().join("\n"));
    assert.ok(!entries.some((entry) => entry.type === "note" && entry.text === "waits no longer"), trace().join("\n"));
  });
