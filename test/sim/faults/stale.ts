/** The component starts again, and its first lists come from a server that lags behind. */
import { boundaryKinds } from "../verdict.ts";
import { type FaultRow, oneOf } from "./fault.ts";

export const staleness: readonly FaultRow[] = [
  {
    name: "list-from-the-past",
    family: "stale",
    on: ["list"],
    strike: ({ draw }) => ({ effect: true, staleBy: oneOf(draw, [1, 2, 3, 5]), endsOtherwise: true }),
  },
  {
    // Cut and expire everything, so that lists follow: other rows of a plan then make them old.
    name: "relist-everything",
    family: "stale",
    on: boundaryKinds,
    strike: ({ incarnation }) => {
      for (const tap of incarnation.taps) tap.expire();
      return { effect: true };
    },
  },
];
