/** A component dies at a call: before it leaves, when it has had its effect, or when the reply has been taken in. */
import { boundaryKinds } from "../verdict.ts";
import { type FaultRow, makesContent, oneOf } from "./fault.ts";

const downMs = (draw: () => number): number => oneOf(draw, [0, 50, 2_000, 35_000]);

export const crashes: readonly FaultRow[] = [
  ...(["before", "after-effect", "after-reply"] as const).map(
    (crash): FaultRow => ({
      name: `crash-${crash}`,
      family: "crash",
      on: boundaryKinds,
      strike: ({ draw }) => ({ crash, downMs: downMs(draw), effect: crash !== "before" }),
    }),
  ),
  {
    // The request outlives its sender: it is still on its way when the next one has started.
    name: "crash-request-arrives-late",
    family: "crash",
    on: ["write", "csi"],
    strike: ({ draw, incarnation, crash, world, slow, boundary }) => {
      const delayMs = oneOf(draw, [20, 1_000, 20_000]);
      slow(delayMs);
      void world.sleep(1).then(() => crash(incarnation, downMs(draw) % 3_000));
      return { effect: true, delayMs, endsOtherwise: makesContent(boundary) };
    },
  },
  {
    name: "crash-all",
    family: "crash",
    on: boundaryKinds,
    strike: ({ draw, running, crash }) => {
      for (const incarnation of running()) crash(incarnation, downMs(draw));
      return { effect: false, silent: true };
    },
  },
];
