import assert from "node:assert/strict";
import { Fault } from "../../../src/base/fault.ts";
import type { Scenario } from "../harness/scenario.ts";

export const notreadyErrorNotready: Scenario = {
  shows: "an error between two replies does not end the polling",
  async play({ stand, driver, volume, take, assertNothingLeft }) {
    driver.oddities.set(volume, (_, asked) => {
      if (asked === 2) throw new Fault("Unavailable", "not now");
      return { readyToUse: asked > 3 };
    });
    await take("slow");
    assert.equal((await stand.untilReady("slow")).status?.error, undefined);
    assert.equal((await stand.handles()).length, 1);
    driver.mend();
    await stand.remove("slow");
    await assertNothingLeft();
  },
};
