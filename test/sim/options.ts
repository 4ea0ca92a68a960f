/** The flags of `npm run sim`. */
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { flagHelp, numbersIn, outputOf, type Parsed, stringsFor } from "../flags.ts";
import type { Bug } from "./bugs/bug.ts";
import { bugNamed } from "./bugs/index.ts";
import { type ComponentName, componentNames } from "./components.ts";
import { type FaultRow, families, faultNamed, type PlannedFault, parseFaults } from "./faults/index.ts";
import type { Scenario } from "./scenario.ts";
import { scenarioNamed, scenarios } from "./scenarios.ts";

export interface SimOptions {
  /** Seeds from the first to the one before `from + seeds`. */
  readonly from: number;
  readonly seeds: number;
  /** Draws only from these. */
  readonly among: readonly Scenario[] | undefined;
  /** Only scenarios in which it runs. */
  readonly component: ComponentName | undefined;
  /** Instead of what the seed draws. */
  readonly plan: readonly PlannedFault[] | undefined;
  /** Seeded into the components. */
  readonly bug: Bug | undefined;
  readonly exhaustive: boolean;
  readonly trace: boolean;
  readonly failures: number;
  readonly minutes: number;
  /** Processes that judge; 0: this one. */
  readonly workers: number;
  allowed(row: FaultRow): boolean;
}

const numbers = {
  seeds: { value: 1_000, help: "how many schedules" },
  from: { value: 1, help: "the first seed" },
  failures: { value: 5, help: "stop after this many schedules with violations" },
  minutes: { value: 1_440, help: "stop after this time", partly: true },
  workers: { value: availableParallelism(), help: "number of processes; 0 runs in this process" },
} as const;

export const usage = `npm run sim [-- flags]

Runs the production components, the embedded API server and a simulated CSI driver on a virtual clock, with 3 to 20 faults per
schedule, and checks every promise of docs/reliability.md after each step and at the end. A seed determines a schedule: the same seed
gives the same history, byte for byte. A schedule that violates a promise is shrunk and printed with its trace and the command that repeats it.

${flagHelp(numbers)}
  --seed N            run only this seed, in this process
  --scenario NAME,…   draw only from these scenarios; a single one runs with every seed
  --component NAME    draw only scenarios in which this component runs: ${componentNames.join(", ")}
  --faults NAME,…     inject only these faults, by family or by name
  --plan AT:NAME:PICK,…
                      inject exactly these faults, as printed with a violation
  --bug WORDS         run with a seeded bug, selected by words of its name, to see how the simulation finds it (in this process)
  --exhaustive        every single fault at every call of the core scenarios, then all pairs of crashes in two of them
  --trace             print the calls and writes of every schedule
  -o, --output text|json
                      output format; progress goes to standard error (default text)
  -h, --help          this text

Scenarios: ${listed(scenarios.map(({ name }) => name))}
Families of faults: ${listed(families)}

Examples:
  npm run sim -- --seeds 10000
  npm run sim -- --seed 144 --trace
  npm run sim -- --seeds 500 --scenario retain --faults crash,watch
  npm run sim -- --exhaustive --minutes 5
  npm run sim -- --seeds 10000 --component csi-provisioner
  npm run sim -- --seeds 10000 --scenario restore,restore-then-delete
  npm run sim -- --bug "takes readiness back" --failures 1
  npm run -s sim -- --seeds 300000 -o json > result.json

Exit code: 0 without violations, 1 with violations, 2 for an invalid flag.
`;

function listed(names: readonly string[]): string {
  return names.join(", ").replace(/(.{90,120}?,) /g, "$1\n  ");
}

const texts = {
  seed: { type: "string" },
  scenario: { type: "string" },
  component: { type: "string" },
  faults: { type: "string" },
  plan: { type: "string" },
  bug: { type: "string" },
  exhaustive: { type: "boolean", default: false },
  trace: { type: "boolean", default: false },
  output: { type: "string", short: "o" },
  help: { type: "boolean", short: "h" },
} as const;

export function parseOptions(args: readonly string[]): Parsed<SimOptions> {
  try {
    const { values } = parseArgs({ args: [...args], options: { ...stringsFor(numbers), ...texts } });
    if (values.help === true) return { kind: "help" };
    const { plan, exhaustive, trace } = values;
    const bug = values.bug === undefined ? undefined : bugNamed(values.bug);
    const scenario = values.scenario ?? bug?.scenario;
    const among = scenario?.split(",").map(scenarioNamed);
    const many = numbersIn(numbers, values);
    const one = values.seed === undefined ? {} : { from: seedOf(values.seed), seeds: 1, workers: 0 };
    const options = {
      ...many,
      ...one,
      ...(bug === undefined ? {} : { workers: 0 }),
      among,
      component: componentNamed(values.component),
      plan: plan === undefined ? undefined : parseFaults(plan),
      bug,
      exhaustive,
      trace,
      allowed: allowedBy(values.faults?.split(",")),
    };
    return { kind: "run", options, output: outputOf(values.output) };
  } catch (reason) {
    return { kind: "wrong", why: (reason as Error).message };
  }
}

function componentNamed(name: string | undefined): ComponentName | undefined {
  const found = componentNames.find((known) => known === name);
  if (name !== undefined && found === undefined)
    throw new Error(`there is no component "${name}"; there are ${componentNames.join(", ")}`);
  return found;
}

const seedOf = (seed: string): number => numbersIn({ seed: { value: 1, help: "" } }, { seed }).seed;

function allowedBy(words: readonly string[] | undefined): (row: FaultRow) => boolean {
  for (const word of words ?? []) if (!families.some((family) => family === word)) faultNamed(word);
  return ({ family, name }) => words === undefined || words.includes(family) || words.includes(name);
}
