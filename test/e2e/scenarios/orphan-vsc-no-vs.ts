import assert from "node:assert/strict";
import { contentRef, type Scenario, type ScenarioContext } from "../harness/scenario.ts";

/** Takes the snapshot away against all finalizers, behind the controller's back. */
async function removeByForce({ client, stand, controller }: ScenarioContext, name: string): Promise<void> {
  process.kill(controller().pid, "SIGSTOP");
  await client.patch(stand.ref(name), { type: "merge", body: { metadata: { finalizers: null } } });
  await client.delete(stand.ref(name));
  await stand.untilGone(stand.ref(name));
  process.kill(controller().pid, "SIGCONT");
}

const orphanOf = (deletionPolicy: "Delete" | "Retain"): Scenario => ({
  shows: `a content whose snapshot is gone stays until a user deletes it, and is then deleted ${deletionPolicy === "Delete" ? "with" : "without"} its data`,
  async play(scenario) {
    const { client, stand, taken, lifeGoesOn, deleteHandles, assertNothingLeft } = scenario;
    const { metadata, status } = await taken("parent");
    const ref = contentRef(metadata.name);
    await client.patch(ref, { type: "merge", body: { spec: { deletionPolicy } } });
    await removeByForce(scenario, "parent");
    await lifeGoesOn();
    const left = await client.get(ref);
    assert.equal(
      left.metadata.deletionTimestamp,
      undefined,
      "a missing snapshot proves not that nobody wants the data",
    );
    assert.deepEqual(await stand.handles(), [status?.snapshotHandle]);
    await client.delete(ref);
    await stand.untilGone(ref);
    assert.equal((await stand.handles()).length, deletionPolicy === "Delete" ? 0 : 1);
    await deleteHandles();
    await assertNothingLeft();
  },
});

export const orphanVscNoVs: readonly [Scenario, Scenario] = [orphanOf("Delete"), orphanOf("Retain")];
