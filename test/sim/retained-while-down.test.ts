/**
 * Decision 19: the provisioner is killed when a PersistentVolume is stored, and its call is, too. While it is down, the owner retains the
 * data and deletes claim and PersistentVolume. The finalizer keeps the PersistentVolume, so the successor knows that it was stored.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { judged } from "./campaign.ts";
import type { Outcome } from "./run-one.ts";
import { scenarioNamed } from "./scenarios.ts";

const isStoring = (text: string): boolean => text === "POST /api/v1/persistentvolumes";

/** The chance of a crash decides how long the process is down: the first that keeps it down until the owner is done. */
async function killedWhenStored(name: string, seed: number): Promise<Outcome> {
  const scenario = scenarioNamed(name);
  const { boundaries } = await judged({ scenario, seed, faults: [] });
  const at = boundaries.findIndex(({ text }) => isStoring(text));
  for (let pick = 1; pick < 100; pick++) {
    const outcome = await judged({ scenario, seed, faults: [{ at, name: "crash-after-effect", pick }] });
    if (outcome.trace().some((line) => line.includes("down for 35000 ms"))) return outcome;
  }
  throw new Error("no crash takes long");
}

for (const name of ["claim-retained", "volume-kept"])
  for (const seed of [1, 2, 3])
    test(`${name}, seed ${seed}: a volume that its owner retains and deletes while the provisioner is down is not deleted`, async () => {
      const { entries, violations, trace } = await killedWhenStored(name, seed);
      const deletedAt = entries.findIndex(
        (entry) =>
          entry.type === "write" &&
          entry.kind === "PersistentVolume" &&
          entry.actor === "user" &&
          entry.verb === "DELETE",
      );
      const startedAt = entries.findLastIndex((entry) => entry.type === "note" && entry.what === "start");
      assert.ok(deletedAt !== -1 && deletedAt < startedAt, trace().join("\n"));
      assert.deepEqual(violations, []);
      assert.equal(
        entries.some((entry) => entry.type === "csi" && entry.method === "DeleteVolume"),
        false,
      );
    });
