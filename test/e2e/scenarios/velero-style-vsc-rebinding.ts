import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
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

/** As a backup tool does that reads a snapshot once. */
export const contentsDeletedAtOnce: Scenario = {
  shows:
    "contents that are created and deleted within 140 ms go, with a snapshot that takes them and without, and nothing is left",
  async play({ client, stand, driver, assertNothingLeft }) {
    const pauses = Array.from({ length: 15 }, (_, index) => 10 * index);
    await Promise.all(
      pauses.flatMap((pauseMs) =>
        (["with", "without"] as const).map(async (company) => {
          const name = `brief-${company}-${pauseMs}`;
          const spec = {
            deletionPolicy: pauseMs % 20 === 0 ? ("Delete" as const) : ("Retain" as const),
            driver: driver.driver,
            source: { snapshotHandle: `handle-of-${name}` },
            volumeSnapshotRef: { namespace, name },
          };
          await client.create("VolumeSnapshotContent", draftOf("VolumeSnapshotContent", { name }, { spec }));
          const taking = { spec: { source: { volumeSnapshotContentName: name } } };
          if (company === "with")
            await client.create("VolumeSnapshot", draftOf("VolumeSnapshot", { namespace, name }, taking));
          await sleep(pauseMs);
          await client.delete(contentRef(name));
          if (company === "with") await stand.remove(name);
          await stand.untilGone(contentRef(name));
        }),
      ),
    );
    await assertNothingLeft();
  },
};
