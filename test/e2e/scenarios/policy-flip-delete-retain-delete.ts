import assert from "node:assert/strict";
import { contentRef, type Scenario } from "../harness/scenario.ts";

export const policyFlipDeleteRetainDelete: Scenario = {
  shows: "the deletion policy at the time of the deletion applies, for snapshot and content",
  async play({ client, stand, take, assertNothingLeft }) {
    await take("flip");
    await stand.untilReady("flip");
    const content = await stand.contentOf("flip");
    const ref = contentRef(content.metadata.name);
    const flipTo = (deletionPolicy: "Delete" | "Retain") =>
      client.patch(ref, { type: "merge", body: { spec: { deletionPolicy } } });
    await flipTo("Retain");
    await stand.remove("flip");
    const { metadata } = await client.get(ref);
    assert.equal(metadata.deletionTimestamp, undefined);
    assert.deepEqual(await stand.handles(), [content.status?.snapshotHandle]);
    await flipTo("Delete");
    await client.delete(ref);
    await stand.untilGone(ref);
    await assertNothingLeft();
  },
};
