/** A list from the past leaves out a snapshot that is being taken, or its content, and the user deletes the claim in that moment. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { planClaim } from "../../src/components/snapshot-controller/plan-claim.ts";
import { brokenIn } from "./once-found.ts";

/** The driver's reply to the first attempt cannot be read, and the second is under way when the snapshot is left out. */
const takenAgain = {
  scenario: "slow-driver",
  seed: 1000046594,
  plan: "36:driver-forgets-names:179790767,36:relist-everything:1496667141,17:crash-all:1601818618,1:crash-before:340700587,46:paused-while-sending:583146884,47:list-from-the-past:717410644,50:user-deletes-claim:1521808009,29:odd-unreadable:1113635739",
};
/** The same in the first attempt. */
const firstTaken = {
  scenario: "slow-driver",
  seed: 201,
  plan: "7:list-from-the-past:120706388,16:relist-everything:946570522,22:user-deletes-claim:352955418",
};
/** The content is left out, of a snapshot that has its creation time and is not ready: it looks as if its content were lost. */
const contentUnseen = {
  scenario: "slow-driver",
  seed: 456,
  plan: "18:user-deletes-claim:1462760642,25:list-from-the-past:306287639,19:relist-everything:1195583189",
};

const believing = (view: Parameters<typeof planClaim>[0]) => {
  const { actions, next } = planClaim(view);
  return { actions: actions.filter(({ kind }) => kind !== "confirm"), next };
};
for (const [what, found] of Object.entries({ takenAgain, firstTaken, contentUnseen })) {
  test(`${what}: the claim is not released until the server confirms that no snapshot of it is being taken`, async () =>
    assert.deepEqual(await brokenIn(found), []));

  test(`${what}: a controller that trusts its cache would release the claim`, async () =>
    assert.deepEqual(await brokenIn(found, { planClaim: believing as never }), ["I-17"]));
}
