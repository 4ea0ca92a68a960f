/** Every single fault at every call of the core scenarios, and all pairs of crashes in two of them. */
import type { ComponentName } from "./components.ts";
import { type FaultRow, faultRows } from "./faults/index.ts";
import { type Outcome, runOne, type Schedule } from "./run-one.ts";
import type { Scenario } from "./scenario.ts";
import { scenarios } from "./scenarios.ts";

/** Faults that strike alone: what users do has scenarios of its own. */
const isAlone = ({ family }: FaultRow): boolean => family !== "user";
const pairScenarios = ["delete", "pre-provisioned"];
const pick = 1;
/** In one variant the sidecar writes the being-created annotation, in the other contents are created with it: see run-one.ts. */
const seeds = [1, 2];

const core = (among: readonly Scenario[] | undefined, component: ComponentName | undefined): readonly Scenario[] =>
  among !== undefined
    ? among
    : scenarios.filter((row) => row.core && (component === undefined || row.components.includes(component)));
const boundariesOf = async (scenario: Scenario, seed: number): Promise<Outcome["boundaries"]> =>
  (await runOne({ scenario, seed, faults: [] })).boundaries;

export async function* everySingleFault(
  among?: readonly Scenario[],
  allowed: (row: FaultRow) => boolean = () => true,
  component?: ComponentName,
): AsyncGenerator<Schedule> {
  const rows = faultRows.filter((row) => isAlone(row) && allowed(row));
  for (const scenario of core(among, component))
    for (const seed of scenario.provisions ? [1] : seeds)
      for (const { n, kind } of await boundariesOf(scenario, seed))
        for (const { name, on, needs } of rows)
          if (on.includes(kind) && (needs === undefined || scenario[needs]))
            yield { scenario, seed, faults: [{ at: n, name, pick }] };
}

/** The second crash is placed at every call from the first on, also at those that only the first one causes. */
export async function* everyCrashPair(among = scenarios): AsyncGenerator<Schedule> {
  const chosen = among.filter(({ name }) => pairScenarios.includes(name));
  for (const scenario of chosen) for (const seed of seeds) yield* crashPairsIn(scenario, seed);
}

const crashes = ["crash-before", "crash-after-effect", "crash-after-reply"];

async function* crashPairsIn(scenario: Scenario, seed: number): AsyncGenerator<Schedule> {
  const count = (await boundariesOf(scenario, seed)).length;
  for (let first = 0; first < count; first++)
    for (let second = first + 1; second < count + 8; second++)
      for (const one of crashes)
        for (const other of crashes)
          yield {
            scenario,
            seed,
            faults: [
              { at: first, name: one, pick },
              { at: second, name: other, pick },
            ],
          };
}
