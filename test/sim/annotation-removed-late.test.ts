/** The request to take a mark off comes to nothing for half a minute; meanwhile a list from the past makes the driver's answer forgotten. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { planContent } from "../../src/components/csi-snapshotter/plan.ts";
import { withAttempt } from "./bugs/bug.ts";
import { brokenIn } from "./once-found.ts";

const found = {
  scenario: "policy-flips",
  seed: 60214343,
  plan: "30:effect-after-the-deadline:381088087,1:slow:1241731472,26:list-from-the-past:631056538,32:paused-while-sending:1938070634,26:watch-expired:2113493361,7:crash-all:189195876,7:csi-Internal:1302147320,18:never-answered:467380294",
};

test("the driver is not called again while a request to remove the being-created annotation may still arrive", async () =>
  assert.deepEqual(await brokenIn(found), []));

test("a sidecar that does not remember that request would call the driver again", async () => {
  const planSidecar = (view: Parameters<typeof planContent>[0]) =>
    planContent(withAttempt(view, { isRemovalPending: false }));
  assert.deepEqual(await brokenIn(found, { planSidecar: planSidecar as never }), ["I-3"]);
});
