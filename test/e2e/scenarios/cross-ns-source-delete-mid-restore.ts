import assert from "node:assert/strict";
import { draftOf } from "../../../src/api/builders.ts";
import type { Ref } from "../../../src/api/plan.ts";
import { isFault } from "../../../src/base/fault.ts";
import { namespace, type Scenario, type ScenarioContext } from "../harness/scenario.ts";
import { aWaitingClaim, untilHeldBy } from "../harness/waiting-claims.ts";

async function abroad({ client }: ScenarioContext): Promise<void> {
  await client.create("Namespace", draftOf("Namespace", { name: "abroad" }, {})).catch((reason: unknown) => {
    if (!isFault(reason, "AlreadyExists")) throw reason;
  });
}

/** The owner of the snapshot lets claims of the other namespace refer to it. */
async function lend({ client }: ScenarioContext, name: string): Promise<Ref<"ReferenceGrant">> {
  const spec = {
    from: [{ group: "", kind: "PersistentVolumeClaim", namespace: "abroad" }],
    to: [{ group: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name }],
  };
  const ref = { kind: "ReferenceGrant", namespace, name } as const;
  await client.create("ReferenceGrant", draftOf("ReferenceGrant", ref, { spec }));
  return ref;
}

const granted: Scenario = {
  shows:
    "a claim of another namespace with a ReferenceGrant blocks the snapshot's deletion, until the claim or the grant is gone",
  async play(scenario) {
    const { client, stand, take, assertNothingLeft } = scenario;
    await abroad(scenario);
    for (const end of ["claim", "grant"] as const) {
      const grant = await lend(scenario, `lent-${end}`);
      await take(`lent-${end}`);
      await stand.untilReady(`lent-${end}`);
      const claim = await aWaitingClaim(scenario, `copy-${end}`, "abroad", `lent-${end}`);
      await client.delete(stand.ref(`lent-${end}`));
      await untilHeldBy(scenario, `abroad/copy-${end}`);
      assert.equal((await stand.handles()).length, 1);
      await client.delete(end === "claim" ? claim : grant);
      await stand.untilGone(stand.ref(`lent-${end}`));
      await client.delete(end === "claim" ? grant : claim);
    }
    await assertNothingLeft();
  },
};

const ungranted: Scenario = {
  shows:
    "a claim of another namespace without a grant does not block the snapshot's deletion, and its name is not shown",
  async play(played) {
    const { client, stand, take, assertNothingLeft } = played;
    await abroad(played);
    await take("coveted");
    await stand.untilReady("coveted");
    const claim = await aWaitingClaim(played, "stranger", "abroad", "coveted");
    await client.delete(stand.ref("coveted"));
    await stand.untilGone(stand.ref("coveted"));
    const events = (await client.list("Event", { namespace })).objects;
    assert.deepEqual(
      events.filter(({ message }) => message?.includes("stranger")),
      [],
    );
    await client.delete(claim);
    await assertNothingLeft();
  },
};

export const crossNsSourceDeleteMidRestore = [granted, ungranted] as const;
