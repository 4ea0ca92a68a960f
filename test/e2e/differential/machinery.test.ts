import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type Runner, startRunner } from "./runner.ts";
import { machineryScripts } from "./scripts/machinery.ts";

describe("the machinery of every kind as in the real server", () => {
  let runner: Runner;
  before(async () => {
    runner = await startRunner();
  });
  after(() => runner.stop());
  for (const script of machineryScripts)
    test(`same behaviour as the real server: ${script.name}`, async () => {
      const { ours, theirs } = await runner.compare(script);
      assert.deepEqual(ours, theirs);
    });
});
