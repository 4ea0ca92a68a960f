/** A snapshot is deleted, and its content set to Retain when the controller has already marked it and is about to delete it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { annotations } from "../../src/api/names.ts";
import { deletesAnyVersion } from "./bugs/act.ts";
import type { Sabotage } from "./components.ts";
import type { Seen } from "./record.ts";
import { runOne } from "./run-one.ts";
import type { Scenario } from "./scenario.ts";
import { scenarioNamed } from "./scenarios.ts";

const contentsOf = (seen: Seen) => [...seen.objects("VolumeSnapshotContent").values()];
const annotatedIn = (seen: Seen): string | undefined =>
  contentsOf(seen).find(({ metadata }) => metadata.annotations?.[annotations.beingDeleted] === "yes")?.metadata.name;

const taking = scenarioNamed("dynamic-create");
const scenario: Scenario = {
  ...taking,
  name: "retained-late",
  script: async (user, dice) => {
    await taking.script(user, dice);
    await user.remove("VolumeSnapshot", "default/monday");
    await user.until((seen) => annotatedIn(seen) !== undefined);
    const spec = { deletionPolicy: "Retain" };
    await user.patch("VolumeSnapshotContent", annotatedIn(user.seen) ?? "", { spec });
  },
};
const seeds = 20;

/** In how many histories the content is gone at the end. */
async function lostWith(sabotage: Sabotage): Promise<number> {
  let lost = 0;
  for (let seed = 1; seed <= seeds; seed++) {
    const { entries } = await runOne({ scenario, seed, faults: [], sabotage: () => sabotage });
    if (entries.some((entry) => entry.type === "write" && entry.verb === "DELETE" && entry.actor !== "user")) lost += 1;
  }
  return lost;
}

test("a content that is set to Retain is not deleted by an earlier decision", async () =>
  assert.equal(await lostWith({}), 0));

test("a controller that deletes without a version would delete the content", async () =>
  assert.ok((await lostWith(deletesAnyVersion)) > 0));
