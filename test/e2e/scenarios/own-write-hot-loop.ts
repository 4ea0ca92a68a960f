import assert from "node:assert/strict";
import type { Scenario } from "../harness/scenario.ts";

export const ownWriteHotLoop: Scenario = {
  shows: "our own writes do not trigger another call",
  async play({ stand, driver, take, refuseCreateSnapshot, untilAsked, assertNothingLeft }) {
    refuseCreateSnapshot();
    await take("refused");
    await untilAsked(1);
    const startedAt = performance.now();
    await untilAsked(4);
    const tookMs = performance.now() - startedAt;
    assert.ok(tookMs > 1_000, `three more questions within ${Math.round(tookMs)} ms`);
    driver.mend();
    await stand.remove("refused");
    await assertNothingLeft();
  },
};
