/** The node service over a system that is made up, because mounting needs root. The real one is in test/e2e/pods/directory-driver-node.test.ts. */
import assert from "node:assert/strict";
import { existsSync, lstatSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { temporaryFolder } from "../../../test/csi-sockets.ts";
import { silent } from "../../base/log.ts";
import { realWorld } from "../../base/world.ts";
import { createCsiClientOver } from "../../csi/client.ts";
import { VolumeCapability_AccessMode_Mode as AccessMode, type VolumeCapabilitySchema } from "../../csi/gen/csi_pb.js";
import { unaryOf } from "../../csi/serve.ts";
import { createMounting } from "../../node/mounting.ts";
import type { Mount } from "../../node/mounts.ts";
import type { RunProgram } from "../../node/program.ts";
import { createDirectoryDriver } from "./index.ts";

interface Loop {
  readonly device: string;
  readonly image: string;
  readonly readOnly: boolean;
}

/** mount(8), umount(8) and losetup(8), as far as the driver uses them. `ignores` is an option that mount does not know. */
function aSystem(folder: string, ignores = "") {
  const disk = { device: "1:0", type: "ext4", source: "/dev/vda" };
  const root: Mount = { ...disk, root: "/", at: "/", options: ["rw"] };
  const mounts: Mount[] = [];
  const loops: Loop[] = [];
  const calls: string[] = [];
  const programs: Readonly<Record<string, (args: readonly string[]) => string>> = {
    mount(args) {
      const [from = "", to = ""] = args.slice(-2);
      const top = mounts.findLastIndex(({ at }) => at === to);
      if (args[0] === "--bind") mounts.push({ ...disk, root: from, at: to, options: ["rw"] });
      else {
        const options = (args[1] ?? "").split(",").filter((option) => option !== ignores);
        mounts[top] = { ...(mounts[top] ?? assert.fail(`nothing is mounted at ${to}`)), options };
      }
      return "";
    },
    umount(args) {
      mounts.splice(
        mounts.findLastIndex(({ at }) => at === args.at(-1)),
        1,
      );
      return "";
    },
    losetup(args) {
      const last = args.at(-1) ?? "";
      if (args.includes("--associated"))
        return loops
          .filter(({ image }) => image === args[1])
          .map(({ device, readOnly }) => `${device} ${readOnly ? 1 : 0}`)
          .join("\n");
      if (args.includes("--detach"))
        loops.splice(
          loops.findIndex(({ device }) => device === last),
          1,
        );
      if (!args.includes("--find")) return "";
      assert.ok(lstatSync(last).isFile(), `${last} is no image`);
      const device = join(folder, `loop${loops.length}`);
      writeFileSync(device, "");
      loops.push({ device, image: last, readOnly: args.includes("--read-only") });
      return device;
    },
  };
  const run: RunProgram = async (program, args) => {
    calls.push([program, ...args].join(" "));
    return { output: (programs[program] ?? assert.fail(`no program ${program}`))(args), forgiven: [] };
  };
  return { mounts, loops, calls, mounting: createMounting(run, async () => [root, ...mounts]) };
}

async function aDriver(t: TestContext, ignores = "") {
  const folder = temporaryFolder(t);
  const { mounting, ...system } = aSystem(folder, ignores);
  const driver = await createDirectoryDriver({
    root: join(folder, "root"),
    name: "directory.example.com",
    nodeId: "node-1",
    version: "1.2.3",
    snapshotDelayMs: 0,
    snapshotSecret: "",
    world: realWorld,
    log: silent,
    mounting,
  });
  t.after(driver.close);
  const { controller, node } = createCsiClientOver(unaryOf(driver.services), { world: realWorld, log: silent });
  const newVolume = (name: string, mode: "mount" | "block") =>
    controller.createVolume({
      name,
      volumeCapabilities: [capabilityOf(mode)],
      capacityRange: { requiredBytes: 2n ** 20n },
    });
  for (const name of ["v", "w"]) await newVolume(name, "mount");
  await newVolume("b", "block");
  const targetPath = join(folder, "pods/p/mount");
  const publish = (volumeId: string, more: object = {}) =>
    node.nodePublishVolume({ volumeId, targetPath, volumeCapability: capabilityOf("mount"), ...more });
  return { folder, controller, node, ...system, targetPath, publish };
}

const capabilityOf = (
  mode: "mount" | "block",
  mountFlags: string[] = [],
  accessMode = AccessMode.SINGLE_NODE_WRITER,
): MessageInitShape<typeof VolumeCapabilitySchema> => ({
  accessType: mode === "mount" ? { case: mode, value: { mountFlags } } : { case: mode, value: {} },
  accessMode: { mode: accessMode },
});
const withFlags = (...flags: string[]) => ({ volumeCapability: capabilityOf("mount", flags) });

test("repeated publishing mounts a folder once, and another volume at the same target fails", async (t) => {
  const { folder, publish, mounts, targetPath, controller, node } = await aDriver(t);
  for (const _ of [1, 2]) await publish("v");
  assert.deepEqual(
    mounts.map(({ root, at }) => [root, at]),
    [[join(folder, "root/volumes/v/data"), targetPath]],
  );
  await assert.rejects(publish("w"), { code: "AlreadyExists", message: /something else is mounted already/ });
  assert.equal(mounts.length, 1);
  await assert.rejects(controller.deleteVolume({ volumeId: "v" }), {
    code: "FailedPrecondition",
    message: /still in use at .*\/pods\/p\/mount/,
  });
  await node.nodeUnpublishVolume({ volumeId: "v", targetPath });
  assert.deepEqual([mounts, existsSync(targetPath)], [[], false]);
  await controller.deleteVolume({ volumeId: "v" });
});

test("a block volume is a loop device that is in use until it is unpublished, and is then removed", async (t) => {
  const { folder, publish, mounts, loops, targetPath, controller, node } = await aDriver(t);
  for (const _ of [1, 2]) await publish("b", { volumeCapability: capabilityOf("block") });
  assert.deepEqual(
    mounts.map(({ root, at }) => [root, at]),
    [[join(folder, "loop0"), targetPath]],
  );
  assert.ok(lstatSync(targetPath).isFile(), "a device is bound to a file");
  await assert.rejects(controller.deleteVolume({ volumeId: "b" }), { code: "FailedPrecondition" });
  await node.nodeUnpublishVolume({ volumeId: "b", targetPath });
  assert.deepEqual([mounts, loops, existsSync(targetPath)], [[], [], false]);
  await controller.deleteVolume({ volumeId: "b" });
});

for (const [volumeId, mode] of [
  ["v", "block"],
  ["b", "mount"],
] as const)
  test(`volume ${volumeId} is not published in ${mode} mode, and no target is created`, async (t) => {
    const { publish, mounts, targetPath } = await aDriver(t);
    await assert.rejects(publish(volumeId, { volumeCapability: capabilityOf(mode) }), {
      code: "InvalidArgument",
      message: /the pod asks for/,
    });
    assert.deepEqual([mounts, existsSync(targetPath)], [[], false]);
  });

test("a reader gets a read-only mount, and a writer cannot use the same target", async (t) => {
  const { publish, mounts, calls } = await aDriver(t);
  for (const _ of [1, 2]) await publish("v", { readonly: true });
  assert.ok(mounts[0]?.options.includes("ro"));
  assert.equal(calls.filter((call) => call.startsWith("mount ")).length, 2, "one bind, one remount");
  await assert.rejects(publish("v"), { code: "AlreadyExists" });
});

test("a reader's device is read-only", async (t) => {
  const { publish, loops, calls } = await aDriver(t);
  await publish("b", { readonly: true, volumeCapability: capabilityOf("block") });
  assert.deepEqual(
    loops.map(({ readOnly }) => readOnly),
    [true],
  );
  assert.deepEqual(
    calls.filter((call) => call.includes("remount")),
    [],
  );
});

test("writers of a block volume share a device, readers have another, and each stays until its last use ends", async (t) => {
  const { folder, publish, loops, node } = await aDriver(t);
  const at = (name: string) => ({
    targetPath: join(folder, name),
    volumeCapability: capabilityOf("block"),
    readonly: name === "reader",
  });
  for (const name of ["one", "two", "reader"]) await publish("b", at(name));
  const kinds = () => loops.map(({ readOnly }) => readOnly);
  assert.deepEqual(kinds(), [false, true]);
  await node.nodeUnpublishVolume({ volumeId: "b", ...at("one") });
  assert.deepEqual(kinds(), [false, true]);
  await node.nodeUnpublishVolume({ volumeId: "b", ...at("two") });
  assert.deepEqual(kinds(), [true]);
});

test("a loop device that a crash left behind is removed with its volume", async (t) => {
  const { folder, controller, loops } = await aDriver(t);
  loops.push({ device: join(folder, "loop0"), image: join(folder, "root/volumes/b/image"), readOnly: false });
  await controller.deleteVolume({ volumeId: "b" });
  assert.deepEqual(loops, []);
});

test("no snapshot is taken of a block volume whose device cannot be flushed", async (t) => {
  const { folder, publish, controller } = await aDriver(t);
  await publish("b", { volumeCapability: capabilityOf("block") });
  rmSync(join(folder, "loop0"));
  await assert.rejects(controller.createSnapshot({ name: "s", sourceVolumeId: "b" }), { message: /loop0/ });
});

test("a volume whose id is the hash of its name is found when it is unpublished", async (t) => {
  const { node, controller, publish, targetPath, loops } = await aDriver(t);
  const { volume } = await controller.createVolume({ name: "odd/name", volumeCapabilities: [capabilityOf("block")] });
  const volumeId = volume?.volumeId ?? "";
  await publish(volumeId, { volumeCapability: capabilityOf("block") });
  await node.nodeUnpublishVolume({ volumeId, targetPath });
  assert.deepEqual(loops, []);
});

test("the mount options of a volume are set, also those that share one entry", async (t) => {
  const { publish, calls, targetPath } = await aDriver(t);
  await publish("v", withFlags("nosuid,nodev", "noexec", "rw", "noatime"));
  assert.ok(calls.includes(`mount -o remount,bind,nosuid,nodev,noexec,noatime -- ${targetPath}`), calls.join("\n"));
});

test("ro among the mount options makes the mount read-only", async (t) => {
  const { publish, mounts } = await aDriver(t);
  await publish("v", withFlags("ro", "nosuid"));
  assert.deepEqual(mounts[0]?.options.slice(-2), ["ro", "nosuid"]);
});

test("an unsupported mount option is rejected at create, validate and publish", async (t) => {
  const { publish, controller, mounts } = await aDriver(t);
  const volumeCapabilities = [capabilityOf("mount", ["nosuid", "discard"])];
  const refusal = {
    code: "InvalidArgument",
    message: /mount option "discard" cannot be applied.*possible are ro, rw, nosuid/,
  };
  await assert.rejects(publish("v", withFlags("discard")), refusal);
  await assert.rejects(controller.createVolume({ name: "x", volumeCapabilities }), refusal);
  const { confirmed, message } = await controller.validateVolumeCapabilities({ volumeId: "v", volumeCapabilities });
  assert.deepEqual([confirmed, /discard/.test(message)], [undefined, true]);
  assert.deepEqual(mounts, []);
});

test("a volume is not published if mount ignores an option", async (t) => {
  const { publish, mounts } = await aDriver(t, "nosymfollow");
  await assert.rejects(publish("v", withFlags("nosuid", "nosymfollow")), {
    code: "FailedPrecondition",
    message: /does not apply the mount options nosymfollow/,
  });
  assert.deepEqual(mounts, []);
});

test("a single-writer volume is published at one target at a time", async (t) => {
  const { publish, node, folder, targetPath } = await aDriver(t);
  const alone = { volumeCapability: capabilityOf("mount", [], AccessMode.SINGLE_NODE_SINGLE_WRITER) };
  for (const _ of [1, 2]) await publish("v", alone);
  const elsewhere = { ...alone, targetPath: join(folder, "pods/q/mount") };
  await assert.rejects(publish("v", elsewhere), { code: "FailedPrecondition", message: /one pod at a time/ });
  await node.nodeUnpublishVolume({ volumeId: "v", targetPath });
  await publish("v", elsewhere);
  for (const name of ["one", "two"]) await publish("w", { targetPath: join(folder, name) });
});

test("a target with files and without a mount is not removed", async (t) => {
  const { node, targetPath } = await aDriver(t);
  mkdirSync(targetPath, { recursive: true });
  writeFileSync(join(targetPath, "precious"), "");
  await assert.rejects(node.nodeUnpublishVolume({ volumeId: "v", targetPath }), { code: "FailedPrecondition" });
  assert.ok(existsSync(join(targetPath, "precious")));
});
