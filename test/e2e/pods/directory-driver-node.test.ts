/** directory-driver with root and without Kubernetes: csi-sanity, shared blocks, faithful copies, mounts and devices. */
import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statfsSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { VolumeCapability_AccessMode_Mode as AccessMode } from "../../../src/csi/gen/csi_pb.js";
import { connectTo } from "../../csi-sockets.ts";
import { racing, repeatedFor } from "../../racing.ts";
import {
  capabilityOf,
  type DirectoryDriverOptions,
  fromSnapshot,
  newVolume,
  startDirectoryDriver,
} from "../harness/directory-driver.ts";
import { createInstance, type Instance } from "../harness/instance.ts";
import { mountsUnder } from "../harness/mounts.ts";
import { run } from "../harness/run.ts";
import { loopsOver } from "../harness/stray-processes.ts";
import { tool } from "../harness/tools.ts";

/** At import, so that a build counts against no test's time. */
const sanity = await tool("csi-sanity");

const mebi = 2 ** 20;

async function must(program: string, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run(program, args);
  assert.equal(code, 0, `${program} ${args.join(" ")}: ${stdout}${stderr}`);
  return stdout;
}

function anInstance(t: TestContext): Instance {
  const instance = createInstance();
  t.after(() => instance.stop());
  return instance;
}

async function aDriver(t: TestContext, instance = anInstance(t), options: DirectoryDriverOptions = {}) {
  const driver = await startDirectoryDriver(instance, options);
  const client = connectTo(t, driver.socket);
  const dataOf = (id: string): string => join(driver.root, "volumes", id, "data");
  const take = (name: string, sourceVolumeId: string) => client.controller.createSnapshot({ name, sourceVolumeId });
  const snapshotOf = (id: string): string => join(driver.root, "snapshots", id, "data");
  return { instance, driver, ...client, dataOf, snapshotOf, take };
}

interface SpecReport {
  readonly State: string;
  readonly LeafNodeType: string;
  readonly LeafNodeText: string;
  readonly ContainerHierarchyTexts: readonly string[];
  readonly Failure?: { readonly Message: string };
}
/** Pending is what csi-sanity itself never runs. */
const harmless = new Set(["passed", "skipped", "pending"]);
const eventsOf = ({ ContainerHierarchyTexts, LeafNodeText, Failure }: SpecReport): string =>
  `${[...ContainerHierarchyTexts, LeafNodeText].join(" ")}: ${Failure?.Message}`;

test("csi-sanity passes completely: what it skips needs a capability that a directory on one node does not have", async (t) => {
  const { instance, driver } = await aDriver(t);
  const report = join(instance.folder, "report.json");
  const { stdout } = await run(sanity, [
    "--ginkgo.no-color",
    `--ginkgo.json-report=${report}`,
    `--csi.endpoint=unix://${driver.socket}`,
    `--csi.mountdir=${join(instance.folder, "mount")}`,
    `--csi.stagingdir=${join(instance.folder, "staging")}`,
  ]);
  assert.ok(existsSync(report), `it did not come to an end: ${stdout.slice(-2_000)}`);
  const [suite] = JSON.parse(readFileSync(report, "utf8")) as readonly {
    readonly SpecReports: readonly SpecReport[];
  }[];
  const specs = (suite?.SpecReports ?? []).filter(({ LeafNodeType }) => LeafNodeType === "It");
  const failed = specs.filter(({ State }) => !harmless.has(State));
  assert.deepEqual(failed.map(eventsOf), [], "these specs fail");
  const reasons = specs.filter(({ State }) => State === "skipped").map(({ Failure }) => Failure?.Message);
  assert.deepEqual([...new Set(reasons)].sort(), [
    "Controller Publish, UnpublishVolume not supported",
    "ControllerModifyVolume not supported",
    "ControllerPublishVolume not supported",
    "ControllerUnpublishVolume not supported",
    "Modify Volume not supported",
    "Modify volume not supported",
    "NodeStageVolume not supported",
    "NodeUnstageVolume not supported",
  ]);
  assert.equal(specs.filter(({ State }) => State === "passed").length, 68);
  const { stdout: left } = await run("find", [driver.root, "-mindepth", "2"]);
  assert.equal(left, "", "it leaves nothing on the disk");
  assert.deepEqual(mountsUnder(instance.folder), []);
});

for (const kind of ["xfs", "btrfs"])
  test(`on ${kind} a snapshot, and a volume from it, share their blocks with the source`, async (t) => {
    const instance = anInstance(t);
    const [image, place] = [join(instance.folder, "image"), join(instance.folder, kind)];
    mkdirSync(place);
    await must("truncate", "--size=320M", image);
    await must(`mkfs.${kind}`, "-q", image);
    await must("mount", "-o", "loop", image, place);
    const { controller, dataOf, snapshotOf, take } = await aDriver(t, instance, { root: join(place, "root") });
    await newVolume({ controller }, "v");
    const bytes = Buffer.alloc(64 * mebi, "first bytes ");
    writeFileSync(join(dataOf("v"), "file"), bytes);
    await must("sync", "-f", place);
    const freeBytes = (): number => statfsSync(place).bavail * statfsSync(place).bsize;
    const before = freeBytes();
    await take("s", "v");
    await newVolume({ controller }, "restored", "mount", fromSnapshot("s"));
    await must("sync", "-f", place);
    const took = before - freeBytes();
    assert.ok(took < 8 * mebi, `two copies of 64 MiB took ${took} bytes`);
    assert.match(await must("filefrag", "-v", join(snapshotOf("s"), "file")), /\bshared\b/);
    writeFileSync(join(dataOf("v"), "file"), "spoiled");
    for (const copy of [snapshotOf("s"), dataOf("restored")])
      assert.ok(readFileSync(join(copy, "file")).equals(bytes), copy);
  });

test("a snapshot keeps owners, modes, times, extended attributes and pipes", async (t) => {
  const { controller, dataOf, snapshotOf, take } = await aDriver(t);
  await newVolume({ controller }, "v");
  const file = join(dataOf("v"), "file");
  writeFileSync(file, "x");
  await must("chown", "1234:5678", file);
  await must("chmod", "4750", file);
  await must("touch", "--date=2001-02-03T04:05:06.123456789", file);
  await must("setfattr", "--name=user.color", "--value=blue", file);
  await must("setfattr", "--name=trusted.secret", "--value=kept", file);
  await must("mkfifo", join(dataOf("v"), "pipe"));
  await must("chmod", "1770", dataOf("v"));
  await must("chown", "42:43", dataOf("v"));
  await must("setfattr", "--name=user.color", "--value=green", dataOf("v"));
  await take("s", "v");
  await newVolume({ controller }, "r", "mount", fromSnapshot("s"));
  for (const copy of [snapshotOf("s"), dataOf("r")]) {
    const shown = await must("stat", "--format=%a %u %g %y", copy, join(copy, "file"));
    assert.equal(shown, await must("stat", "--format=%a %u %g %y", dataOf("v"), file));
    const attributes = await must("getfattr", "--dump", "--match=-", "--absolute-names", join(copy, "file"));
    assert.match(attributes, /trusted\.secret="kept"\nuser\.color="blue"/);
    assert.match(await must("getfattr", "--dump", "--absolute-names", copy), /user\.color="green"/);
    assert.ok(statSync(join(copy, "pipe")).isFIFO());
  }
});

test("a pod that replaces folders by links during a copy as root gets no host files", async (t) => {
  const { instance, controller, node, snapshotOf, dataOf, take } = await aDriver(t);
  await newVolume({ controller }, "v");
  const targetPath = join(instance.folder, "pod");
  await node.nodePublishVolume({ volumeId: "v", targetPath, volumeCapability: capabilityOf("mount") });
  const host = join(instance.folder, "host");
  const names = Array.from({ length: 300 }, (_, index) => `key-${index}`);
  for (const [folder, text] of [
    [join(targetPath, "folder"), "own"],
    [host, "canary"],
  ] as const) {
    mkdirSync(folder);
    for (const name of names) writeFileSync(join(folder, name), text);
  }
  const swap = `
    fs.renameSync(data.pod + "/folder", data.pod + "/away");
    fs.symlinkSync(data.host, data.pod + "/folder");
    dwell();
    fs.unlinkSync(data.pod + "/folder");
    fs.renameSync(data.pod + "/away", data.pod + "/folder");
    dwell();`;
  const rounds = await racing(swap, { pod: targetPath, host }, () =>
    repeatedFor(2_000, async (round) => {
      await take(`s-${round}`, "v");
      await newVolume({ controller }, `c-${round}`, "mount", {
        volumeContentSource: { type: { case: "volume", value: { volumeId: "v" } } },
      });
    }),
  );
  for (let round = 0; round < rounds; round++)
    for (const copy of [snapshotOf(`s-${round}`), dataOf(`c-${round}`)])
      assert.equal((await run("grep", ["--recursive", "canary", copy])).stdout, "");
  assert.ok(names.every((name) => readFileSync(join(host, name), "utf8") === "canary"));
  await node.nodeUnpublishVolume({ volumeId: "v", targetPath });
});

test("a second driver on the same root does not start in another network namespace either", async (t) => {
  const { instance, driver } = await aDriver(t);
  const flags = [`--endpoint=${join(instance.folder, "second.sock")}`, `--root=${driver.root}`];
  const second = [
    "--net",
    process.execPath,
    join(import.meta.dirname, "../../../src/main.ts"),
    "directory-driver",
    ...flags,
  ];
  const { code, stderr } = await run("unshare", second);
  assert.equal(code, 1);
  assert.match(stderr, /another process keeps its volumes in/);
});

test("a full disk is ResourceExhausted and leaves nothing behind", async (t) => {
  const instance = anInstance(t);
  const place = join(instance.folder, "small");
  mkdirSync(place);
  await must("mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", place);
  const { driver, controller, dataOf, take } = await aDriver(t, instance, { root: join(place, "root") });
  await newVolume({ controller }, "v");
  writeFileSync(join(dataOf("v"), "file"), Buffer.alloc(5 * mebi));
  const freeBytes = (): number => statfsSync(place).bavail * statfsSync(place).bsize;
  const before = freeBytes();
  await assert.rejects(take("s", "v"), { code: "ResourceExhausted", message: /No space left on device/ });
  assert.equal(freeBytes(), before);
  assert.deepEqual(readdirSync(join(driver.root, "snapshots")), []);
  writeFileSync(join(dataOf("v"), "file"), "small");
  assert.equal((await take("s", "v")).snapshot?.readyToUse, true, "with room again it is taken");
});

test("acknowledged snapshots survive a power failure completely", async (t) => {
  const instance = anInstance(t);
  const [image, place] = [join(instance.folder, "image"), join(instance.folder, "disk")];
  mkdirSync(place);
  await must("truncate", "--size=64M", image);
  await must("mkfs.ext4", "-q", image);
  // The file system writes nothing by itself meanwhile: on the disk is only what the driver has seen to.
  await must("mount", "-o", "loop,commit=300", image, place);
  const { controller, dataOf, take } = await aDriver(t, instance, { root: join(place, "root") });
  /** A driver on the disk as it is now, as if the machine had been switched off. */
  const afterwards = async (name: string) => {
    const later = join(instance.folder, name);
    mkdirSync(later);
    await must("cp", "--sparse=always", image, `${later}-image`);
    await must("mount", "-o", "loop", `${later}-image`, later);
    return aDriver(t, instance, { driver: name, root: join(later, "root") });
  };
  await newVolume({ controller }, "v");
  const bytes = Buffer.alloc(mebi, "first bytes ");
  writeFileSync(join(dataOf("v"), "file"), bytes);
  await take("s", "v");
  const takeThen = await afterwards("cut.example.com");
  const { entries } = await takeThen.controller.listSnapshots({});
  assert.deepEqual(
    entries.map(({ snapshot }) => snapshot?.snapshotId),
    ["s"],
  );
  assert.ok(readFileSync(join(takeThen.snapshotOf("s"), "file")).equals(bytes));

  await controller.controllerExpandVolume({ volumeId: "v", capacityRange: { requiredBytes: BigInt(2 ** 31) } });
  const grown = await afterwards("grown.example.com");
  assert.equal((await grown.controller.listVolumes({})).entries[0]?.volume?.capacityBytes, BigInt(2 ** 31));
  await controller.deleteSnapshot({ snapshotId: "s" });
  const gone = await afterwards("gone.example.com");
  assert.deepEqual((await gone.controller.listSnapshots({})).entries, []);
});

test("a folder volume is published, also through a symbolic link, and only DeleteVolume removes its files", async (t) => {
  const { instance, controller, node, dataOf } = await aDriver(t);
  for (const name of ["v", "w"]) await newVolume({ controller }, name);
  mkdirSync(join(instance.folder, "real"));
  symlinkSync("real", join(instance.folder, "linked"));
  const targetPath = join(instance.folder, "linked/pod/mount");
  const publish = (volumeId: string, more = {}) =>
    node.nodePublishVolume({ volumeId, targetPath, volumeCapability: capabilityOf("mount"), ...more });
  for (const _ of [1, 2]) await publish("v");
  assert.deepEqual(mountsUnder(instance.folder), [join(instance.folder, "real/pod/mount")], "twice is once");
  writeFileSync(join(targetPath, "file"), "by the pod");
  await assert.rejects(publish("w"), { code: "AlreadyExists" });
  const inUse = { code: "FailedPrecondition", message: /still in use at .*\/real\/pod\/mount/ };
  await assert.rejects(controller.deleteVolume({ volumeId: "v" }), inUse);
  const { usage } = await node.nodeGetVolumeStats({ volumeId: "v", volumePath: targetPath });
  assert.ok(usage.every(({ total, available }) => total > 0n && available > 0n) && usage.length === 2);

  for (const _ of [1, 2]) await node.nodeUnpublishVolume({ volumeId: "v", targetPath });
  assert.deepEqual(mountsUnder(instance.folder), []);
  assert.deepEqual(readdirSync(join(instance.folder, "real/pod")), []);
  assert.equal(readFileSync(join(dataOf("v"), "file"), "utf8"), "by the pod");

  await publish("v", { readonly: true });
  assert.throws(() => writeFileSync(join(targetPath, "file"), "x"), { code: "EROFS" });
  await assert.rejects(publish("v"), { code: "AlreadyExists" });
  await node.nodeUnpublishVolume({ volumeId: "v", targetPath });
  await controller.deleteVolume({ volumeId: "v" });
});

test("the mount options of a volume are on the mount, and the programs in it do not run", async (t) => {
  const { instance, controller, node, dataOf } = await aDriver(t);
  await newVolume({ controller }, "v");
  writeFileSync(join(dataOf("v"), "program"), "#!/bin/sh\n", { mode: 0o755 });
  const targetPath = join(instance.folder, "target");
  const mountFlags = ["nosuid", "nodev", "noexec"];
  const volumeCapability = { ...capabilityOf("mount"), accessType: { case: "mount", value: { mountFlags } } as const };
  for (const _ of [1, 2]) await node.nodePublishVolume({ volumeId: "v", targetPath, volumeCapability });
  const options = (await must("findmnt", "--noheadings", "--output=VFS-OPTIONS", targetPath)).trim().split(",");
  assert.deepEqual(
    mountFlags.filter((flag) => !options.includes(flag)),
    [],
  );
  assert.match((await run("sh", ["-c", '"$0"', join(targetPath, "program")])).stderr, /Permission denied/);
  await node.nodeUnpublishVolume({ volumeId: "v", targetPath });
});

test("a target with files in it that no mount explains is not removed with them", async (t) => {
  const { instance, controller, node } = await aDriver(t);
  await newVolume({ controller }, "v");
  const targetPath = join(instance.folder, "target");
  mkdirSync(targetPath);
  writeFileSync(join(targetPath, "precious"), "kept");
  await assert.rejects(node.nodeUnpublishVolume({ volumeId: "v", targetPath }), {
    code: "FailedPrecondition",
    message: /holds files.*move them away/,
  });
  assert.equal(readFileSync(join(targetPath, "precious"), "utf8"), "kept");
});

test("a volume for a single writer is published at one place at a time", async (t) => {
  const { instance, controller, node } = await aDriver(t);
  await newVolume({ controller }, "v");
  const volumeCapability = capabilityOf("mount", AccessMode.SINGLE_NODE_SINGLE_WRITER);
  const at = (name: string) => ({ volumeId: "v", targetPath: join(instance.folder, name), volumeCapability });
  for (const _ of [1, 2]) await node.nodePublishVolume(at("one"));
  await assert.rejects(node.nodePublishVolume(at("two")), { code: "FailedPrecondition", message: /one pod at a time/ });
  await node.nodeUnpublishVolume(at("one"));
  await node.nodePublishVolume(at("two"));
  await node.nodeUnpublishVolume(at("two"));
});

test("a block volume is a device that can be written, snapshotted while open, expanded in use, and leaves no device", async (t) => {
  const { instance, driver, controller, node, take } = await aDriver(t);
  const range = (bytes: number) => ({ capacityRange: { requiredBytes: BigInt(bytes) } });
  await newVolume({ controller }, "b", "block", range(mebi));
  const targetPath = join(instance.folder, "device");
  const published = { volumeId: "b", targetPath, volumeCapability: capabilityOf("block") };
  for (const _ of [1, 2]) await node.nodePublishVolume(published);
  const image = join(driver.root, "volumes/b/image");
  const loops = async (): Promise<number> =>
    (await must("losetup", "--associated", image)).split("\n").filter(Boolean).length;
  assert.equal(await loops(), 1);
  const device = await open(targetPath, "r+");
  try {
    await device.write(Buffer.from("first bytes")); // Not flushed: the driver has to see to that.
    await take("s", "b");
  } finally {
    await device.close();
  }
  await newVolume({ controller }, "r", "block", { ...range(2 * mebi), ...fromSnapshot("s") });
  const restored = readFileSync(join(driver.root, "volumes/r/image"));
  assert.deepEqual([restored.subarray(0, 11).toString(), restored.length], ["first bytes", 2 * mebi]);

  const grown = await controller.controllerExpandVolume({ volumeId: "b", ...range(3 * mebi) });
  assert.equal(grown.nodeExpansionRequired, true);
  await node.nodeExpandVolume({ volumeId: "b", volumePath: targetPath });
  assert.equal(await must("blockdev", "--getsize64", targetPath), `${3 * mebi}\n`);
  const [usage] = (await node.nodeGetVolumeStats({ volumeId: "b", volumePath: targetPath })).usage;
  assert.equal(usage?.total, BigInt(3 * mebi));

  await assert.rejects(controller.deleteVolume({ volumeId: "b" }), { code: "FailedPrecondition" });
  for (const _ of [1, 2]) await node.nodeUnpublishVolume(published);
  await node.nodePublishVolume({ ...published, readonly: true });
  assert.equal(await must("blockdev", "--getro", targetPath), "1\n");
  await node.nodeUnpublishVolume(published);
  assert.equal(await loops(), 0);
  await controller.deleteVolume({ volumeId: "b" });
});

test("an aborted run leaves no block device", async (t) => {
  const { instance, controller, node } = await aDriver(t);
  await newVolume({ controller }, "b", "block", { capacityRange: { requiredBytes: BigInt(mebi) } });
  const targetPath = join(instance.folder, "device");
  await node.nodePublishVolume({ volumeId: "b", targetPath, volumeCapability: capabilityOf("block") });
  assert.equal(loopsOver(instance.folder).length, 1);
  instance.stop();
  assert.deepEqual(loopsOver(instance.folder), []);
});
