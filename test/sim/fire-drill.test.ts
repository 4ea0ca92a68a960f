import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("run.ts", import.meta.url));
/** The words of a command line as a shell takes them apart. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => quoted ?? word);

const sim = (args: readonly string[]): Promise<{ code: number; lines: readonly string[] }> =>
  new Promise((resolve) => {
    const child = execFile(process.execPath, [program, ...args], { maxBuffer: 2 ** 26 }, (_, text) =>
      resolve({ code: child.exitCode ?? -1, lines: text.split("\n").map((line) => line.trim()) }),
    );
  });

test("the report of a violation has the promise, the command that repeats it, and the calls and writes", async () => {
  const { code, lines } = await sim(["--bug", "treats an unknown outcome", "--seeds", "60", "--failures", "1"]);
  assert.equal(code, 1);
  const broken = lines.findIndex((line) => /^seed \d+, quick-delete: I-\d+ is broken \(/.test(line));
  assert.notEqual(broken, -1);
  const [command = "", ...others] = lines.filter((line) => line.startsWith("npm run sim -- "));
  assert.deepEqual(others, []);
  const trace = lines.filter((line) => /^\d+\.\d ms {2}/.test(line));
  for (const sort of ["[fault]", "[call]", "→ CreateSnapshot", "POST VolumeSnapshotContent"])
    assert.ok(
      trace.some((line) => line.includes(sort)),
      sort,
    );

  const again = await sim(wordsOf(command).slice(4));
  assert.equal(again.code, 1);
  assert.ok(again.lines.includes(lines[broken + 1] ?? ""), "the same is broken");
  assert.deepEqual(again.lines.filter((line) => trace.includes(line)).slice(0, trace.length), trace);
});
