/** How a person repeats one schedule. */
import type { Bug } from "./bugs/bug.ts";
import { printFaults } from "./faults/index.ts";
import type { Schedule } from "./run-one.ts";

export const replayCommand = ({ scenario: { name }, seed, faults }: Schedule, bug?: Bug): string => {
  const seeded = bug === undefined ? "" : ` --bug "${bug.name}"`;
  return `npm run sim -- --seed ${seed} --scenario ${name} --plan ${printFaults(faults) || '""'} --trace${seeded}`;
};
