import assert from "node:assert/strict";
import { draftOf } from "../../../src/api/builders.ts";
import { contentRef, namespace, type Scenario } from "../harness/scenario.ts";

export const driverMismatchContent: Scenario = {
  shows: "a content of another driver is never passed to our driver",
  async play({ client, stand, driver, volume, lifeGoesOn, assertNothingLeft }) {
    const spec = {
      deletionPolicy: "Delete" as const,
      driver: "other.example.com",
      source: { volumeHandle: volume },
      volumeSnapshotClassName: stand.classes.delete,
      volumeSnapshotRef: { namespace, name: "theirs", uid: "0d1f4c52-5b6e-4f0c-9f0e-1f2d3c4b5a69" },
    };
    const ref = contentRef("theirs");
    await client.create("VolumeSnapshotContent", draftOf("VolumeSnapshotContent", { name: "theirs" }, { spec }));
    await lifeGoesOn();
    assert.equal(driver.asked.length, 1);
    assert.equal((await client.get(ref)).status, undefined);
    await client.delete(ref);
    await assertNothingLeft();
  },
};
