import type { Scenario } from "../harness/scenario.ts";

export const quickCreateDelete: Scenario = {
  shows: "snapshots that are deleted as soon as they are created leave nothing behind",
  async play({ client, stand, driver, volume, take, untilAsked, assertNothingLeft }) {
    // A snapshot that is never ready keeps the claim protected, so that nothing slows the others down.
    driver.oddities.set(volume, (_right, _asked, name) => ({ readyToUse: name !== `snapshot-${first}` }));
    const first = (await take("first")).metadata.uid;
    await untilAsked(1);
    for (let round = 0; round < 30; round++) {
      await take(`quick-${round}`);
      await client.delete(stand.ref(`quick-${round}`));
    }
    await stand.remove("first");
    await assertNothingLeft();
  },
};
