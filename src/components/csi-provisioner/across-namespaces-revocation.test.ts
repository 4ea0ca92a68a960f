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
} from "../../../test/across-namespaces.ts";

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
  assert.deepEqual(moments.slice(0, 7), [
    "GET leases",
    "GET volumesnapshotcontents",
    "PUT volumesnapshots",
    "POST leases",
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
