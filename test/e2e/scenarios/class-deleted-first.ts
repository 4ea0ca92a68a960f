import assert from "node:assert/strict";
import { aBoundClaim, aClassFor } from "../harness/components.ts";
import { namespace, type Scenario } from "../harness/scenario.ts";

export const classDeletedFirst: Scenario = {
  shows: "class, claim and volume can be deleted before the snapshot",
  async play({ client, stand, assertNothingLeft }) {
    await aBoundClaim(stand.fixtures, "early");
    await aClassFor(stand.fixtures, "passing", "Delete");
    await stand.take("early", "early", "passing");
    await stand.untilReady("early");
    await stand.untilUnprotected("early");
    await client.delete({ kind: "VolumeSnapshotClass", name: "passing" });
    const claim = { kind: "PersistentVolumeClaim", namespace, name: "early" } as const;
    await client.delete(claim);
    await stand.untilGone(claim);
    const volume = { kind: "PersistentVolume", name: `${namespace}-early` } as const;
    await client.delete(volume);
    await stand.untilGone(volume);
    assert.equal((await stand.get("early")).status?.error, undefined);
    await stand.remove("early");
    await assertNothingLeft();
  },
};
