/**
 * The test runner: `node test/run.ts <suite|file…>`. One process, node:test, our own report. The last line is always
 * "N passed, N failed, N skipped"; the exit code is 0 only when something ran and nothing failed.
 */
import { globSync } from "node:fs";
import { relative, resolve } from "node:path";
import { run } from "node:test";
import { pathToFileURL } from "node:url";
import { report } from "./report.ts";

const suites: Readonly<Record<string, readonly string[]>> = {
  unit: ["src/**/*.test.ts", "test/*.test.ts", "test/{sim,conformance,explain}/**/*.test.ts"],
  sim: ["test/sim/*.sim.ts"],
  tidy: ["test/{tidy,style-tidy,tidy-e2e,architecture}.test.ts"],
  e2e: ["test/e2e/**/*.test.ts"],
};

const root = resolve(import.meta.dirname, "..");
const wanted = process.argv.slice(2);
const filesOf = (word: string): readonly string[] =>
  (suites[word] ?? [relative(root, resolve(word))]).flatMap((pattern) => globSync(pattern, { cwd: root }));
// Each argument by itself, so that a mistyped file beside a suite is reported.
const missed = wanted.filter((word) => filesOf(word).length === 0);
if (missed.length > 0 || wanted.length === 0) {
  console.error(`no test file matches ${missed.join(" ") || "(nothing)"}; suites: ${Object.keys(suites).join(", ")}`);
  process.exit(2);
}
const found = [...new Set(wanted.flatMap(filesOf))].sort();

const { files, notice, ...counted } = await prepared(found);
if (notice !== undefined) console.error(notice);
const counts = await report(files.length === 0 ? nothing() : testing(files), process.stdout, { passed: 0, ...counted });
// Not by itself: what a test has left running would keep the process alive.
process.exit(counts.failed === 0 && counts.passed > 0 ? 0 : 1);

async function* testing(paths: readonly string[]) {
  const absolute = paths.map((path) => resolve(root, path));
  const failed = new Set<string>();
  for await (const event of run({ cwd: root, isolation: "none", concurrency: false, files: absolute })) {
    if (event.type === "test:fail") failed.add(event.data.name);
    yield event;
  }
  for (const file of absolute) if (!failed.has(file)) yield* brokenOff(file);
}

/**
 * node:test says nothing of a file that throws after it has declared its first tests: the others would just be missing.
 * A module that failed to load fails again, with the same error, when it is asked for again; one that loaded costs nothing.
 */
async function* brokenOff(file: string) {
  try {
    await import(pathToFileURL(file).href);
  } catch (error) {
    yield { type: "test:fail", data: { name: `${file} loads`, nesting: 0, details: { duration_ms: 0, error } } };
  }
}

async function* nothing() {}

/** Only end-to-end suites need something of the machine; the others must not even load the harness. */
async function prepared(all: readonly string[]) {
  if (!all.some((file) => file.startsWith("test/e2e/")))
    return { files: all, failed: 0, skipped: 0, notice: undefined };
  return (await import("./e2e/harness/prepare.ts")).prepare(all);
}
