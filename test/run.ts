/**
 * The test runner: `node test/run.ts <suite|file…>`. One process, node:test, our own report. The last line is always
 * "N passed, N failed, N skipped"; the exit code is 0 only when something ran and nothing failed.
 */
import { globSync } from "node:fs";
import { relative, resolve } from "node:path";
import { run } from "node:test";
import { report } from "./report.ts";

const suites: Readonly<Record<string, readonly string[]>> = {
  unit: ["src/**/*.test.ts", "test/*.test.ts", "test/sim/**/*.test.ts", "test/conformance/**/*.test.ts"],
  tidy: ["test/tidy.test.ts"],
  e2e: ["test/e2e/**/*.test.ts"],
};

const root = resolve(import.meta.dirname, "..");
const wanted = process.argv.slice(2);
const patterns = wanted.flatMap((word) => suites[word] ?? [relative(root, resolve(word))]);
const files = patterns.flatMap((pattern) => globSync(pattern, { cwd: root })).sort();
if (files.length === 0) {
  console.error(`no test file matches ${wanted.join(" ") || "(nothing)"}; suites: ${Object.keys(suites).join(", ")}`);
  process.exit(2);
}

const stream = run({
  cwd: root,
  files: files.map((file) => resolve(root, file)),
  isolation: "none",
  concurrency: false,
});
const counts = await report(stream, process.stdout);
process.exitCode = counts.failed === 0 && counts.passed > 0 ? 0 : 1;
