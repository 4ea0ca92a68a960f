/** The reference is printed from the tables the program runs on; a page that differs is a page that lies. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import { commands } from "../src/cli/commands.ts";
import { referencePages } from "../src/cli/reference.ts";

const folder = resolve(import.meta.dirname, "../docs/reference");
const pages = await referencePages(commands);

for (const [name, text] of Object.entries(pages))
  test(`docs/reference/${name} equals its tables (npm run docs)`, () =>
    assert.equal(readFileSync(resolve(folder, name), "utf8"), text));

test("docs/reference holds no page without a table", () =>
  assert.deepEqual(readdirSync(folder).sort(), Object.keys(pages).sort()));
