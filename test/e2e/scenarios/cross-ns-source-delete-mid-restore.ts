import assert from "node:assert/strict";
import { draftOf } from "../../../src/api/builders.ts";
import { finalizers } from "../../../src/api/names.ts";
import type { Ref } from "../../../src/api/plan.ts";
import { isFault } from "../../../src/base/fault.ts";
import { namespace, type Scenario, type ScenarioContext } from "../harness/scenario.ts";
import { isThere } from "../harness/snapshots.ts";
import { until } from "../harness/until.ts";
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

/** As a provisioner does before it stores a CreateVolume call, and after the call is settled. */
async function setRestoring({ client, stand }: ScenarioContext, name: string, isStored: boolean): Promise<void> {
  await until({ what: `the finalizer of ${name} is ${isStored ? "on" : "removed"}` }, async () => {
    const { metadata } = await client.get(stand.ref(name));
    const others = (metadata.finalizers ?? []).filter((other) => other !== finalizers.snapshotRestoring);
    const wanted = isStored ? [...others, finalizers.snapshotRestoring] : others;
    const body = { metadata: { resourceVersion: metadata.resourceVersion, finalizers: wanted } };
    return client.patch(stand.ref(name), { type: "merge", body }).then(
      () => true as const,
      (reason: unknown) => {
        if (!isFault(reason, "Conflict")) throw reason;
        return undefined;
      },
    );
  });
}

const granted: Scenario = {
  shows:
    "a claim of another namespace with a ReferenceGrant blocks the snapshot's deletion while a CreateVolume call is stored, until the claim, the call or the grant is gone",
  async play(scenario) {
    const { client, stand, take, assertNothingLeft } = scenario;
    await abroad(scenario);
    for (const end of ["claim", "call", "grant"] as const) {
      const grant = await lend(scenario, `lent-${end}`);
      await take(`lent-${end}`);
      await stand.untilReady(`lent-${end}`);
      const claim = await aWaitingClaim(scenario, `copy-${end}`, "abroad", `lent-${end}`);
      await setRestoring(scenario, `lent-${end}`, true);
      const content = await stand.contentOf(`lent-${end}`);
      await client.delete(stand.ref(`lent-${end}`));
      await untilHeldBy(scenario, `abroad/copy-${end}, which ReferenceGrant ${namespace}/lent-${end} permits`);
      assert.equal((await stand.handles()).length, 1);
      if (end !== "call") await client.delete(end === "claim" ? claim : grant);
      // While the finalizer is on, the snapshot stays, and its content goes.
      if (end !== "call") await stand.untilGone({ kind: "VolumeSnapshotContent", name: content.metadata.name });
      await setRestoring(scenario, `lent-${end}`, false);
      await stand.untilGone(stand.ref(`lent-${end}`));
      for (const ref of [grant, claim]) if (await isThere(scenario, ref)) await client.delete(ref);
    }
    await assertNothingLeft();
  },
};

const pinning: Scenario = {
  shows: "a claim of another namespace that has a grant, and no class that anybody serves, does not block the deletion",
  async play(scenario) {
    const { client, stand, take, assertNothingLeft } = scenario;
    await abroad(scenario);
    const grant = await lend(scenario, "pinned");
    await take("pinned");
    await stand.untilReady("pinned");
    const claim = await aWaitingClaim(scenario, "pinning", "abroad", "pinned");
    await client.delete(stand.ref("pinned"));
    await stand.untilGone(stand.ref("pinned"));
    for (const ref of [grant, claim]) await client.delete(ref);
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

export const crossNsSourceDeleteMidRestore = [granted, pinning, ungranted] as const;
