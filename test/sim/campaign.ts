/** Many schedules from seeds: which scenario and which faults a seed means, and what a campaign of them found. */
import { diceFrom } from "../virtual-world.ts";
import type { ComponentName } from "./components.ts";
import { drawFaults, type FaultRow, type PlannedFault } from "./faults/index.ts";
import type { Violation } from "./monitors/index.ts";
import { type Outcome, runOne, type Schedule } from "./run-one.ts";
import type { Scenario } from "./scenario.ts";
import { scenarios } from "./scenarios.ts";
import type { BoundaryKind } from "./verdict.ts";

export interface SeedOptions {
  /** Draws only from these. */
  readonly among?: readonly Scenario[] | undefined;
  /** Draws only from scenarios in which this component runs. */
  readonly component?: ComponentName | undefined;
  /** Which faults may be drawn. */
  readonly allowed?: ((row: FaultRow) => boolean) | undefined;
}

interface Reference {
  readonly calls: readonly BoundaryKind[];
  readonly endState: string;
}
const references = new Map<string, Promise<Reference>>();

/** The same script without faults: which calls it makes, and how it ends. */
export function referenceOf(scenario: Scenario): Promise<Reference> {
  const known = references.get(scenario.name);
  if (known !== undefined) return known;
  const made = runOne({ scenario, seed: 1, faults: [] }).then(({ boundaries, endState }) => ({
    calls: boundaries.map(({ kind }) => kind),
    endState: endState(),
  }));
  references.set(scenario.name, made);
  return made;
}

export async function scheduleOf(
  seed: number,
  { among, component, allowed = () => true }: SeedOptions = {},
): Promise<Schedule> {
  const dice = diceFrom(seed * 7 + 1);
  const chosen = drawScenario(dice(), among ?? drawnBySeed(component));
  const { calls } = await referenceOf(chosen);
  const isPossible = ({ needs }: FaultRow): boolean => needs === undefined || Boolean(chosen[needs]);
  return { scenario: chosen, seed, faults: drawFaults(dice, calls, (row) => isPossible(row) && allowed(row)) };
}

const drawnBySeed = (component: ComponentName | undefined): readonly Scenario[] =>
  scenarios.filter(
    ({ weight, components }) => weight > 0 && (component === undefined || components.includes(component)),
  );

function drawScenario(lot: number, among: readonly Scenario[]): Scenario {
  // Whoever names a scenario that seeds never draw wants it as often as the others.
  const shares = among.map((scenario) => ({ scenario, share: scenario.weight || 1 }));
  let left = lot * shares.reduce((sum, { share }) => sum + share, 0);
  const drawn = shares.find(({ share }) => {
    left -= share;
    return left < 0;
  });
  if (drawn === undefined) throw new Error("there are no scenarios");
  return drawn.scenario;
}

/** Runs it, and compares its end with that of the same script without faults; users' own changes make another script. */
export async function judged(schedule: Schedule): Promise<Outcome> {
  const outcome = await runOne(schedule);
  if (outcome.violations.length > 0 || outcome.endsOtherwise || !schedule.scenario.repeatable(outcome)) return outcome;
  const [end, { endState }] = [outcome.endState(), await referenceOf(schedule.scenario)];
  if (end === endState) return outcome;
  const text = `the end differs from that without faults:\n${end}\ninstead of\n${endState}`;
  const violation: Violation = { id: "O-2", text, counter: undefined };
  return { ...outcome, violations: [violation] };
}

/** Drops faults as long as the same promise stays broken: first halves, then single ones. */
export async function shrink(schedule: Schedule, id: string): Promise<Schedule> {
  const stillFails = async (faults: readonly PlannedFault[]): Promise<boolean> =>
    (await judged({ ...schedule, faults })).violations.some((violation) => violation.id === id);
  let faults = schedule.faults;
  for (let size = Math.ceil(faults.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let at = 0; at < faults.length; ) {
      const fewer = [...faults.slice(0, at), ...faults.slice(at + size)];
      if (await stillFails(fewer)) faults = fewer;
      else at += size;
    }
  return { ...schedule, faults };
}
