import assert from "node:assert/strict";
import { draftOf } from "../../../src/api/builders.ts";
import { claimName, contentRef, namespace, type Scenario } from "../harness/scenario.ts";

export const veleroStyleVscRebinding: Scenario = {
  shows: "retained data can be bound to a new snapshot through a content created by hand",
  async play({ client, stand, driver, assertNothingLeft }) {
    const old = await stand.takeAndRemove("first", claimName, stand.classes.retain);
    await client.delete(contentRef(old.metadata.name));
    const spec = {
      deletionPolicy: "Delete" as const,
      driver: driver.driver,
      source: { snapshotHandle: old.status?.snapshotHandle ?? "" },
      volumeSnapshotRef: { namespace, name: "second" },
    };
    await client.create("VolumeSnapshotContent", draftOf("VolumeSnapshotContent", { name: "rebound" }, { spec }));
    const adopting = { spec: { source: { volumeSnapshotContentName: "rebound" } } };
    await client.create("VolumeSnapshot", draftOf("VolumeSnapshot", { namespace, name: "second" }, adopting));
    await stand.untilReady("second");
    assert.deepEqual(await stand.handles(), [old.status?.snapshotHandle]);
    await stand.remove("second");
    await assertNothingLeft();
  },
};
