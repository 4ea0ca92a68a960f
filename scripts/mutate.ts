/**
 * `npm run mutate`: small random mutations of the folders that decide what happens to a cluster, each in a copy of the tree, and the unit
 * tests concerned. What no test fails on survives, and is printed. The seed draws the same mutations again.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { equivalents } from "./mutate/equivalent.ts";
import { type Mutation, mutated, mutationsOf } from "./mutate/mutations.ts";

const root = resolve(import.meta.dirname, "..");
const shared = ["test/install-table.test.ts"];
/** The folders, and the tests concerned: the quick ones first. */
const tests: Readonly<Record<string, readonly (readonly string[])[]>> = {
  "src/cli/install": [
    globSync("src/cli/install/*.test.ts", { cwd: root }).sort(),
    ["test/docs.test.ts", "src/cli/deploy.test.ts", "src/cli/sharing-manifests.test.ts"],
    shared,
  ],
  "src/cli/migrate": [globSync("src/cli/migrate/*.test.ts", { cwd: root }).sort(), shared],
};
const copied = [
  "src",
  "test",
  "scripts",
  "deploy",
  "docs",
  "package.json",
  "tsconfig.json",
  "README.md",
  "CHANGELOG.md",
];
/** A mutation may make a test wait for ever. */
const msMax = 180_000;

interface Mutant extends Mutation {
  readonly file: string;
  readonly source: string;
}

interface Result {
  readonly mutant: Mutant;
  readonly end: "caught" | "survived" | "equivalent";
  readonly says: string;
}

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    count: { type: "string", default: "100" },
    file: { type: "string", default: "" },
    record: { type: "boolean", default: false },
  },
});

const cache = join(tmpdir(), `snapkeep-mutate-cache-${process.pid}`);
const running = new Set<ChildProcess>();
const folders: string[] = [];
const cleanUp = (): void => {
  for (const child of running) stop(child);
  for (const folder of [...folders.splice(0), cache]) rmSync(folder, { recursive: true, force: true });
};
process.on("exit", cleanUp);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(130));

function copyOfTree(): string {
  const folder = mkdtempSync(join(tmpdir(), "snapkeep-mutate-"));
  folders.push(folder);
  for (const name of copied) cpSync(join(root, name), join(folder, name), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  return folder;
}

function stop(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

/** The first test that fails; undefined: all pass. */
function failureOf(folder: string, files: readonly string[]): Promise<string | undefined> {
  return new Promise((done) => {
    const env = { ...process.env, NODE_COMPILE_CACHE: cache };
    const child = spawn(process.execPath, ["test/run.ts", ...files], { cwd: folder, detached: true, env });
    running.add(child);
    let said = "";
    let found: string | undefined;
    const timer = setTimeout(() => end("does not end"), msMax);
    const end = (failure: string | undefined): void => {
      found ??= failure;
      stop(child);
    };
    const read = (chunk: unknown): void => {
      said += String(chunk);
      const failed = /^FAILED: (.*)$/m.exec(said)?.[1];
      if (failed !== undefined) end(failed.replaceAll(`${folder}/`, ""));
    };
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
    child.on("close", (code) => {
      clearTimeout(timer);
      running.delete(child);
      done(found ?? (code === 0 ? undefined : `exit code ${code}: ${said.trim().split("\n").at(-1)}`));
    });
  });
}

async function firstFailure(folder: string, file: string): Promise<string | undefined> {
  for (const files of tests[dirname(file)] ?? []) {
    const failure = await failureOf(folder, files);
    if (failure !== undefined) return failure;
  }
  return undefined;
}

const lineOf = (text: string, at: number): string =>
  text.slice(text.lastIndexOf("\n", at - 1) + 1, (text.indexOf("\n", at) + 1 || text.length + 1) - 1).trim();

function knownReason({ file, source, ...mutation }: Mutant): string | undefined {
  const [line, other] = [source, mutated(source, mutation)].map((text) => lineOf(text, mutation.start));
  return equivalents.find((one) => one.file === file && one.line === line && one.mutated === other)?.why;
}

async function judge(mutant: Mutant, folder: string): Promise<Result> {
  const why = knownReason(mutant);
  if (why !== undefined) return { mutant, end: "equivalent", says: why };
  const path = join(folder, mutant.file);
  writeFileSync(path, mutated(mutant.source, mutant));
  const failure = await firstFailure(folder, mutant.file);
  writeFileSync(path, mutant.source);
  return { mutant, end: failure === undefined ? "survived" : "caught", says: failure ?? "" };
}

function textOf({ mutant: { file, source, kind, start, ...more }, says }: Result): string {
  const line = source.slice(0, start).split("\n").length;
  const [before, after] = [source, mutated(source, { kind, start, ...more })].map((text) => lineOf(text, start));
  return `${file}:${line} (${kind})\n    ${before}\n    ${after}${says === "" ? "" : `\n    ${says}`}`;
}

/** As many of each kind, so that what is easily caught does not hide the rest. */
function drawn(all: readonly Mutant[], count: number, seed: number): readonly Mutant[] {
  const random = diceFrom(seed);
  const kinds = [...Map.groupBy(all, ({ kind }) => kind).values()].map((mutants) => shuffled(mutants, random));
  const result: Mutant[] = [];
  for (let index = 0; result.length < Math.min(count, all.length); index += 1) {
    const next = kinds[index % kinds.length]?.pop();
    if (next !== undefined) result.push(next);
  }
  return result;
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const result = [...items];
  for (let index = result.length - 1; index > 0; index -= 1) {
    const other = Math.floor(random() * (index + 1));
    [result[index], result[other]] = [result[other] as T, result[index] as T];
  }
  return result;
}

function diceFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const files = Object.keys(tests)
  .flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: root }))
  .filter((file) => !file.endsWith(".test.ts") && (values.file === "" || file === values.file))
  .sort();
const all = files.flatMap((file): readonly Mutant[] => {
  const source = readFileSync(join(root, file), "utf8");
  return mutationsOf(source).map((mutation) => ({ file, source, ...mutation }));
});
const outdated = equivalents.filter(
  ({ file, line }) =>
    !readFileSync(join(root, file), "utf8")
      .split("\n")
      .some((text) => text.trim() === line),
);
if (outdated.length > 0) {
  console.error(`scripts/mutate/equivalent.ts has lines that are gone: ${outdated.map(({ line }) => line).join("; ")}`);
  process.exit(2);
}

const lanes = Array.from({ length: Math.min(2, cpus().length) }, copyOfTree);
for (const folder of Object.keys(tests)) {
  const failure = await firstFailure(lanes[0] ?? "", `${folder}/any.ts`);
  if (failure === undefined) continue;
  console.error(`without a mutation this fails: ${failure}`);
  process.exit(2);
}
const queue = [...drawn(all, Number(values.count), Number(values.seed))];
const results: Result[] = [];
await Promise.all(
  lanes.map(async (folder) => {
    for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
      const result = await judge(mutant, folder);
      results.push(result);
      console.error(`${results.length}: ${result.end}: ${mutant.file} (${mutant.kind})`);
    }
  }),
);

const ended = (end: Result["end"]): readonly Result[] => results.filter((result) => result.end === end);
const [caught, survived, equivalent] = [ended("caught"), ended("survived"), ended("equivalent")];
const listed = (title: string, some: readonly Result[]): readonly string[] =>
  some.length === 0 ? [] : ["", `${title}:`, ...some.map(textOf).sort()];
const report = [
  `npm run mutate -- --seed ${values.seed} --count ${values.count}: of ${results.length} mutations, drawn from ${all.length} in ${files.length} files, ${caught.length} were caught, ${survived.length} survived, ${equivalent.length} are known to change nothing.`,
  ...listed("survived", survived),
  ...listed("change nothing", equivalent),
  ...listed("caught, and by which test first", caught),
  "",
].join("\n");
console.log(report);
if (values.record) writeFileSync(join(root, "docs/results/mutations.txt"), report);
process.exit(survived.length * 20 > results.length ? 1 : 0);
