import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { accepted } from "./accepted.ts";
import { type Hooks, startHooks } from "./hooks.ts";
import { type Runner, startRunner } from "./runner.ts";
import { webhookScripts } from "./scripts/webhooks.ts";

let hooks: Hooks;
let runner: Runner;
describe("webhooks as in the real server", () => {
  before(async () => {
    hooks = await startHooks();
    runner = await startRunner({}, { HOOKS: hooks.url, BUNDLE: hooks.caBundle });
  });
  after(() => {
    runner?.stop();
    hooks?.close();
  });

  for (const script of webhookScripts)
    test(`same webhook behaviour as the real server: ${script.name}`, async () => {
      const { ours, theirs } = await runner.compare(script);
      assert.deepEqual(ours, theirs);
    });

  test("webhooks as the real server: every accepted difference is still one", () =>
    assert.deepEqual(
      accepted.filter((one) => one.where === "webhooks" && !runner.needed.has(one)),
      [],
    ));
});
