import assert from "node:assert/strict";
import { statfsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { silent } from "../../base/log.ts";
import { realWorld } from "../../base/world.ts";
import { type CsiClient, createCsiClientOver } from "../../csi/client.ts";
import { VolumeCapability_AccessMode_Mode as AccessMode } from "../../csi/gen/csi_pb.js";
import { unaryOf } from "../../csi/serve.ts";
import { createDirectoryDriver, type DirectoryDriver, type DirectoryDriverOptions } from "./index.ts";

const startMs = 1_800_000_000_123;

/** The whole driver without a socket. Its clock stands still until `pass` moves it. */
async function aDriver(t: TestContext, options: Partial<DirectoryDriverOptions> = {}) {
  const root = await mkdtemp(join(tmpdir(), "driver-"));
  let nowMs = startMs;
  const world = { ...realWorld, now: () => nowMs };
  const driver = await createDirectoryDriver({
    root,
    name: "directory.example.com",
    nodeId: "node-1",
    version: "1.2.3",
    snapshotDelayMs: 0,
    snapshotSecret: "",
    world,
    log: silent,
    ...options,
  });
  t.after(async () => {
    await driver.close();
    await rm(root, { recursive: true, force: true });
  });
  const client = createCsiClientOver(unaryOf(driver.services), { world: realWorld, log: silent });
  const pass = (ms: number): void => {
    nowMs += ms;
  };
  return { root, driver, client, pass };
}

const asked = (name: string, mode: "mount" | "block" = "mount") => ({
  name,
  volumeCapabilities: [
    { accessType: { case: mode, value: {} } as const, accessMode: { mode: AccessMode.SINGLE_NODE_WRITER } },
  ],
});
const fromSnapshot = (snapshotId: string) => ({
  volumeContentSource: { type: { case: "snapshot" as const, value: { snapshotId } } },
});

async function aVolume({ controller }: CsiClient, name: string): Promise<string> {
  return (await controller.createVolume(asked(name))).volume?.volumeId ?? "";
}

const fileIn = ({ storage }: DirectoryDriver, volumeId: string): string => {
  const volume = storage.volumes.get(volumeId) ?? assert.fail(`no volume ${volumeId}`);
  return join(storage.dataOf(volume), "file");
};

test("the driver reports its identity and capabilities", async (t) => {
  const { client } = await aDriver(t);
  const never = new AbortController().signal;
  assert.equal(await client.pluginName(never), "directory.example.com");
  assert.equal((await client.identity.getPluginInfo({})).vendorVersion, "1.2.3");
  assert.equal((await client.node.nodeGetInfo({})).nodeId, "node-1");
  const { plugin, controller } = await client.capabilities(never);
  assert.ok(plugin.has("CONTROLLER_SERVICE"));
  const wanted = ["CREATE_DELETE_SNAPSHOT", "LIST_SNAPSHOTS", "CLONE_VOLUME", "EXPAND_VOLUME", "GET_CAPACITY"] as const;
  for (const capability of wanted) assert.ok(controller.has(capability), capability);
});

test("the lifecycle of a volume: create, write, snapshot, overwrite, restore, clone, expand, list, delete", async (t) => {
  const { root, client, driver } = await aDriver(t);
  const { controller } = client;
  const volumeId = await aVolume(client, "first");
  await writeFile(fileIn(driver, volumeId), "first bytes");
  const { snapshot } = await controller.createSnapshot({ name: "cut", sourceVolumeId: volumeId });
  assert.deepEqual(
    [snapshot?.sizeBytes, snapshot?.readyToUse, snapshot?.creationTime?.seconds, snapshot?.creationTime?.nanos],
    [2n ** 30n, true, 1_800_000_000n, 123_000_000],
  );
  await writeFile(fileIn(driver, volumeId), "spoiled");
  const restored = await controller.createVolume({ ...asked("restored"), ...fromSnapshot("cut") });
  assert.equal(restored.volume?.contentSource?.type.case, "snapshot");
  assert.equal(await readFile(fileIn(driver, "restored"), "utf8"), "first bytes");
  const volumeContentSource = { type: { case: "volume" as const, value: { volumeId } } };
  await controller.createVolume({ ...asked("clone"), volumeContentSource });
  assert.equal(await readFile(fileIn(driver, "clone"), "utf8"), "spoiled");

  const grown = await controller.controllerExpandVolume({ volumeId, capacityRange: { requiredBytes: 2n ** 31n } });
  assert.deepEqual([grown.capacityBytes, grown.nodeExpansionRequired], [2n ** 31n, false]);
  const { entries } = await controller.listVolumes({});
  assert.deepEqual(
    entries.map(({ volume }) => [volume?.volumeId, volume?.capacityBytes]),
    [
      ["clone", 2n ** 30n],
      ["first", 2n ** 31n],
      ["restored", 2n ** 30n],
    ],
  );
  await controller.deleteVolume({ volumeId });
  assert.equal((await controller.listSnapshots({ snapshotId: "cut" })).entries.length, 1, "it outlives its volume");
  await controller.deleteSnapshot({ snapshotId: "cut" });
  for (const id of ["restored", "clone"]) await controller.deleteVolume({ volumeId: id });
  assert.deepEqual([await readdir(join(root, "volumes")), await readdir(join(root, "snapshots"))], [[], []]);
});

test("snapshots are listed by id, by source, and in pages", async (t) => {
  const { client } = await aDriver(t);
  const { controller } = client;
  for (const volume of ["v", "w"]) {
    await aVolume(client, volume);
    for (const number of [1, 2])
      await controller.createSnapshot({ name: `${volume}-${number}`, sourceVolumeId: volume });
  }
  const list = async (request: Parameters<typeof controller.listSnapshots>[0]): Promise<string[]> =>
    (await controller.listSnapshots(request)).entries.map(({ snapshot }) => snapshot?.snapshotId ?? "");
  assert.deepEqual(await list({ sourceVolumeId: "w" }), ["w-1", "w-2"]);
  assert.deepEqual(await list({ snapshotId: "v-2" }), ["v-2"]);
  assert.deepEqual(await list({ snapshotId: "none" }), []);
  const first = await controller.listSnapshots({ maxEntries: 3 });
  assert.deepEqual(await list({ startingToken: first.nextToken }), ["w-2"]);
});

test("with a delay a snapshot is ready later, keeps its creation time, and cannot be restored before", async (t) => {
  const { client, pass } = await aDriver(t, { snapshotDelayMs: 5_000 });
  const { controller } = client;
  await aVolume(client, "v");
  const take = () => controller.createSnapshot({ name: "s", sourceVolumeId: "v" });
  const first = (await take()).snapshot;
  assert.equal(first?.readyToUse, false);
  await assert.rejects(controller.createVolume({ ...asked("r"), ...fromSnapshot("s") }), {
    code: "Unavailable",
    message: /not ready to use yet/,
  });
  pass(5_000);
  const then = (await take()).snapshot;
  assert.deepEqual([then?.readyToUse, then?.creationTime], [true, first.creationTime]);
  assert.equal((await controller.listSnapshots({})).entries[0]?.snapshot?.readyToUse, true);
  await controller.createVolume({ ...asked("r"), ...fromSnapshot("s") });
});

test("with a token only calls with the token take and delete snapshots, and no error contains it", async (t) => {
  const { client } = await aDriver(t, { snapshotSecret: "open-sesame" });
  const { controller } = client;
  await aVolume(client, "v");
  const known = { secrets: { token: "open-sesame" } };
  for (const secrets of [{}, { token: "open-barley" }]) {
    await assert.rejects(controller.createSnapshot({ name: "s", sourceVolumeId: "v", secrets }), {
      code: "Unauthenticated",
      message: /snapshotter-secret-name/,
    });
    await assert.rejects(controller.deleteSnapshot({ snapshotId: "s", secrets }), (reason: Error) => {
      assert.doesNotMatch(reason.message, /open-/);
      return true;
    });
  }
  await controller.createSnapshot({ name: "s", sourceVolumeId: "v", ...known });
  await controller.deleteSnapshot({ snapshotId: "s", ...known });
});

const refusals: readonly { given: string; code: string; ask(client: CsiClient): Promise<unknown> }[] = [
  {
    given: "a volume for many nodes",
    code: "InvalidArgument",
    ask: ({ controller }) =>
      controller.createVolume({
        name: "many",
        volumeCapabilities: [
          { accessType: { case: "mount", value: {} }, accessMode: { mode: AccessMode.MULTI_NODE_MULTI_WRITER } },
        ],
      }),
  },
  {
    given: "a restore into the other mode",
    code: "InvalidArgument",
    ask: ({ controller }) => controller.createVolume({ ...asked("r", "block"), ...fromSnapshot("s") }),
  },
  {
    given: "a restore of nothing",
    code: "NotFound",
    ask: ({ controller }) => controller.createVolume({ ...asked("r"), ...fromSnapshot("none") }),
  },
  {
    given: "a snapshot without a name",
    code: "InvalidArgument",
    ask: (c) => c.controller.createSnapshot({ sourceVolumeId: "v" }),
  },
  {
    given: "a snapshot without a source",
    code: "InvalidArgument",
    ask: (c) => c.controller.createSnapshot({ name: "x" }),
  },
  {
    given: "a snapshot of a volume that does not exist",
    code: "NotFound",
    ask: (c) => c.controller.createSnapshot({ name: "x", sourceVolumeId: "../v" }),
  },
  { given: "a deletion of no snapshot", code: "InvalidArgument", ask: (c) => c.controller.deleteSnapshot({}) },
  { given: "a deletion of no volume", code: "InvalidArgument", ask: (c) => c.controller.deleteVolume({}) },
  {
    given: "growth without a size",
    code: "InvalidArgument",
    ask: (c) => c.controller.controllerExpandVolume({ volumeId: "v" }),
  },
  {
    given: "growth beyond its own limit",
    code: "OutOfRange",
    ask: (c) =>
      c.controller.controllerExpandVolume({ volumeId: "v", capacityRange: { requiredBytes: 9n, limitBytes: 5n } }),
  },
  {
    given: "growth to less than the volume has",
    code: "OutOfRange",
    ask: (c) =>
      c.controller.controllerExpandVolume({ volumeId: "v", capacityRange: { requiredBytes: 4n, limitBytes: 5n } }),
  },
  {
    given: "growth of nothing",
    code: "NotFound",
    ask: (c) => c.controller.controllerExpandVolume({ volumeId: "none", capacityRange: { requiredBytes: 5n } }),
  },
  {
    given: "a look at the capabilities of nothing",
    code: "NotFound",
    ask: (c) => c.controller.validateVolumeCapabilities({ ...asked("x"), volumeId: "none" }),
  },
  {
    given: "a method the driver does not have",
    code: "Unimplemented",
    ask: (c) => c.controller.controllerPublishVolume({}),
  },
];
for (const { given, code, ask } of refusals)
  test(`given ${given}, the answer is ${code}`, async (t) => {
    const { client } = await aDriver(t);
    await aVolume(client, "v");
    await client.controller.createSnapshot({ name: "s", sourceVolumeId: "v" });
    await assert.rejects(ask(client), { code });
  });

test("ValidateVolumeCapabilities confirms only the volume's own mode", async (t) => {
  const { client } = await aDriver(t);
  await aVolume(client, "v");
  const confirm = (mode: "mount" | "block") =>
    client.controller.validateVolumeCapabilities({ volumeId: "v", ...asked("v", mode) });
  assert.equal((await confirm("mount")).confirmed?.volumeCapabilities.length, 1);
  const refused = await confirm("block");
  assert.deepEqual([refused.confirmed, refused.message], [undefined, "volume v is a mount volume"]);
});

test("GetCapacity reports space, but none for multi-node volumes", async (t) => {
  const { client, root } = await aDriver(t);
  const { bavail, bsize } = statfsSync(root);
  const reported = Number((await client.controller.getCapacity({})).availableCapacity);
  // Others write to the same disk meanwhile.
  assert.ok(reported > (bavail * bsize) / 2 && reported < bavail * bsize * 2, `${reported} bytes of ${bavail * bsize}`);
  const volumeCapabilities = [
    {
      accessType: { case: "mount" as const, value: {} },
      accessMode: { mode: AccessMode.MULTI_NODE_READER_ONLY },
    },
  ];
  assert.equal((await client.controller.getCapacity({ volumeCapabilities })).availableCapacity, 0n);
});

test("inline volumes of pods are not listed", async (t) => {
  const { client, driver } = await aDriver(t);
  await driver.storage.createVolume({
    name: "inline",
    mode: "mount",
    origin: { kind: "empty" },
    bytesMin: 0,
    bytesMax: 0,
    ephemeral: true,
  });
  assert.deepEqual((await client.controller.listVolumes({})).entries, []);
});

test("unpublishing a missing target succeeds, and an unreadable target is an error", async (t) => {
  const { client, root } = await aDriver(t);
  const volumeId = await aVolume(client, "v");
  await client.node.nodeUnpublishVolume({ volumeId, targetPath: join(root, "none") });
  await symlink("loop", join(root, "loop"));
  await assert.rejects(client.node.nodeUnpublishVolume({ volumeId, targetPath: join(root, "loop") }), /ELOOP/);
});

test("an inline volume is deleted with its pod, for any name", async (t) => {
  const { client, driver } = await aDriver(t);
  for (const name of ["csi-1234", "pod/with a name that is no file name"]) {
    const wanted = {
      name,
      mode: "mount",
      origin: { kind: "empty" },
      bytesMin: 0,
      bytesMax: 0,
      ephemeral: true,
    } as const;
    await driver.storage.createVolume(wanted);
    await client.node.nodeUnpublishVolume({ volumeId: name, targetPath: "/nowhere/at/all" });
    assert.deepEqual(driver.storage.volumes.all(), []);
  }
});
