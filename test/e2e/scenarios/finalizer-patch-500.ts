import assert from "node:assert/strict";
import { untilRefused } from "../harness/refusals.ts";
import { claimName, contentRef, type Scenario } from "../harness/scenario.ts";

const isOfClaim = (request: string): boolean => /^PUT .*\/persistentvolumeclaims\//.test(request);
const isOfContent = (request: string): boolean => /^PATCH .*\/volumesnapshotcontents\//.test(request);
const isOfSnapshot = (request: string): boolean => /^PATCH .*\/volumesnapshots\//.test(request);

export const finalizerPatch500: Scenario = {
  shows: "failed finalizer writes on claim, content and snapshot are retried until they succeed",
  async play({ client, stand, driver, toController, toSidecar, take, assertNothingLeft }) {
    await stand.untilUnprotected(claimName);
    const onClaim = toController.answer(500, isOfClaim);
    await take("stubborn");
    await untilRefused(onClaim);
    assert.equal(driver.asked.length, 0);
    const { status } = await stand.get("stubborn");
    assert.equal(status?.error, undefined, "the server's trouble is no fault of the snapshot");
    onClaim.end();
    await stand.untilReady("stubborn");
    const { metadata } = await stand.contentOf("stubborn");
    const offClaim = toController.answer(500, isOfClaim);
    await untilRefused(offClaim);
    offClaim.end();
    await stand.untilUnprotected(claimName);

    const onContent = toSidecar.answer(500, isOfContent);
    const onSnapshot = toController.answer(500, isOfSnapshot);
    await client.delete(stand.ref("stubborn"));
    await untilRefused(onContent);
    assert.deepEqual(await stand.handles(), []);
    onContent.end();
    await stand.untilGone(contentRef(metadata.name));
    await untilRefused(onSnapshot);
    onSnapshot.end();
    await stand.untilGone(stand.ref("stubborn"));
    assert.equal(driver.askedToDelete.length, 1, "what was deleted already was deleted again");
    await assertNothingLeft();
  },
};
