/** Who tests the tests: a run that misses some must not look like one that passed. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";

const runner = resolve(import.meta.dirname, "run.ts");

async function ran(...texts: readonly string[]): Promise<{ code: number; lines: readonly string[] }> {
  const folder = mkdtempSync(join(tmpdir(), "run-"));
  const files = texts.map((text, index) => {
    const file = join(folder, `given-${index}.test.ts`);
    writeFileSync(file, `import { test } from "node:test";\n${text}`);
    return file;
  });
  const ended = Promise.withResolvers<{ code: number; lines: readonly string[] }>();
  execFile(process.execPath, [runner, ...files], (reason, out) =>
    ended.resolve({ code: reason === null ? 0 : Number(reason.code), lines: out.trimEnd().split("\n") }),
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
    given: "a suite that breaks off before its first test",
    text: `import { describe } from "node:test";\ndescribe("s", () => { throw new Error("no"); });\ntest("a", () => undefined);`,
    code: 1,
    lastLine: "1 passed, 1 failed, 0 skipped",
  },
  {
    given: "a suite in which a test fails",
    text: `import { describe } from "node:test";\ndescribe("s", () => void test("a", () => { throw new Error("no"); }));`,
    code: 1,
    lastLine: "0 passed, 1 failed, 0 skipped",
  },
  {
    given: "a suite whose hook fails",
    text: `import { before, describe } from "node:test";\ndescribe("s", () => {\n  before(() => { throw new Error("no"); });\n  test("a", () => undefined);\n});`,
    code: 1,
    lastLine: "0 passed, 2 failed, 0 skipped",
  },
  {
    given: "a file that does not load",
    text: `import "./nowhere.ts";`,
    code: 1,
    lastLine: "0 passed, 1 failed, 0 skipped",
  },
];
for (const { given, text, code, lastLine } of runs)
  test(`given ${given}, the runner exits with ${code} and ends with "${lastLine}"`, async () => {
    const run = await ran(text);
    assert.deepEqual({ code: run.code, lastLine: run.lines.at(-1) }, { code, lastLine });
  });

test("an argument that matches no test file fails the run before it starts", async () => {
  const ended = Promise.withResolvers<{ code: unknown; said: string }>();
  execFile(process.execPath, [runner, "tidy", "src/no-such.test.ts"], (reason, out, error) =>
    ended.resolve({ code: reason?.code, said: out + error }),
  );
  assert.deepEqual(await ended.promise, {
    code: 2,
    said: "no test file matches src/no-such.test.ts; suites: unit, sim, tidy, e2e\n",
  });
});
