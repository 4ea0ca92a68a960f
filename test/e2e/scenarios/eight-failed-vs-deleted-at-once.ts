import { claimName, type Scenario } from "../harness/scenario.ts";

export const eightFailedVsDeletedAtOnce: Scenario = {
  shows: "eight snapshots with a final error that are deleted together release their claim",
  async play({ client, stand, take, refuseCreateSnapshot, assertNothingLeft }) {
    refuseCreateSnapshot();
    const names = Array.from({ length: 8 }, (_, index) => `refused-${index}`);
    for (const name of names) await take(name);
    for (const name of names) await stand.untilReported(name, /this volume cannot be cut/);
    await Promise.all(names.map((name) => client.delete(stand.ref(name))));
    for (const name of names) await stand.untilGone(stand.ref(name));
    await assertNothingLeft();
    await stand.untilUnprotected(claimName);
  },
};
