import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { silent } from "../../base/log.ts";
import { realWorld } from "../../base/world.ts";
import { createCsiClientOver } from "../../csi/client.ts";
import { VolumeCapability_AccessMode_Mode as AccessMode } from "../../csi/gen/csi_pb.js";
import { unaryOf } from "../../csi/serve.ts";
import { createDirectoryDriver, type DirectoryDriver } from "./index.ts";

async function open(root: string) {
  const driver = await createDirectoryDriver({
    root,
    name: "directory.example.com",
    nodeId: "node-1",
    version: "1",
    snapshotDelayMs: 0,
    snapshotSecret: "",
    world: realWorld,
    log: silent,
  });
  return { driver, ...createCsiClientOver(unaryOf(driver.services), { world: realWorld, log: silent }) };
}

async function aDriver(t: TestContext, volumes = ["a", "b"]) {
  const root = await mkdtemp(join(tmpdir(), "groups-"));
  t.after(() => rm(root, { recursive: true, force: true }));
  const opened = await open(root);
  for (const name of volumes) {
    await opened.controller.createVolume(asked(name));
    await writeFile(fileIn(opened.driver, name), `words of ${name}`);
  }
  return { root, ...opened };
}
const asked = (name: string) => ({
  name,
  volumeCapabilities: [
    { accessType: { case: "mount", value: {} } as const, accessMode: { mode: AccessMode.SINGLE_NODE_WRITER } },
  ],
});
const fileIn = ({ storage }: DirectoryDriver, id: string): string =>
  join(storage.dataOf(storage.volumes.get(id) ?? assert.fail(`no volume ${id}`)), "file");

test("the driver announces groups", async (t) => {
  const { driver, capabilities } = await aDriver(t);
  const { plugin, group } = await capabilities(new AbortController().signal);
  assert.ok(plugin.has("GROUP_CONTROLLER_SERVICE"));
  assert.deepEqual([...group], ["CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT"]);
  await driver.close();
});

test("a group has a snapshot of each volume, is the same when asked for again, and can be restored member by member", async (t) => {
  const { driver, group, controller } = await aDriver(t);
  const request = { name: "g", sourceVolumeIds: ["a", "b"] };
  const { groupSnapshot: taken } = await group.createVolumeGroupSnapshot(request);
  assert.deepEqual(
    taken?.snapshots.map(({ sourceVolumeId, groupSnapshotId, readyToUse }) => [
      sourceVolumeId,
      groupSnapshotId,
      readyToUse,
    ]),
    [
      ["a", "g", true],
      ["b", "g", true],
    ],
  );
  await writeFile(fileIn(driver, "b"), "spoiled");
  const again = await group.createVolumeGroupSnapshot({ ...request, sourceVolumeIds: ["b", "a"] });
  assert.deepEqual(again.groupSnapshot, taken);
  const snapshotIds = taken?.snapshots.map(({ snapshotId }) => snapshotId) ?? [];
  const got = await group.getVolumeGroupSnapshot({ groupSnapshotId: "g", snapshotIds });
  assert.deepEqual(got.groupSnapshot, taken);
  assert.equal((await controller.listSnapshots({ snapshotId: snapshotIds[1] ?? "" })).entries.length, 1);
  await controller.createVolume({
    ...asked("restored"),
    volumeContentSource: { type: { case: "snapshot", value: { snapshotId: snapshotIds[1] ?? "" } } },
  });
  assert.equal(await readFile(fileIn(driver, "restored"), "utf8"), "words of b");
  await group.deleteVolumeGroupSnapshot({ groupSnapshotId: "g", snapshotIds });
  assert.equal((await controller.listSnapshots({})).entries.length, 0);
  await group.deleteVolumeGroupSnapshot({ groupSnapshotId: "g", snapshotIds });
  await driver.close();
});

test("all members or none: a volume that does not exist, or cannot be copied, leaves nothing", async (t) => {
  const { root, driver, group, controller } = await aDriver(t);
  await assert.rejects(group.createVolumeGroupSnapshot({ name: "g", sourceVolumeIds: ["a", "missing"] }), {
    code: "NotFound",
  });
  await rm(join(root, "volumes", "b", "data"), { recursive: true });
  await assert.rejects(group.createVolumeGroupSnapshot({ name: "g", sourceVolumeIds: ["a", "b"] }));
  assert.deepEqual(await readdir(join(root, "groups")), []);
  assert.equal((await controller.listSnapshots({})).entries.length, 0);
  await driver.close();
});

test("what a killed driver had copied of a group is removed at the next start", async (t) => {
  const { root, driver } = await aDriver(t);
  await driver.close();
  await mkdir(join(root, ".making-groups", "g-1", "g.m0", "data"), { recursive: true });
  const reopened = await open(root);
  assert.deepEqual(await readdir(join(root, ".making-groups")), []);
  assert.equal((await reopened.controller.listSnapshots({})).entries.length, 0);
  await reopened.driver.close();
});

test("a member is not deleted singly, and a group only by whoever names its members", async (t) => {
  const { driver, group, controller } = await aDriver(t);
  await group.createVolumeGroupSnapshot({ name: "g", sourceVolumeIds: ["a", "b"] });
  await assert.rejects(controller.deleteSnapshot({ snapshotId: "g.m0" }), { message: /member of group g/ });
  for (const snapshotIds of [[], ["g.m0"], ["g.m0", "other"], ["g.m0", "g.m1", "g.m2"]]) {
    const named = { groupSnapshotId: "g", snapshotIds };
    await assert.rejects(group.deleteVolumeGroupSnapshot(named), { code: "InvalidArgument" });
    await assert.rejects(group.getVolumeGroupSnapshot(named), { code: "InvalidArgument" });
  }
  assert.equal((await controller.listSnapshots({})).entries.length, 2);
  await driver.close();
});

test("a name that is taken with other volumes, and a volume that is named twice, are refused", async (t) => {
  const { driver, group } = await aDriver(t);
  await group.createVolumeGroupSnapshot({ name: "g", sourceVolumeIds: ["a"] });
  await assert.rejects(group.createVolumeGroupSnapshot({ name: "g", sourceVolumeIds: ["a", "b"] }), {
    code: "AlreadyExists",
  });
  await assert.rejects(group.createVolumeGroupSnapshot({ name: "h", sourceVolumeIds: ["a", "a"] }), {
    message: /names a volume twice/,
  });
  await driver.close();
});
