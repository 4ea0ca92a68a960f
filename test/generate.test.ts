import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { generatedFolder, generatedFrom } from "../scripts/generate.ts";

/** That the generator gives these files is tested end to end, where it may be fetched: test/e2e/generate.test.ts. */
test("the generated messages match the protocol files and generators, without manual changes (npm run generate)", () =>
  assert.deepEqual(
    JSON.parse(readFileSync(join(generatedFolder, "generated-from.json"), "utf8")),
    generatedFrom(generatedFolder),
  ));
