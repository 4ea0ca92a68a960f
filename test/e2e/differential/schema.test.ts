import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { accepted } from "./accepted.ts";
import { type Runner, startRunner } from "./runner.ts";
import type { Script } from "./script.ts";
import { applyScripts } from "./scripts/applies.ts";
import { componentCallScripts } from "./scripts/component-calls.ts";
import { setUpThings } from "./scripts/custom.ts";
import { defaultScripts } from "./scripts/defaults.ts";
import { definitionScripts } from "./scripts/definitions.ts";
import { patchScripts } from "./scripts/patches.ts";
import { ruleScripts } from "./scripts/rules.ts";
import { snapshotScripts } from "./scripts/snapshots.ts";
import { valueScripts } from "./scripts/values.ts";

const scripts: readonly Script[] = [
  setUpThings,
  ...valueScripts,
  ...defaultScripts,
  ...definitionScripts,
  ...ruleScripts,
  ...snapshotScripts(),
  ...componentCallScripts,
  ...patchScripts,
  ...applyScripts,
];

describe("schemas as the real server reads them", () => {
  let runner: Runner;
  before(async () => {
    runner = await startRunner();
  });
  after(() => runner.stop());
  for (const script of scripts)
    test(`same schemas as the real server: ${script.name}`, async () => {
      const { ours, theirs } = await runner.compare(script);
      assert.deepEqual(ours, theirs);
    });
  test("schemas as the real server: every accepted difference is still one", () =>
    assert.deepEqual(
      accepted.filter((one) => one.where === "schemas" && !runner.needed.has(one)),
      [],
    ));
});
