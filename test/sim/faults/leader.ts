/** A process is stopped and continued: it believes that no time has passed. */
import { boundaryKinds, pass } from "../verdict.ts";
import { type FaultRow, oneOf } from "./fault.ts";

export const leaderFaults: readonly FaultRow[] = [
  {
    name: "process-paused",
    family: "leader",
    on: boundaryKinds,
    strike: ({ incarnation, draw, slow, recorder, world }) => {
      const ms = oneOf(draw, [2_000, 12_000, 60_000]);
      slow(ms);
      recorder.take({
        type: "note",
        atMs: world.elapsed(),
        what: "frozen",
        process: incarnation.name,
        text: `${ms} ms`,
      });
      for (const mate of incarnation.mates()) mate.freeze(ms);
      return pass;
    },
  },
  {
    // Stopped when the call waits for its connection: nothing has been sent, and the transport asks whether it still may.
    name: "paused-before-sending",
    family: "leader",
    on: ["write", "csi"],
    strike: ({ incarnation, slow, draw }) => {
      // Longer than a lease, shorter than anybody waits for an answer.
      const ms = oneOf(draw, [2_000, 12_000, 20_000]);
      slow(ms);
      for (const mate of incarnation.mates()) mate.freeze(ms);
      return { effect: true, heldBack: true };
    },
  },
  {
    // Stopped between the decision and the sending: the call leaves when it is continued.
    name: "paused-while-sending",
    family: "leader",
    on: ["write", "csi"],
    strike: ({ incarnation, slow, draw }) => {
      const ms = oneOf(draw, [2_000, 12_000, 30_000]);
      slow(ms);
      for (const mate of incarnation.mates()) mate.freeze(ms);
      return { effect: true, delayMs: 1 };
    },
  },
];
