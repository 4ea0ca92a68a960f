import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Hooks, startHooks } from "./hooks.ts";
import { type Runner, startRunner } from "./runner.ts";
import { webhookScripts } from "./scripts/webhooks.ts";

let hooks: Hooks;
let runner: Runner;
before(async () => {
  hooks = await startHooks();
  runner = await startRunner({}, { HOOKS: hooks.url, BUNDLE: hooks.caBundle });
});
after(() => {
  runner?.stop();
  hooks?.close();
});

for (const script of webhookScripts)
  test(`webhooks as the real server: ${script.name}`, async () => {
    const { ours, theirs } = await runner.compare(script);
    assert.deepEqual(ours, theirs);
  });
