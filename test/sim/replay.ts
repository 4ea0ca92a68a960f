/** How a person repeats one schedule. */
import { printFaults } from "./faults/index.ts";
import type { Schedule } from "./run-one.ts";

export const replayCommand = ({ scenario: { name }, seed, faults }: Schedule): string =>
  `npm run sim -- --seed ${seed} --scenario ${name} --plan ${printFaults(faults) || '""'} --trace`;
