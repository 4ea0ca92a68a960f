import assert from "node:assert/strict";
import type { Scenario } from "../harness/scenario.ts";

export const leakCreateTimeout: Scenario = {
  shows: "a CreateSnapshot with a lost reply is repeated with the same name, and is not a failure",
  async play({ stand, driver, take, loseReplies, untilAsked, assertNothingLeft }) {
    loseReplies("DeadlineExceeded");
    await take("lost");
    await untilAsked(3);
    assert.equal((await stand.get("lost")).status?.error, undefined);
    driver.mend();
    await stand.untilReady("lost");
    assert.equal(new Set(driver.asked.map(({ name }) => name)).size, 1);
    assert.equal((await stand.handles()).length, 1);
    await stand.remove("lost");
    await assertNothingLeft();
  },
};
