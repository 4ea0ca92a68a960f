import assert from "node:assert/strict";
import { draftOf } from "../../../src/api/builders.ts";
import type { Scenario } from "../harness/scene.ts";
import { aWaitingClaim, untilHeldBy } from "../harness/waiting-claims.ts";

export const crossNsSourceDeleteMidRestore: Scenario = {
  shows: "a claim of another namespace that waits for the snapshot holds it like any other",
  async play(scene) {
    const { client, stand, take, assertNothingLeft } = scene;
    await client.create("Namespace", draftOf("Namespace", { name: "abroad" }, {} as never));
    await take("lent");
    await stand.untilReady("lent");
    const claim = await aWaitingClaim(scene, "copy", "abroad", "lent");
    await client.delete(stand.ref("lent"));
    await untilHeldBy(scene, "abroad/copy");
    assert.equal((await stand.handles()).length, 1);
    await client.delete(claim);
    await stand.untilGone(stand.ref("lent"));
    await assertNothingLeft();
  },
};
