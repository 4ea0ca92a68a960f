/** Every single fault at every call of the core scenarios, and all pairs of crashes in two of them. */
import { type FaultRow, faultRows } from "./faults/index.ts";
import { type Outcome, runOne, type Schedule } from "./run-one.ts";
import { type Scenario, scenarios } from "./scenarios.ts";

/** Faults that strike alone: what users do has scenarios of its own. */
const isAlone = ({ family }: FaultRow): boolean => family !== "user";
const pairScenarios = ["delete", "pre-provisioned"];
const pick = 1;

const core = (only: Scenario | undefined): readonly Scenario[] =>
  only === undefined ? scenarios.filter((row) => row.core) : [only];
const boundariesOf = async (scenario: Scenario): Promise<Outcome["boundaries"]> =>
  (await runOne({ scenario, seed: 1, faults: [] })).boundaries;

export async function* everySingleFault(
  only?: Scenario,
  allowed: (row: FaultRow) => boolean = () => true,
): AsyncGenerator<Schedule> {
  const rows = faultRows.filter((row) => isAlone(row) && allowed(row));
  for (const scenario of core(only))
    for (const { n, kind } of await boundariesOf(scenario))
      for (const { name, on } of rows)
        if (on.includes(kind)) yield { scenario, seed: 1, faults: [{ at: n, name, pick }] };
}

/** The second crash is placed at every call from the first on, also at those that only the first one causes. */
export async function* everyCrashPair(only?: Scenario): AsyncGenerator<Schedule> {
  const crashes = ["crash-before", "crash-after-effect", "crash-after-reply"];
  for (const scenario of scenarios
    .filter(({ name }) => pairScenarios.includes(name))
    .filter((row) => (only ?? row) === row)) {
    const count = (await boundariesOf(scenario)).length;
    for (let first = 0; first < count; first++)
      for (let second = first + 1; second < count + 8; second++)
        for (const one of crashes)
          for (const other of crashes)
            yield {
              scenario,
              seed: 1,
              faults: [
                { at: first, name: one, pick },
                { at: second, name: other, pick },
              ],
            };
  }
}
