/** `npm test` and `npm run check`: one stage after the other, each with its name, its time and what it found. The first failure ends it. */
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import packageFile from "../package.json" with { type: "json" };
import { leftOut } from "./left-out.ts";

const root = resolve(import.meta.dirname, "..");

/** The first line of a script is what runs; the binaries come from node_modules, whose folder npm puts into the path. */
const checks: readonly (readonly [string, string])[] = [
  ["format", "biome format ."],
  ["lint", "biome lint --error-on-warnings ."],
  ["types", "tsc --noEmit"],
  ["dead code", "knip --no-progress"],
  ["code that only tests use", "knip --no-progress --production"],
  ["architecture", "node test/run.ts tidy"],
];
const tests: readonly (readonly [string, string])[] = [["unit tests and simulations", "node test/run.ts unit sim"]];

const suites: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  check: checks,
  test: [...checks, ...tests],
};
const [name = ""] = process.argv.slice(2);
const stages = suites[name];
if (stages === undefined) {
  console.error(`no suite ${JSON.stringify(name)}; expected one of ${Object.keys(suites).join(", ")}`);
  process.exit(2);
}

const missing = leftOut(root);
if (missing.length > 0) {
  const [major = ""] = packageFile.devDependencies.node.split(".");
  console.error(
    `snapkeep: npm ci ran on an old Node and left out the binaries of ${missing.join(", ")}; run: npx --yes --package=node@${major} -- npm ci`,
  );
  process.exit(1);
}

for (const [index, [stage, line]] of stages.entries()) {
  console.log(`== ${index + 1}/${stages.length} ${stage}`);
  const startedAt = performance.now();
  const { status } = spawnSync(line, { shell: true, cwd: root, stdio: "inherit" });
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  if (status === 0) console.log(`   ${stage}: good, ${seconds} s`);
  else {
    console.error(`   ${stage}: failed after ${seconds} s; alone: npx ${line}`);
    process.exit(1);
  }
}
