/** A request to remove the being-created annotation outlives its sender and arrives after the successor's CreateSnapshot. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { annotations } from "../../src/api/names.ts";
import { planContent } from "../../src/components/csi-snapshotter/plan.ts";
import { withAttempt } from "./bugs/bug.ts";
import type { Sabotage } from "./components.ts";
import { brokenIn } from "./once-found.ts";

/** A final error; then a crash while the annotation is being removed; then a CreateSnapshot with an unknown outcome. */
const planAt = (at: number, pick: number): string =>
  `15:csi-FailedPrecondition:1,${at}:crash-request-arrives-late:${pick},${at + 5}:effect-after-the-deadline:1`;

async function brokenPromises(sabotage: Sabotage): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  for (const at of [20, 21, 22])
    for (let pick = 1; pick <= 6; pick++)
      for (const id of await brokenIn({ scenario: "dynamic-create", seed: 1, plan: planAt(at, pick) }, sabotage))
        ids.add(id);
  return ids;
}

test("a late request of a dead sidecar does not remove the being-created annotation of its successor", async () =>
  assert.deepEqual([...(await brokenPromises({}))], []));

test("a sidecar that does not write its id would lose the being-created annotation", async () => {
  const planSidecar = (view: Parameters<typeof planContent>[0]) =>
    planContent(
      withAttempt(view, {
        createSent: "sent",
        sidecarId:
          view.facts.content.metadata.annotations?.[annotations.snapshotterId] ?? view.memory.attempt.sidecarId,
      }),
    );
  assert.deepEqual([...(await brokenPromises({ planSidecar: planSidecar as never }))], ["I-3"]);
});
