/**
 * `npm run bench` lists the benchmarks, `npm run bench -- <name>… [--option…]` runs those named. Figures of two programs
 * are taken in one run, turn by turn, because only their ratio says something on another machine.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { benchmarks } from "./benchmarks.ts";

const words = process.argv.slice(2);
/** Options whose value is a number. */
const numbers = ["--objects=", "--rounds="];
const isOption = (word: string): boolean => word.startsWith("-");
const wanted = words.filter((word) => !isOption(word));
/** The keys are names; "--against=dist" is "--against=" with the value "dist". */
const options = new Map(
  words.filter(isOption).map((word) => {
    const end = word.indexOf("=") + 1;
    return end === 0 ? [word, ""] : [word.slice(0, end), word.slice(end)];
  }),
);

if (wanted.length === 0 || options.has("--help") || options.has("-h")) console.log(usage());
else {
  const wrong = wanted.flatMap(mistakesIn);
  if (wrong.length > 0) {
    console.error(`${wrong.join("\n")}\nsee npm run bench -- --help`);
    process.exitCode = 2;
  } else for (const name of wanted) await measure(name);
}

function usage(): string {
  const reported = Object.entries(benchmarks).map(([name, { about, options: known }]) =>
    [`  ${name}: ${about}`, ...Object.entries(known).map(([option, does]) => `    ${option.padEnd(11)} ${does}`)].join(
      "\n",
    ),
  );
  return [
    "npm run bench -- <name>… [--option…]",
    "",
    ...reported,
    "",
    "Example: npm run bench -- snapshots --quick",
  ].join("\n");
}

function mistakesIn(name: string): readonly string[] {
  const known = benchmarks[name]?.options;
  if (known === undefined) return [`no benchmark is called ${name}; known: ${Object.keys(benchmarks).join(", ")}`];
  return [...options].flatMap(([option, value]) => {
    if (!(option in known))
      return [`${name} has no option ${option}; known: ${Object.keys(known).join(", ") || "none"}`];
    const isWrong = numbers.includes(option) && !/^[1-9]\d*$/.test(value);
    return isWrong ? [`${option}${value} is not a number of at least 1; try ${option}10`] : [];
  });
}

async function measure(name: string): Promise<void> {
  const benchmark = benchmarks[name];
  if (benchmark === undefined) return;
  if (benchmark.needsPeers) installPeers();
  console.log(`# ${name}: ${benchmark.about}`);
  const { run } = await benchmark.load();
  await run(options);
}

function installPeers(): void {
  const folder = import.meta.dirname;
  if (existsSync(join(folder, "node_modules"))) return;
  console.log("installing what is compared with (npm ci in bench/)");
  const { status } = spawnSync("npm", ["ci", "--silent", "--no-audit", "--no-fund"], { cwd: folder, stdio: "inherit" });
  if (status !== 0) throw new Error("npm ci failed in bench/; run it by hand to see why");
}
