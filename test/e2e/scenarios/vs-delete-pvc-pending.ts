import assert from "node:assert/strict";
import { namespace, type Scenario } from "../harness/scenario.ts";
import { aWaitingClaim, untilHeldBy } from "../harness/waiting-claims.ts";

export const vsDeletePvcPending: Scenario = {
  shows: "a snapshot is not deleted until its restoring claim is bound or gone",
  async play(scenario) {
    const { client, stand, take, assertNothingLeft } = scenario;
    await take("wanted");
    await stand.untilReady("wanted");
    const claim = await aWaitingClaim(scenario, "waiting", namespace, "wanted");
    await client.delete(stand.ref("wanted"));
    await untilHeldBy(scenario, `${namespace}/waiting`);
    assert.equal((await stand.handles()).length, 1);
    await client.delete(claim);
    await stand.untilGone(stand.ref("wanted"));
    await assertNothingLeft();
  },
};
