/** Every scenario of the table, with both drivers on the real control plane and on the embedded server. */
import { after, afterEach, before, describe, test } from "node:test";
import { openScene, type Scene } from "./harness/scene.ts";
import { stages } from "./harness/stands.ts";
import { scenarios } from "./scenarios/index.ts";

for (const stage of stages)
  describe(`scenario with ${stage.join(" on the ")}`, () => {
    let scene: Scene;
    before(async () => {
      scene = await openScene(stage);
    });
    afterEach(() => scene?.restore());
    after(() => scene?.close());

    for (const [name, plays] of Object.entries(scenarios))
      for (const { shows, play } of plays) test(`${name}: ${shows}`, () => play(scene));
  });
