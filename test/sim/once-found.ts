/** A history that a campaign has found once, played again: with the components as they are, and as they were. */
import { judged } from "./campaign.ts";
import type { Sabotage } from "./components.ts";
import { parseFaults } from "./faults/index.ts";
import { scenarioNamed } from "./scenarios.ts";

export interface Found {
  readonly scenario: string;
  readonly seed: number;
  /** As the replay command has it. */
  readonly plan: string;
}

/** The promises that it breaks. */
export async function brokenIn({ scenario, seed, plan }: Found, sabotage: Sabotage = {}): Promise<readonly string[]> {
  const schedule = { scenario: scenarioNamed(scenario), seed, faults: parseFaults(plan), sabotage: () => sabotage };
  return (await judged(schedule)).violations.map(({ id }) => id);
}
