/** Wall clocks jump; what measures durations must not notice. */
import { boundaryKinds, pass } from "../verdict.ts";
import { type FaultRow, oneOf } from "./fault.ts";

const hourMs = 3_600_000;

export const clockFaults: readonly FaultRow[] = [
  {
    name: "clock-jumps",
    family: "clock",
    on: boundaryKinds,
    strike: ({ world, draw }) => {
      world.jump(oneOf(draw, [-hourMs, -5_000, 5_000, hourMs]));
      return pass;
    },
  },
  {
    // One machine's clock only: two candidates for a lease then disagree about what time it is.
    name: "clock-skewed",
    family: "clock",
    on: boundaryKinds,
    strike: ({ incarnation, draw }) => {
      incarnation.skew(oneOf(draw, [-hourMs, -20_000, 20_000, hourMs]));
      return pass;
    },
  },
];
