import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { generate, generatedFolder } from "../../scripts/generate.ts";

test("the generated messages are those that the protocol files give (npm run generate)", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "sk-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  generate(folder);
  assert.deepEqual(filesIn(folder), filesIn(generatedFolder));
});

const filesIn = (folder: string): readonly (readonly [string, string])[] =>
  readdirSync(folder)
    .sort()
    .map((name) => [name, readFileSync(join(folder, name), "utf8")]);
