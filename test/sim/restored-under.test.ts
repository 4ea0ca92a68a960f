/** A stale list omits the claim that is being restored from a deleted snapshot. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { planSnapshot } from "../../src/components/snapshot-controller/plan.ts";
import { brokenIn } from "./once-found.ts";

const found = {
  scenario: "restore-holds",
  seed: 130011548,
  plan: "2:never-answered:363531797,15:clock-skewed:1646270971,24:relist-everything:1707345263,19:list-from-the-past:659956944,21:http-503:1579987603",
};

test("a snapshot is not released until the server confirms that its restoring claim is gone", async () =>
  assert.deepEqual(await brokenIn(found), []));

test("a controller that trusts its cache would release the snapshot", async () => {
  const believing = (view: Parameters<typeof planSnapshot>[0]) =>
    planSnapshot({ ...view, memory: { ...view.memory, missingClaims: [], areClaimsRead: true } });
  assert.deepEqual(await brokenIn(found, { planSnapshot: believing as never }), ["I-18"]);
});
