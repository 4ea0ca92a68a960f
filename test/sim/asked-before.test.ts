/** A content is taken away by force while the driver is asked about it; its snapshot gets a second one, and is deleted. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { annotations } from "../../src/api/names.ts";
import { planContent } from "../../src/components/csi-snapshotter/plan.ts";
import { withAttempt } from "./bugs/bug.ts";
import { brokenIn } from "./once-found.ts";

const found = {
  scenario: "slow-driver",
  seed: 600048544,
  plan: "18:driver-forgets:470809161,31:crash-request-arrives-late:1484883234,11:crash-after-reply:576634016,36:user-deletes-content:428633470,31:user-strips-content:1250252154,45:user-recreates-snapshot:1887412639,20:effect-after-the-deadline:1842530854",
};

test("a second content is not released while the outcome of the first content's CreateSnapshot is unknown", async () =>
  assert.deepEqual(await brokenIn(found), []));

test("a sidecar that remembers only contents, not snapshots, would release it", async () => {
  const planSidecar = (view: Parameters<typeof planContent>[0]) => {
    const { sidecarId, createSent } = view.memory.attempt;
    const hasOurId = view.facts.content.metadata.annotations?.[annotations.snapshotterId] === sidecarId;
    return planContent(createSent === "unknown" && hasOurId ? withAttempt(view, { createSent: "never" }) : view);
  };
  assert.deepEqual(await brokenIn(found, { planSidecar: planSidecar as never }), ["I-3"]);
});
