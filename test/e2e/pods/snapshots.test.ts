/**
 * Snapshots of what pods really write: on a real node, mounted by a real kubelet, taken by our controller and sidecar, restored by
 * upstream's csi-provisioner, with hostpath and with our own driver.
 */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { draftOf } from "../../../src/api/builders.ts";
import { silent } from "../../../src/base/log.ts";
import { realWorld } from "../../../src/base/world.ts";
import { registerOnBehalf } from "../../registration-on-behalf.ts";
import { type Connection, connect } from "../harness/client.ts";
import { installSnapshotCrds, startComponent } from "../harness/components.ts";
import { createInstance, type Instance } from "../harness/instance.ts";
import { mountsUnder } from "../harness/mounts.ts";
import type { Node } from "../harness/node.ts";
import { createPod, deletePod, type PodRequest, runPod, waitForPod } from "../harness/pods.ts";
import { useNode } from "../harness/shared-node.ts";
import { drivers, type Place, provisionBy, type SnapshotSuite, snapshotSuiteFor } from "../harness/snapshot-suites.ts";
import { leftovers } from "../harness/snapshots.ts";
import { until } from "../harness/until.ts";

const namespace = "default";
type Mode = "Filesystem" | "Block";

/** How a pod reaches a claim, writes, spoils and reads it. */
const ways = {
  Filesystem: {
    claim: (claimName: string) => ({
      volumes: [{ name: "data", persistentVolumeClaim: { claimName } }],
      volumeMounts: [{ name: "data", mountPath: "/mnt" }],
    }),
    write: (text: string) => `echo ${text} > /mnt/file && sync`,
    read: "cat /mnt/file",
  },
  Block: {
    claim: (claimName: string) => ({
      volumes: [{ name: "data", persistentVolumeClaim: { claimName } }],
      volumeDevices: [{ name: "data", devicePath: "/dev/disk" }],
    }),
    write: (text: string) => `echo ${text} | dd of=/dev/disk conv=fsync 2> /dev/null`,
    read: "head -n 1 /dev/disk",
  },
} as const;

for (const driverName of ["hostpath", "directory-driver"] as const)
  describe(`pods with ${driverName}`, () => {
    let node: Node;
    let instance: Instance;
    let connection: Connection;
    let stand: SnapshotSuite;
    let storageClassName: string;
    const stop = new AbortController();

    before(async () => {
      node = await useNode();
      instance = createInstance();
      const place: Place = { instance, kubeconfig: node.plane.kubeconfig };
      connection = await connect(place.kubeconfig);
      await installSnapshotCrds(connection.client);
      startComponent(place, "snapshot-controller");
      const driver = await drivers[driverName](instance, { driver: `${driverName}.pods.example.com` });
      const registryFolder = join(node.rootDir, "plugins_registry");
      const surroundings = { registryFolder, log: silent, world: realWorld, signal: stop.signal };
      await registerOnBehalf({ ...surroundings, address: driver.socket });
      const spec = { attachRequired: false, volumeLifecycleModes: ["Persistent"] };
      await node.plane.request("POST", "/apis/storage.k8s.io/v1/csidrivers", {
        metadata: { name: driver.driver },
        spec,
      });
      stand = await snapshotSuiteFor(place, connection, driver);
      storageClassName = await provisionBy(place, connection, driver);
    });
    after(async () => {
      stop.abort();
      for (const path of ["csidrivers", "storageclasses"])
        await node?.plane.request("DELETE", `/apis/storage.k8s.io/v1/${path}/${driverOrClass(path)}`);
      for (const name of Object.values(stand?.classes ?? {}))
        await connection.client.delete({ kind: "VolumeSnapshotClass", name });
      stand?.fixtures.csi.close();
      connection?.close();
      instance?.stop();
    });
    const driverOrClass = (path: string): string =>
      path === "csidrivers" ? (stand?.driver.driver ?? "") : storageClassName;

    /** A claim that the provisioner serves, empty or from a snapshot; returns the volume's name and handle. */
    async function aClaim(name: string, volumeMode: Mode, snapshot?: string) {
      const dataSource = { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: snapshot ?? "" };
      const spec = {
        accessModes: ["ReadWriteOnce"],
        storageClassName,
        volumeMode,
        resources: { requests: { storage: "4Mi" } },
        ...(snapshot === undefined ? {} : { dataSource }),
      };
      const ref = { kind: "PersistentVolumeClaim", namespace, name } as const;
      await connection.client.create("PersistentVolumeClaim", draftOf("PersistentVolumeClaim", ref, { spec }));
      const volumeName = await until({ what: `claim ${name} is bound` }, async () => {
        const claim = await connection.client.get(ref);
        return claim.status?.phase === "Bound" ? claim.spec?.volumeName : undefined;
      });
      const volume = await connection.client.get({ kind: "PersistentVolume", name: volumeName });
      return { volumeName, handle: volume.spec?.csi?.volumeHandle ?? "" };
    }

    async function dropClaim(name: string, volumeName: string): Promise<void> {
      await connection.client.delete({ kind: "PersistentVolumeClaim", namespace, name });
      await stand.untilGone({ kind: "PersistentVolume", name: volumeName });
    }

    const said = async (pod: PodRequest): Promise<string> => {
      const { phase, message } = await runPod(node, pod);
      assert.equal(phase, "Succeeded", message);
      return message;
    };

    /** Nothing of the driver may be left: objects, mounts, loop devices, files. */
    async function assertNothingLeft(): Promise<void> {
      assert.deepEqual(await leftovers(stand.fixtures), []);
      assert.deepEqual((await stand.fixtures.csi.controller.listVolumes({})).entries, []);
      assert.deepEqual(mountsUnder(instance.folder), []);
      assert.deepEqual(
        mountsUnder(node.rootDir).filter((path) => path.includes("kubernetes.io~csi")),
        [],
      );
      const backing = globSync("/sys/block/loop*/loop/backing_file").map((file) => readFileSync(file, "utf8"));
      assert.deepEqual(
        backing.filter((path) => path.startsWith(instance.folder)),
        [],
      );
      const data = join(instance.folder, stand.driver.driver);
      const kept = globSync(`${data}/{data,root/volumes,root/snapshots}/*`).filter(
        (path) => !path.endsWith("state.json"),
      );
      assert.deepEqual(kept, []);
    }

    for (const mode of ["Filesystem", "Block"] as const)
      test(`${mode}: a pod writes, another overwrites the source, a third reads the first bytes from the restored volume`, async () => {
        const { claim, write, read } = ways[mode];
        const source = await aClaim("source", mode);
        await said({ name: "writer", script: write("first-bytes"), ...claim("source") });
        await stand.take("then", "source", stand.classes.delete);
        await stand.untilReady("then");
        assert.equal((await stand.contentOf("then")).spec.sourceVolumeMode, mode);
        await said({ name: "spoiler", script: write("spoiled"), ...claim("source") });
        const restored = await aClaim("restored", mode, "then");
        assert.equal(await said({ name: "reader", script: read, ...claim("restored") }), "first-bytes\n");
        assert.equal(await said({ name: "witness", script: read, ...claim("source") }), "spoiled\n");
        await dropClaim("restored", restored.volumeName);
        await stand.remove("then");
        await dropClaim("source", source.volumeName);
        await assertNothingLeft();
      });

    if (driverName === "directory-driver")
      test("a snapshot that is taken while a pod writes has a prefix of each file", async () => {
        const source = await aClaim("busy", "Filesystem");
        const script = "i=0; while true; do i=$((i+1)); for f in a b c; do echo $i >> /mnt/$f; done; done";
        const writer = { name: "busy", script, ...ways.Filesystem.claim("busy") };
        await createPod(node, writer);
        await waitForPod(node, writer, "Running");
        const linesOf = (handle: string, file: string): string =>
          readFileSync(join(stand.driver.dataOf(handle), file), "utf8");
        await until({ what: "the pod has begun to write" }, () => (hasGrown(source.handle) ? true : undefined));
        function hasGrown(handle: string): boolean {
          return globSync(join(stand.driver.dataOf(handle), "c")).some((file) => readFileSync(file).length > 1_000);
        }
        await stand.take("midway", "busy", stand.classes.delete);
        await stand.untilReady("midway");
        await deletePod(node, writer);
        const restored = await aClaim("half", "Filesystem", "midway");
        for (const file of ["a", "b", "c"]) {
          const [whole, part] = [linesOf(source.handle, file), linesOf(restored.handle, file)];
          assert.ok(part.length > 0 && part.length < whole.length, `${file}: ${part.length} of ${whole.length} bytes`);
          assert.ok(whole.startsWith(part), `${file} is not what was written first`);
        }
        await dropClaim("half", restored.volumeName);
        await stand.remove("midway");
        await dropClaim("busy", source.volumeName);
        await assertNothingLeft();
      });
  });
