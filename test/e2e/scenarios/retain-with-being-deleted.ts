import assert from "node:assert/strict";
import { annotations, finalizers } from "../../../src/api/names.ts";
import { claimName, contentRef, type Scenario } from "../harness/scenario.ts";

export const retainWithBeingDeleted: Scenario = {
  shows: "with Retain content and data stay, and deleting the content leaves the data",
  async play({ client, stand, deleteHandles, assertNothingLeft }) {
    const content = await stand.takeAndRemove("kept", claimName, stand.classes.retain);
    const ref = contentRef(content.metadata.name);
    const left = await client.get(ref);
    assert.equal(left.metadata.annotations?.[annotations.beingDeleted], "yes");
    assert.deepEqual(left.metadata.finalizers, [finalizers.contentBound]);
    await client.delete(ref);
    await stand.untilGone(ref);
    assert.deepEqual(await stand.handles(), [content.status?.snapshotHandle]);
    await deleteHandles();
    await assertNothingLeft();
  },
};
