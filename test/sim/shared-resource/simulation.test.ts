import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { bugs } from "./bugs.ts";
import { simulate } from "./simulation.ts";

const seeds = 40;

suite("simulation of shares", () => {
  test(`R73: ${seeds} schedules of shares, sources and permissions that come and go under faults break no promise`, async () => {
    const sum = { published: 0, refused: 0, shown: 0, kills: 0 };
    for (let seed = 1; seed <= seeds; seed++) {
      const { violations, ...counts } = await simulate(seed);
      assert.deepEqual(violations, [], `seed ${seed}`);
      for (const key of Object.keys(sum) as (keyof typeof sum)[]) sum[key] += counts[key];
    }
    // A simulation in which nothing happens finds nothing.
    for (const [what, count] of Object.entries(sum)) assert.ok(count > seeds / 2, `${what}: ${count}`);
  });

  test(`${seeds} schedules break no promise where the driver watches roles and bindings`, async () => {
    for (let seed = 1; seed <= seeds; seed++)
      assert.deepEqual((await simulate(seed, {}, { watchesRoles: true })).violations, [], `seed ${seed}`);
  });

  for (const { name, breaks, seedsMax, sabotage } of bugs)
    test(`a driver that ${name} is found out`, async () => {
      for (let seed = 1; seed <= seedsMax; seed++) {
        const { violations } = await simulate(seed, sabotage());
        const [first] = violations;
        if (first === undefined) continue;
        assert.ok(
          breaks.some((rule) => first.startsWith(rule)),
          first,
        );
        return;
      }
      assert.fail(`none of ${seedsMax} seeds found it`);
    });
});
