import assert from "node:assert/strict";
import { annotations } from "../../../src/api/names.ts";
import { untilRefused } from "../harness/refusals.ts";
import { claimName, contentRef, type Scenario } from "../harness/scenario.ts";
import { isThere } from "../harness/snapshots.ts";

const isMark = (request: string): boolean => /^PATCH .*\/volumesnapshotcontents\//.test(request);

export const deleteAnnotationDelayed: readonly [Scenario, Scenario] = [
  {
    shows: "nothing is deleted until the being-deleted annotation is written, and then everything is",
    async play({ client, stand, driver, toController, take, assertNothingLeft }) {
      await take("marked-late");
      await stand.untilReady("marked-late");
      const { metadata } = await stand.contentOf("marked-late");
      const refusing = toController.answer(503, isMark);
      // The content is already terminating, as far as clients can see.
      await client.delete(contentRef(metadata.name));
      await client.delete(stand.ref("marked-late"));
      await untilRefused(refusing);
      assert.equal(driver.askedToDelete.length, 0);
      assert.equal((await stand.handles()).length, 1);
      assert.ok(await isThere(stand.fixtures, stand.ref("marked-late")), "the snapshot went before its data");
      refusing.end();
      await stand.untilGone(stand.ref("marked-late"));
      assert.equal(driver.askedToDelete.length, 1);
      await assertNothingLeft();
    },
  },
  {
    shows:
      "a retained content gets its being-deleted annotation before its snapshot is released, or it could never be deleted",
    async play({ client, stand, toController, deleteHandles, assertNothingLeft }) {
      await stand.take("kept", claimName, stand.classes.retain);
      await stand.untilReady("kept");
      const { metadata } = await stand.contentOf("kept");
      const refusing = toController.answer(500, isMark);
      await client.delete(stand.ref("kept"));
      await untilRefused(refusing);
      assert.ok(await isThere(stand.fixtures, stand.ref("kept")), "the snapshot went without marking its content");
      refusing.end();
      await stand.untilGone(stand.ref("kept"));
      const content = await client.get(contentRef(metadata.name));
      assert.equal(content.metadata.annotations?.[annotations.beingDeleted], "yes");
      await client.delete(contentRef(metadata.name));
      await stand.untilGone(contentRef(metadata.name));
      await deleteHandles();
      await assertNothingLeft();
    },
  },
];
