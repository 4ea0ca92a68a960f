/**
 * `npm run bench` lists the benchmarks, `npm run bench -- <name>… [--option…]` runs those named. Figures of two programs
 * are taken in one run, turn by turn, because only their ratio says something on another machine.
 */
import { spawnSync } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { basename, join } from "node:path";

export interface Bench {
  /** What is compared with what, in one line. */
  readonly about: string;
  /** Uses the packages of bench/package.json, which are not those of snapkeep. */
  readonly needsPeers: boolean;
  /** What `--option`s it knows, each with what it does. */
  readonly options?: Readonly<Record<string, string>>;
  run(options: ReadonlySet<string>): Promise<void>;
}

const folder = import.meta.dirname;
const names = globSync("*.bench.ts", { cwd: folder })
  .map((file) => basename(file, ".bench.ts"))
  .sort();
const isOption = (word: string): boolean => word.startsWith("--");
const wanted = process.argv.slice(2).filter((word) => !isOption(word));
const options = new Set(process.argv.slice(2).filter(isOption));
const unknown = wanted.filter((name) => !names.includes(name));

const load = async (name: string): Promise<Bench> => (await import(`./${name}.bench.ts`)) as Bench;

if (unknown.length > 0) {
  console.error(`no benchmark is called ${unknown.join(", ")}; known: ${names.join(", ")}`);
  process.exitCode = 2;
} else if (wanted.length === 0) {
  console.log("usage: npm run bench -- <name>… [--option…]");
  for (const name of names) {
    const bench = await load(name);
    console.log(`  ${name}: ${bench.about}`);
    for (const [option, does] of Object.entries(bench.options ?? {})) console.log(`    ${option}: ${does}`);
  }
} else {
  for (const name of wanted) {
    const bench = await load(name);
    if (bench.needsPeers) installPeers();
    console.log(`# ${name}: ${bench.about}`);
    await bench.run(knownTo(bench));
  }
}

function knownTo({ options: known = {} }: Bench): ReadonlySet<string> {
  const strange = [...options].filter((option) => !(option in known));
  if (strange.length > 0)
    throw new Error(`no option ${strange.join(", ")}; known: ${Object.keys(known).join(", ") || "none"}`);
  return options;
}

function installPeers(): void {
  if (existsSync(join(folder, "node_modules"))) return;
  console.log("installing what is compared with (npm ci in bench/)");
  const { status } = spawnSync("npm", ["ci", "--silent", "--no-audit", "--no-fund"], { cwd: folder, stdio: "inherit" });
  if (status !== 0) throw new Error("npm ci failed in bench/; run it by hand to see why");
}
