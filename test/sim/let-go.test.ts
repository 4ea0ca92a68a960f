/** A content that was created with the annotation is released before any call; then a stale list shows it again. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { planContent } from "../../src/components/csi-snapshotter/plan.ts";
import { withAttempt } from "./bugs/bug.ts";
import { brokenIn } from "./once-found.ts";

/** No sidecar runs until the snapshot is deleted; after its content was released, it reappears in its first version. */
const found = {
  scenario: "restore-of-unready",
  seed: 20281144,
  plan: "13:list-from-the-past:328532330,8:list-from-the-past:2125546552,6:never-answered:862284857,20:relist-everything:1405621060",
};

test("a content that was released without a call is not taken when a stale list shows it again", async () =>
  assert.deepEqual(await brokenIn(found), []));

test("a sidecar that remembers only its calls would take the snapshot", async () => {
  const planSidecar = (view: Parameters<typeof planContent>[0]) =>
    planContent(
      view.memory.attempt.createSent === "released"
        ? withAttempt(view, { createSent: "never", isRemovalPending: false })
        : view,
    );
  assert.deepEqual(await brokenIn(found, { planSidecar: planSidecar as never }), ["I-6"]);
});
