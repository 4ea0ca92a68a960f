import assert from "node:assert/strict";
import type { Scenario } from "../harness/scenario.ts";

export const deleteWhileCreating: Scenario = {
  shows: "a snapshot deleted during CreateSnapshot leaves nothing at the driver",
  async play({ client, stand, driver, take, loseReplies, untilAsked, assertNothingLeft }) {
    loseReplies("Unavailable");
    await take("hasty");
    await untilAsked(1);
    await client.delete(stand.ref("hasty"));
    await untilAsked(2);
    assert.equal((await stand.handles()).length, 1);
    driver.mend();
    await stand.untilGone(stand.ref("hasty"));
    await assertNothingLeft();
  },
};
