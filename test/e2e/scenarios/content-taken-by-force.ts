import assert from "node:assert/strict";
import { contentRef, type Scenario } from "../harness/scenario.ts";

export const contentTakenByForce: Scenario = {
  shows: "a ready snapshot whose content was removed by force is reported as lost, and never taken again",
  async play({ client, stand, driver, taken, lifeGoesOn, deleteHandles, assertNothingLeft }) {
    const { metadata } = await taken("robbed");
    const { creationTime } = (await stand.get("robbed")).status ?? {};
    await client.delete(contentRef(metadata.name));
    await client.patch(contentRef(metadata.name), { type: "merge", body: { metadata: { finalizers: null } } });
    const reported = /VolumeSnapshotContent is missing: .*delete this VolumeSnapshot and take a new one/;
    await stand.untilReported("robbed", reported);
    const asked = driver.asked.length;
    await lifeGoesOn();
    assert.equal(driver.asked.length, asked + 1);
    const { status } = await stand.get("robbed");
    assert.equal(status?.readyToUse, false);
    assert.equal(status?.creationTime, creationTime);
    await stand.remove("robbed");
    await deleteHandles();
    await assertNothingLeft();
  },
};
