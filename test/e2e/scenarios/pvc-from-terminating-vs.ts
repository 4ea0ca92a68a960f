import assert from "node:assert/strict";
import { namespace, type Scenario } from "../harness/scenario.ts";
import { until } from "../harness/until.ts";
import { aWaitingClaim, untilHeldBy } from "../harness/waiting-claims.ts";

export const pvcFromTerminatingVs: Scenario = {
  shows: "a claim that is created after the snapshot's deletion does not block the deletion",
  async play(scenario) {
    const { client, stand, take, assertNothingLeft } = scenario;
    await take("leaving");
    await stand.untilReady("leaving");
    const early = await aWaitingClaim(scenario, "early", namespace, "leaving");
    await client.delete(stand.ref("leaving"));
    await untilHeldBy(scenario, `${namespace}/early`);
    const { deletionTimestamp = "" } = (await stand.get("leaving")).metadata;
    // The server's times are whole seconds: only what is at least one later is later for certain.
    const late = await until({ what: "a claim is later than the deletion" }, async () => {
      const ref = await aWaitingClaim(scenario, "late", namespace, "leaving");
      const { creationTimestamp = "" } = (await client.get(ref)).metadata;
      if (creationTimestamp > deletionTimestamp) return ref;
      await client.delete(ref);
      await stand.untilGone(ref);
      return undefined;
    });
    assert.equal((await stand.handles()).length, 1);
    await client.delete(early);
    await stand.untilGone(stand.ref("leaving"));
    await client.delete(late);
    await assertNothingLeft();
  },
};
