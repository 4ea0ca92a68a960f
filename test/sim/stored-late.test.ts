/** A provisioner is killed while it stores a PersistentVolume, and its successor cannot read grants when the request is still on its way. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { planVolume } from "../../src/components/csi-provisioner/volumes/plan.ts";
import { brokenIn } from "./once-found.ts";

const found = {
  scenario: "across-namespaces-by-ref",
  seed: 3000050493,
  plan: "78:crash-request-arrives-late:1428214146,71:csi-DeadlineExceeded-after-effect:325970075,77:crash-request-arrives-late:702511966,101:effect-after-the-deadline:779987246,29:user-strips-content:944332765",
};

test("a volume is kept while its PersistentVolume may still be stored by the request of a predecessor", async () =>
  assert.deepEqual(await brokenIn(found), []));

test("a provisioner that does not wait for such requests would delete the volume of a claim that is bound then", async () => {
  const planAtOnce = (view: Parameters<typeof planVolume>[0]) =>
    planVolume({ ...view, memory: { ...view.memory, lateVolumeMs: 0 } });
  assert.deepEqual(await brokenIn(found, { planVolume: planAtOnce as never }), ["V-5"]);
});
