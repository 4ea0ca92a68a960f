/** Every scenario of the table, with both drivers on the real control plane and on the embedded server. */
import { after, afterEach, before, describe, test } from "node:test";
import { openScenario, type ScenarioContext } from "./harness/scenario.ts";
import { combinations } from "./harness/snapshot-suites.ts";
import { scenarios } from "./scenarios/index.ts";

for (const stage of combinations)
  describe(`scenario with ${stage.join(" on the ")}`, () => {
    let scene: ScenarioContext;
    before(async () => {
      scene = await openScenario(stage);
    });
    afterEach(() => scene?.restore());
    after(() => scene?.close());

    for (const [name, plays] of Object.entries(scenarios))
      for (const { shows, play } of plays) test(`${name}: ${shows}`, () => play(scene));
  });
