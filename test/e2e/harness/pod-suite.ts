/** A driver on the real node with our snapshot components and a provisioner, for pods that write, spoil and read. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { silent } from "../../../src/base/log.ts";
import { realWorld } from "../../../src/base/world.ts";
import { registerOnBehalf } from "../../registration-on-behalf.ts";
import { type Connection, connect } from "./client.ts";
import type { Place } from "./component-users.ts";
import { installSnapshotCrds, startComponent } from "./components.ts";
import { createInstance, type Instance } from "./instance.ts";
import { mountsUnder } from "./mounts.ts";
import type { Node } from "./node.ts";
import { type PodRequest, runPod } from "./pods.ts";
import { useNode } from "./shared-node.ts";
import { type Driver, drivers, type SnapshotSuite, snapshotSuiteFor } from "./snapshot-suites.ts";
import { leftovers } from "./snapshots.ts";

export interface PodSuite {
  readonly node: Node;
  readonly instance: Instance;
  readonly connection: Connection;
  readonly snapshots: SnapshotSuite;
  readonly storageClassName: string;
  /** What a pod printed that has succeeded. */
  said(pod: PodRequest): Promise<string>;
  /** Nothing of the driver may be left: objects, mounts, loop devices, files. */
  assertNothingLeft(): Promise<void>;
  stop(): Promise<void>;
}

/** Makes the StorageClass and starts what serves it; returns the name of the class. */
type Provision = (place: Place, connection: Connection, driver: Driver) => Promise<string>;

export async function startPodSuite(
  driverName: keyof typeof drivers,
  driverFullName: string,
  provision: Provision,
): Promise<PodSuite> {
  const node = await useNode();
  const instance = createInstance();
  const ending = new AbortController();
  const place: Place = { instance, kubeconfig: node.plane.kubeconfig, plane: node.plane };
  const connection = await connect(place.kubeconfig);
  await installSnapshotCrds(connection.client);
  await startComponent(place, "snapshot-controller");
  const driver = await drivers[driverName](instance, { driver: driverFullName });
  const registryFolder = join(node.rootDir, "plugins_registry");
  const surroundings = { registryFolder, log: silent, world: realWorld, signal: ending.signal };
  await registerOnBehalf({ ...surroundings, address: driver.socket });
  const spec = { attachRequired: false, volumeLifecycleModes: ["Persistent"] };
  await node.plane.request("POST", "/apis/storage.k8s.io/v1/csidrivers", { metadata: { name: driver.driver }, spec });
  const snapshots = await snapshotSuiteFor(place, connection, driver);
  const storageClassName = await provision(place, connection, driver);
  return {
    node,
    instance,
    connection,
    snapshots,
    storageClassName,
    said: async (pod) => {
      const { phase, message } = await runPod(node, pod);
      assert.equal(phase, "Succeeded", message);
      return message;
    },
    assertNothingLeft: () => nothingLeft(node, instance, snapshots),
    stop: async () => {
      ending.abort();
      await node.plane.request("DELETE", `/apis/storage.k8s.io/v1/csidrivers/${driver.driver}`);
      await node.plane.request("DELETE", `/apis/storage.k8s.io/v1/storageclasses/${storageClassName}`);
      for (const name of Object.values(snapshots.classes))
        await connection.client.delete({ kind: "VolumeSnapshotClass", name });
      snapshots.fixtures.csi.close();
      connection.close();
      instance.stop();
    },
  };
}

async function nothingLeft(node: Node, instance: Instance, { fixtures, driver }: SnapshotSuite): Promise<void> {
  assert.deepEqual(await leftovers(fixtures), []);
  assert.deepEqual((await fixtures.csi.controller.listVolumes({})).entries, []);
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
  const data = join(instance.folder, driver.driver);
  const kept = globSync(`${data}/{data,root/volumes,root/snapshots}/*`).filter((path) => !path.endsWith("state.json"));
  assert.deepEqual(kept, []);
}

/** How a pod reaches a claim, writes, spoils and reads it. */
export const ways = {
  Filesystem: {
    claim: (claimName: string, name = "data") => ({
      volumes: [{ name, persistentVolumeClaim: { claimName } }],
      volumeMounts: [{ name, mountPath: `/mnt/${name}` }],
    }),
    write: (text: string, name = "data") => `echo ${text} > /mnt/${name}/file && sync`,
    read: (name = "data") => `cat /mnt/${name}/file`,
  },
  Block: {
    claim: (claimName: string, name = "data") => ({
      volumes: [{ name, persistentVolumeClaim: { claimName } }],
      volumeDevices: [{ name, devicePath: `/dev/${name}` }],
    }),
    write: (text: string, name = "data") => `echo ${text} | dd of=/dev/${name} conv=fsync 2> /dev/null`,
    read: (name = "data") => `head -n 1 /dev/${name}`,
  },
} as const;
