/** Drivers that do not delete a volume, or do not say whether they have made one: the source of a restore can be deleted all the same. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { judged, scheduleOf } from "./campaign.ts";
import type { Outcome } from "./run-one.ts";
import { scenarioNamed } from "./scenarios.ts";

const seeds = 12;
const outcomesOf = (name: string): Promise<readonly Outcome[]> =>
  Promise.all(
    Array.from({ length: seeds }, async (_, index) => {
      const among = [scenarioNamed(name)];
      const outcome = await judged(
        await scheduleOf(index + 1, { among, allowed: ({ family }) => family !== "user" && family !== "odd" }),
      );
      assert.deepEqual(outcome.violations, [], outcome.trace().join("\n"));
      return outcome;
    }),
  );

const deletionsIn = ({ entries }: Outcome): readonly number[] =>
  entries.flatMap((entry) => (entry.type === "csi" && entry.method === "DeleteVolume" ? [entry.id] : []));

test(`a snapshot goes while the driver refuses to delete a volume made from it, in ${seeds} schedules with faults`, async () => {
  const outcomes = await outcomesOf("restore-undeletable");
  const refused = outcomes.filter((outcome) => deletionsIn(outcome).length > 0);
  assert.ok(refused.length > seeds / 2);
  for (const outcome of refused) {
    const { entries, trace } = outcome;
    const ids = deletionsIn(outcome);
    const goneAt = entries.findIndex(
      (entry) => entry.type === "write" && entry.kind === "VolumeSnapshot" && !entry.after,
    );
    const deletedAt = entries.findIndex(
      (entry) => entry.type === "csi-end" && ids.includes(entry.id) && entry.outcome === "ok",
    );
    assert.ok(goneAt < deletedAt, trace().join("\n"));
  }
});

test(`a snapshot goes when no reply about a volume made from it can be read, and an event names the volume, in ${seeds} schedules with faults`, async () => {
  const outcomes = await outcomesOf("restore-unreadable");
  const named = outcomes.filter(({ trace }) => trace().some((line) => line.includes("event VolumeLeftAtDriver")));
  assert.ok(named.length > seeds / 2);
});
