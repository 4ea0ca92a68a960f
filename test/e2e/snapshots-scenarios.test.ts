/** Every scenario of the table, with both drivers on the real control plane and on the embedded server. */
import { after, afterEach, before, describe, test } from "node:test";
import { openScenario, type ScenarioContext } from "./harness/scenario.ts";
import { combinations } from "./harness/snapshot-suites.ts";
import { scenarios } from "./scenarios/index.ts";

for (const harness of combinations)
  describe(`scenario with ${harness.join(" on the ")}`, () => {
    let played: ScenarioContext;
    before(async () => {
      played = await openScenario(harness);
    });
    afterEach(() => played?.restore());
    after(() => played?.close());

    for (const [name, plays] of Object.entries(scenarios))
      for (const { shows, play } of plays) test(`${name}: ${shows}`, () => play(played));
  });
