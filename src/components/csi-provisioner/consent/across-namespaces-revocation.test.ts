/** A grant that is revoked at any moment of a restore. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Across,
  type AcrossStage,
  assertDenied,
  jsonAnswer,
  lostReply,
  ref,
  setUpAcross,
} from "../../../../test/across-namespaces.ts";

test("a grant that is revoked while the watch of grants is cut off is not used", async () => {
  let isCut = false;
  const stage = await setUpAcross({
    answer: ({ path }) =>
      isCut && /\/referencegrants\?/.test(path) ? jsonAnswer(500, { kind: "Status", code: 500 }) : undefined,
  });
  await stage.snapshot("monday", "s-1");
  await stage.grant("lend");
  await stage.start();
  await stage.world.advance(1_000);
  isCut = true;
  // The watch that is open ends within ten minutes, and a new one is refused.
  await stage.world.advance(600_000);
  await stage.world.run(stage.revoke("lend"));
  await stage.claim("copy", ref());
  await assertDenied(stage);
  await stage.end();
});

/** Each moment at which the grant may be revoked: before every request of the provisioner, and before every call to the driver. */
async function revokedAt(index: number, more: Pick<Across, "afterCreate"> = {}) {
  let stage: AcrossStage | undefined;
  let revokedBefore: string | undefined;
  stage = await setUpAcross({
    ...more,
    before: async (step, at) => {
      if (at !== index) return;
      revokedBefore = step;
      await stage?.revoke("lend");
    },
  });
  await stage.snapshot("monday", "s-1");
  await stage.grant("lend");
  await stage.start();
  await stage.claim("copy", ref());
  await stage.world.advance(300_000);
  const outcome = {
    revokedBefore,
    steps: [...stage.steps],
    volumes: [...stage.volumes.values()],
    published: (await stage.published()).length,
    said: await stage.said("copy"),
  };
  await stage.end();
  return outcome;
}

test("a grant that is revoked at any moment before it is read stops the restore, and later ones do not", async () => {
  const moments: string[] = [];
  for (let index = 0; ; index += 1) {
    const { revokedBefore, steps, volumes, published } = await revokedAt(index);
    if (revokedBefore === undefined) break;
    moments.push(revokedBefore);
    const readAt = steps.indexOf("GET referencegrants");
    const isTooLate = readAt !== -1 && readAt < index;
    assert.deepEqual([volumes.length, published], isTooLate ? [1, 1] : [0, 0], `revoked before ${index}: ${steps}`);
    if (!isTooLate) assert.ok(!steps.includes("CreateVolume"), `revoked before ${index}: ${steps}`);
  }
  assert.deepEqual(moments.slice(0, 8), [
    "GET leases",
    "POST leases",
    "GET volumesnapshotcontents",
    "PUT volumesnapshots",
    "PUT leases",
    "GET volumesnapshots",
    "GET referencegrants",
    "CreateVolume",
  ]);
});

test("a volume of unknown outcome is published with a grant, and deleted without one, whenever it was revoked", async () => {
  let outcomes = 0;
  for (let index = 0; ; index += 1) {
    const { revokedBefore, steps, volumes, published } = await revokedAt(index, {
      afterCreate: (count) => (count <= 2 ? lostReply() : undefined),
    });
    if (revokedBefore === undefined) break;
    outcomes += 1;
    assert.equal(volumes.length, published, `revoked before step ${index}: ${steps}`);
    const lastRead = steps.lastIndexOf("GET referencegrants");
    if (published === 0 && steps.includes("CreateVolume"))
      assert.ok(steps.includes("DeleteVolume"), `revoked before step ${index}: ${steps}`);
    if (published === 1) assert.ok(lastRead < index, `published though it was revoked before ${index}: ${steps}`);
  }
  assert.ok(outcomes > 10, `${outcomes} moments`);
});

const unanswered = jsonAnswer(504, { kind: "Status", code: 504 });
const forbidden = jsonAnswer(403, { kind: "Status", code: 403, reason: "Forbidden" });

/** The first request that stores the PersistentVolume has no outcome: it may be stored for a minute, and the grant is revoked. */
async function assertKeptForAMinute(stage: AcrossStage): Promise<void> {
  await stage.world.advance(50_000);
  assert.deepEqual([stage.volumes.size, stage.steps.includes("DeleteVolume")], [1, false]);
  await stage.world.advance(20_000);
  assert.deepEqual([stage.volumes.size, await stage.published()], [0, []]);
  await stage.end();
}

test("a volume that a predecessor may have published is deleted without a grant when that request cannot arrive any more", async () => {
  const stage = await setUpAcross({
    before: async (step) => (step === "POST persistentvolumes" ? unanswered : undefined),
  });
  await stage.snapshot("monday", "s-1");
  await stage.grant("lend");
  const predecessor = await stage.start();
  await stage.claim("copy", ref());
  await stage.world.advance(1_000);
  await predecessor.stop();
  assert.ok(stage.steps.includes("POST persistentvolumes"));
  await stage.world.run(stage.revoke("lend"));
  await stage.start();
  await assertKeptForAMinute(stage);
});

test("a volume whose PersistentVolume the server refuses is deleted without a grant when no earlier request can arrive any more", async () => {
  let stage: AcrossStage | undefined;
  let requests = 0;
  stage = await setUpAcross({
    before: async (step) => {
      if (step !== "POST persistentvolumes") return undefined;
      requests += 1;
      if (requests === 1) return unanswered;
      await stage?.revoke("lend");
      return forbidden;
    },
  });
  await stage.snapshot("monday", "s-1");
  await stage.grant("lend");
  await stage.start();
  await stage.claim("copy", ref());
  for (let seconds = 0; requests < 2 && seconds < 30; seconds++) await stage.world.advance(1_000);
  await assertKeptForAMinute(stage);
});
