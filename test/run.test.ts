/** Who tests the tests: a run that misses some must not look like one that passed. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";

const runner = resolve(import.meta.dirname, "run.ts");

async function ran(text: string): Promise<{ code: number; lastLine: string | undefined }> {
  const folder = mkdtempSync(join(tmpdir(), "run-"));
  const file = join(folder, "given.test.ts");
  writeFileSync(file, `import { test } from "node:test";\n${text}`);
  const ended = Promise.withResolvers<{ code: number; lastLine: string | undefined }>();
  execFile(process.execPath, [runner, file], (reason, out) =>
    ended.resolve({ code: reason === null ? 0 : Number(reason.code), lastLine: out.trimEnd().split("\n").at(-1) }),
  );
  return ended.promise.finally(() => rmSync(folder, { recursive: true }));
}

const runs: readonly { given: string; text: string; code: number; lastLine: string }[] = [
  { given: "a passing test", text: `test("a", () => undefined);`, code: 0, lastLine: "1 passed, 0 failed, 0 skipped" },
  {
    given: "a failing test",
    text: `test("a", () => { throw new Error("no"); });`,
    code: 1,
    lastLine: "0 passed, 1 failed, 0 skipped",
  },
  {
    given: "a file that breaks off after its first test",
    text: `test("a", () => undefined);\nthrow new Error("no");\ntest("b", () => undefined);`,
    code: 1,
    lastLine: "1 passed, 1 failed, 0 skipped",
  },
  {
    given: "a file that does not load",
    text: `import "./nowhere.ts";`,
    code: 1,
    lastLine: "0 passed, 1 failed, 0 skipped",
  },
];
for (const { given, text, code, lastLine } of runs)
  test(`given ${given}, the runner exits with ${code} and ends with "${lastLine}"`, async () =>
    assert.deepEqual(await ran(text), { code, lastLine }));
