import assert from "node:assert/strict";
import type { Scenario } from "../harness/scenario.ts";

export const vsWithoutClassWithoutPvc: Scenario = {
  shows: "a snapshot with neither class nor claim gives an error and crashes no component (CVE-2020-8569)",
  async play({ stand, controller, sidecar, lifeGoesOn, assertNothingLeft }) {
    await stand.take("nothing", "missing");
    await stand.untilReported("nothing", /claim default\/missing not found: create it/);
    await lifeGoesOn();
    await stand.remove("nothing");
    for (const daemon of [controller(), sidecar()]) assert.ok(daemon.running(), daemon.lastWords());
    await assertNothingLeft();
  },
};
