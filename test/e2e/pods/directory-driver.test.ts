/** Real pods on volumes of directory-driver, which has registered itself with the kubelet. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { CsiClient } from "../../../src/csi/client.ts";
import { csiClientTo } from "../harness/components.ts";
import {
  type DirectoryDriverProcess,
  fromSnapshot,
  newVolume,
  startDirectoryDriver,
  type VolumeMode,
} from "../harness/directory-driver.ts";
import { createInstance, type Instance } from "../harness/instance.ts";
import { mountsUnder } from "../harness/mounts.ts";
import type { Node } from "../harness/node.ts";
import { createPod, deletePod, runPod, waitForPod } from "../harness/pods.ts";
import { run } from "../harness/run.ts";
import { newNamespace } from "../harness/shared.ts";
import { useNode } from "../harness/shared-node.ts";
import {
  createCsiDriver,
  createStaticClaim,
  deleteCsiDriver,
  deleteStaticClaim,
  driversOf,
  type StaticClaim,
} from "../harness/static-claims.ts";
import { loopsOver } from "../harness/stray-processes.ts";
import { until } from "../harness/until.ts";

let node: Node;
let instance: Instance;
let driver: DirectoryDriverProcess;
let csi: CsiClient;
let namespace: string;
const claims: StaticClaim[] = [];

describe("directory-driver under real pods", () => {
  before(async () => {
    node = await useNode();
    instance = createInstance();
    const name = "directory.snapkeep.dev";
    driver = await startDirectoryDriver(instance, {
      driver: name,
      flags: [
        `--node-id=${node.name}`,
        `--kubelet-registration-path=${join(instance.folder, name, "csi.sock")}`,
        `--kubelet-registry-folder=${join(node.rootDir, "plugins_registry")}`,
      ],
    });
    csi = csiClientTo(driver.socket);
    await createCsiDriver(node, name);
    namespace = await newNamespace(node.plane, "directory");
    await until({ what: "the kubelet knows the driver" }, async () =>
      (await driversOf(node)).includes(name) ? true : undefined,
    );
  });
  after(async () => {
    await deleteCsiDriver(node, driver.driver);
    csi.close();
    instance.stop();
  });

  const sizes = { mount: {}, block: { capacityRange: { requiredBytes: 2n ** 20n } } };

  /** A volume behind a bound claim of the same name, as a pod names it. */
  async function claimed(name: string, mode: VolumeMode, more = {}) {
    const volumeHandle = await newVolume(csi, name, mode, { ...sizes[mode], ...more });
    const volumeMode = mode === "mount" ? "Filesystem" : "Block";
    const claim = { namespace, name, driver: driver.driver, volumeHandle, volumeMode } as const;
    await createStaticClaim(node, claim);
    claims.push(claim);
    return { name, persistentVolumeClaim: { claimName: name } };
  }

  /** Looks at the folder as at /files, and at the device as at /device. */
  const uses = (folder: { readonly name: string }, device: { readonly name: string }) => ({
    namespace,
    volumes: [folder, device],
    volumeMounts: [{ name: folder.name, mountPath: "/files" }],
    volumeDevices: [{ name: device.name, devicePath: "/device" }],
  });
  const write = (text: string): string =>
    `printf '${text}' > /files/file && printf '${text}' | dd of=/device conv=notrunc,fsync 2> /dev/null`;
  const read = "cat /files/file && head -c 11 /device";
  const done = (message = "") => ({ phase: "Succeeded", exitCode: 0, message });

  test("a pod writes, a snapshot is taken, a pod overwrites the source, and a third reads the first bytes: files and blocks", async () => {
    const source = uses(await claimed("files", "mount"), await claimed("blocks", "block"));
    assert.deepEqual(await runPod(node, { name: "writer", script: write("first bytes"), ...source }), done());
    for (const sourceVolumeId of ["files", "blocks"])
      await csi.controller.createSnapshot({ name: `cut-${sourceVolumeId}`, sourceVolumeId });
    const spoiled = await runPod(node, { name: "spoiler", script: `${write("overwritten")} && ${read}`, ...source });
    assert.deepEqual(spoiled, done("overwrittenoverwritten"));

    const folder = await claimed("files-restored", "mount", fromSnapshot("cut-files"));
    const device = await claimed("blocks-restored", "block", fromSnapshot("cut-blocks"));
    const reader = await runPod(node, { name: "reader", script: read, ...uses(folder, device) });
    assert.deepEqual(reader, done("first bytesfirst bytes"));
  });

  test("an inline volume exists as long as its pod, and is not deleted before it", async () => {
    const pod = {
      name: "inline",
      namespace,
      script: "echo kept > /files/file; sleep 1000",
      volumes: [{ name: "inline", csi: { driver: driver.driver, volumeAttributes: { size: "5Mi" } } }],
      volumeMounts: [{ name: "inline", mountPath: "/files" }],
    };
    const volumes = (): readonly string[] =>
      readdirSync(join(driver.root, "volumes")).filter((id) => id.startsWith("csi-"));
    await createPod(node, pod);
    await waitForPod(node, pod, "Running");
    const [id = ""] = volumes();
    await until({ what: "the pod has written" }, () =>
      readdirSync(join(driver.root, "volumes", id, "data")).includes("file") ? true : undefined,
    );
    await assert.rejects(csi.controller.deleteVolume({ volumeId: id }), { code: "FailedPrecondition" });
    await deletePod(node, pod);
    await until({ what: "the volume went with its pod" }, () => (volumes().length === 0 ? true : undefined));
  });

  /** Appends to some files, and replaces another one in one stroke, as long as it lives. */
  const busyScript = `i=0
while true; do
  i=$((i + 1))
  for file in a b c; do echo "$file line $i" >> /files/$file; done
  seq $i $((i + 200)) > /files/.new && mv /files/.new /files/replaced
  echo $i > /files/passing-$i && rm /files/passing-$i
  usleep 1000
done`;

  test("snapshots that are taken while a pod writes have a prefix of each appended file, and a complete version of a replaced one", async () => {
    const volume = await claimed("busy", "mount");
    const pod = {
      name: "busy",
      namespace,
      script: busyScript,
      volumes: [volume],
      volumeMounts: [{ name: volume.name, mountPath: "/files" }],
    };
    const source = join(driver.root, "volumes/busy/data");
    await createPod(node, pod);
    await waitForPod(node, pod, "Running");
    await until({ what: "the pod has begun" }, () => (readdirSync(source).includes("replaced") ? true : undefined));
    const names = Array.from({ length: 8 }, (_, index) => `live-${index}`);
    for (const name of names) await csi.controller.createSnapshot({ name, sourceVolumeId: "busy" });
    await deletePod(node, pod);

    const sizes = names.map((name) => {
      const copy = join(driver.root, "snapshots", name, "data");
      for (const file of ["a", "b", "c"]) {
        const [early, late] = [copy, source].map((folder) => readFileSync(join(folder, file)));
        assert.ok(early !== undefined && early.length > 0 && early.equals(late?.subarray(0, early.length) ?? early));
      }
      const replaced = readFileSync(join(copy, "replaced"), "utf8").trim().split("\n").map(Number);
      const [first = 0] = replaced;
      assert.deepEqual(
        replaced,
        Array.from({ length: 201 }, (_, index) => first + index),
      );
      return readFileSync(join(copy, "a")).length;
    });
    assert.deepEqual(
      sizes,
      sizes.toSorted((one, other) => one - other),
    );
    assert.ok((sizes[0] ?? 0) < (sizes.at(-1) ?? 0), "the pod wrote between the first and the last snapshot");
  });

  test("after all deletions no mount, device or file is left", async () => {
    for (const claim of claims) await deleteStaticClaim(node, claim);
    for (const { snapshot } of (await csi.controller.listSnapshots({})).entries)
      await csi.controller.deleteSnapshot({ snapshotId: snapshot?.snapshotId ?? "" });
    for (const { volume } of (await csi.controller.listVolumes({})).entries)
      await csi.controller.deleteVolume({ volumeId: volume?.volumeId ?? "" });
    assert.equal((await run("find", [driver.root, "-mindepth", "2"])).stdout, "");
    for (const folder of [instance.folder, node.folder]) assert.deepEqual(loopsOver(folder), []);
    assert.deepEqual(mountsUnder(join(node.rootDir, "pods")), []);
    assert.deepEqual(mountsUnder(join(node.rootDir, "plugins")), []);
    await driver.daemon().stop();
    await until({ what: "the kubelet has forgotten the driver" }, async () =>
      (await driversOf(node)).includes(driver.driver) ? undefined : true,
    );
  });
});
