/** docs/defects.md names a test for each defect of the programs replaced; a test that was renamed or removed shows here. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";

const docs = resolve(import.meta.dirname, "../docs");
const rows = readFileSync(resolve(docs, "defects.md"), "utf8")
  .split("\n")
  .filter((line) => line.startsWith("|") && !/^\|(-|\s*defect\s*\|)/.test(line));

/** What stands in quotes in a file: names of tests, or, where a table makes them, the part that its row gives. */
const wordsOf = (file: string): readonly string[] =>
  readFileSync(file, "utf8").match(/"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g) ?? [];

const namedIn = (row: string) =>
  [...row.matchAll(/\[[^\]]+\]\(([^)]+\.ts)\) “([^”]+)”/g)].map(([, path = "", words = ""]) => ({
    file: resolve(docs, path),
    words,
  }));

test("each defect in docs/defects.md has a test, and each test that is named there exists", () => {
  assert.ok(rows.length > 0);
  const wrong = rows.flatMap((row) => {
    const named = namedIn(row);
    if (named.length === 0) return [`no test: ${row}`];
    return named
      .filter(({ file, words }) => !existsSync(file) || !wordsOf(file).some((literal) => literal.includes(words)))
      .map(({ file, words }) => `${file} has no test “${words}”`);
  });
  assert.deepEqual(wrong, []);
});
