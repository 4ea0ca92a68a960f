import { draftOf } from "../../../src/api/builders.ts";
import { Fault } from "../../../src/base/fault.ts";
import { aBoundClaim } from "../harness/components.ts";
import { claimName, type Scenario } from "../harness/scenario.ts";
import { snapshotsOf } from "../harness/snapshots.ts";

export const namespaceDeletedMidCreate: Scenario = {
  shows: "a namespace with a snapshot being taken can be deleted, with its data",
  async play({ client, stand, driver, untilAsked, assertNothingLeft }) {
    await client.create("Namespace", draftOf("Namespace", { name: "doomed" }, {} as never));
    const there = { ...stand.fixtures, namespace: "doomed" };
    driver.oddities.set(await aBoundClaim(there, claimName), () => {
      throw new Fault("Unavailable", "not now");
    });
    await snapshotsOf(there).take("caught", claimName, stand.classes.delete);
    await untilAsked(1);
    await client.delete({ kind: "Namespace", name: "doomed" });
    await untilAsked(2);
    driver.mend();
    await stand.untilGone({ kind: "Namespace", name: "doomed" }, 60_000);
    await assertNothingLeft();
  },
};
