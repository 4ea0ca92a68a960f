import assert from "node:assert/strict";
import { draftOf } from "../../../src/api/builders.ts";
import { contentRef, namespace, type Scenario } from "../harness/scenario.ts";

const isContents = (request: string): boolean => /^GET .*\/volumesnapshotcontents\?/.test(request);

export const alreadyExistsOtherUid: Scenario = {
  shows: "an existing content of another snapshot is not used, whether it is in the cache or not",
  async play({ client, stand, driver, controller, toController, take, assertNothingLeft }) {
    // The controller hears nothing of contents any more: only the answer to its own create tells it.
    const deaf = toController.answer(503, isContents);
    toController.disconnect(isContents);
    process.kill(controller().pid, "SIGSTOP");
    const { metadata } = await take("late");
    const name = `snapcontent-${metadata.uid}`;
    const spec = {
      deletionPolicy: "Delete" as const,
      driver: "other.example.com",
      source: { volumeHandle: "theirs" },
      volumeSnapshotRef: { namespace, name: "late", uid: "0d1f4c52-5b6e-4f0c-9f0e-1f2d3c4b5a69" },
    };
    await client.create("VolumeSnapshotContent", draftOf("VolumeSnapshotContent", { name }, { spec }));
    process.kill(controller().pid, "SIGCONT");
    await stand.untilReported(
      "late",
      /is bound to a different snapshot: .*uid 0d1f4c52-.*; name a content of your own/,
    );
    deaf.end();
    assert.equal(driver.asked.length, 0);
    await client.delete(contentRef(name));
    assert.equal((await stand.untilReady("late")).status?.error, undefined);
    await stand.remove("late");
    await assertNothingLeft();
  },
};
