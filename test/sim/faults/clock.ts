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
];
