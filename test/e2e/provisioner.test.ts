/** Claims get volumes: empty ones, restored ones and clones, on the real control plane and on the embedded server. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { draftOf } from "../../src/api/builders.ts";
import { provisioning } from "../../src/api/names.ts";
import type { PersistentVolume } from "../../src/api/types.ts";
import { keyIn } from "../../src/base/brand.ts";
import { aClassFor, startComponent } from "./harness/components.ts";
import {
  combinations,
  drivers,
  type SnapshotSuite,
  shortName,
  snapshotSuiteFor,
  type TestServer,
  testServers,
} from "./harness/snapshot-suites.ts";
import { until } from "./harness/until.ts";

const namespace = "default";
const claimRef = (name: string) => ({ kind: "PersistentVolumeClaim", namespace, name }) as const;

for (const [driver, ground] of combinations)
  describe(`with ${driver} on the ${ground}`, () => {
    let place: TestServer;
    let suite: SnapshotSuite;
    let storageClassName: string;
    before(async () => {
      place = await testServers[ground]();
      await startComponent(place, "snapshot-controller");
      suite = await snapshotSuiteFor(place, place.connection, await drivers[driver](place.instance));
      storageClassName = shortName(suite.driver);
      const more = { provisioner: suite.driver.driver, reclaimPolicy: "Delete", volumeBindingMode: "Immediate" };
      await place.connection.client.create(
        "StorageClass",
        draftOf("StorageClass", { name: storageClassName }, more as never),
      );
      await startComponent(place, "csi-provisioner", [`--csi-address=${suite.driver.socket}`, "--v=4"]);
    });
    after(() => {
      suite?.fixtures.csi.close();
      place?.stop();
    });

    const create = (name: string, more: object = {}, storage = "1Mi") =>
      place.connection.client.create(
        "PersistentVolumeClaim",
        draftOf("PersistentVolumeClaim", claimRef(name), {
          spec: { accessModes: ["ReadWriteOnce"], storageClassName, resources: { requests: { storage } }, ...more },
        }),
      );
    const untilBound = (name: string, msMax = 30_000): Promise<PersistentVolume> =>
      until({ what: `claim ${name} is bound`, msMax }, async () => {
        const { spec, status } = await place.connection.client.get(claimRef(name));
        return status?.phase === "Bound"
          ? place.connection.client.get({ kind: "PersistentVolume", name: spec?.volumeName ?? "" })
          : undefined;
      });
    const fileIn = (volume: PersistentVolume): string =>
      join(suite.driver.dataOf(volume.spec?.csi?.volumeHandle ?? ""), "notes.txt");
    const remove = async (name: string, volume: PersistentVolume): Promise<void> => {
      await place.connection.client.delete(claimRef(name));
      await suite.untilGone({ kind: "PersistentVolume", name: volume.metadata.name }, 120_000);
    };
    const volumeIds = async (): Promise<readonly string[]> =>
      (await suite.fixtures.csi.controller.listVolumes({})).entries.map(({ volume }) => volume?.volumeId ?? "");

    test("a claim gets a volume, which goes with the claim", async () => {
      const { metadata } = await create("plain");
      const volume = await untilBound("plain");
      assert.equal(volume.metadata.name, `pvc-${metadata.uid}`);
      assert.ok(volume.metadata.finalizers?.includes(provisioning.volumeFinalizer));
      assert.equal(volume.metadata.annotations?.[provisioning.provisionedBy], suite.driver.driver);
      assert.equal(volume.spec?.persistentVolumeReclaimPolicy, "Delete");
      assert.equal(volume.spec?.claimRef?.uid, metadata.uid);
      assert.ok((await volumeIds()).includes(volume.spec?.csi?.volumeHandle ?? "none"));
      await remove("plain", volume);
      assert.ok(!(await volumeIds()).includes(volume.spec?.csi?.volumeHandle ?? "none"));
    });

    test("a restored claim holds the bytes of the moment of the snapshot", async () => {
      await create("source");
      const source = await untilBound("source");
      writeFileSync(fileIn(source), "the first words\n");
      await suite.take("monday", "source", suite.classes.delete);
      await suite.untilReady("monday");
      writeFileSync(fileIn(source), "spoiled\n");
      const dataSource = { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "monday" };
      await create("restored", { dataSource });
      const restored = await untilBound("restored");
      assert.equal(readFileSync(fileIn(restored), "utf8"), "the first words\n");
      await remove("restored", restored);
      await suite.remove("monday");
      await remove("source", source);
    });

    test("names of 253 characters for claims, classes and snapshots are provisioned, restored and deleted", async () => {
      const { client } = place.connection;
      const [long, restored] = ["n", "r"].map((letter) => letter.repeat(253)) as [string, string];
      const more = { provisioner: suite.driver.driver, reclaimPolicy: "Delete", volumeBindingMode: "Immediate" };
      await client.create("StorageClass", draftOf("StorageClass", { name: long }, more as never));
      await aClassFor(suite.fixtures, long, "Delete");
      await create(long, { storageClassName: long });
      const source = await untilBound(long);
      await suite.take(long, long, long);
      await suite.untilReady(long);
      const dataSource = { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: long };
      await create(restored, { storageClassName: long, dataSource });
      const copy = await untilBound(restored);
      await until({ what: "an event says that it was provisioned" }, async () =>
        (await client.list("Event", { namespace })).objects.some(
          ({ involvedObject, reason }) => involvedObject?.name === restored && reason === "ProvisioningSucceeded",
        )
          ? true
          : undefined,
      );
      await remove(restored, copy);
      await suite.remove(long);
      await remove(long, source);
      assert.deepEqual(await volumeIds(), []);
    });

    test("fifty restores of one snapshot at once have its bytes, and volumes of their own", async () => {
      await create("many");
      const many = await untilBound("many");
      writeFileSync(fileIn(many), "of many\n");
      await suite.take("shared", "many", suite.classes.delete);
      await suite.untilReady("shared");
      writeFileSync(fileIn(many), "spoiled\n");
      const dataSource = { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "shared" };
      const names = Array.from({ length: 50 }, (_, index) => `one-of-many-${index}`);
      await Promise.all(names.map((name) => create(name, { dataSource })));
      const volumes = new Map<string, PersistentVolume>();
      for (const name of names) volumes.set(name, await untilBound(name, 120_000));
      for (const volume of volumes.values()) assert.equal(readFileSync(fileIn(volume), "utf8"), "of many\n");
      const handles = [...volumes.values(), many].map(({ spec }) => spec?.csi?.volumeHandle ?? "");
      assert.deepEqual((await volumeIds()).toSorted(), handles.toSorted());
      await Promise.all([...volumes].map(([name, volume]) => remove(name, volume)));
      await suite.remove("shared");
      await remove("many", many);
      assert.deepEqual(await volumeIds(), []);
    });

    test("a claim that came before its snapshot gets its volume as soon as the snapshot is ready", async () => {
      await create("origin");
      const origin = await untilBound("origin");
      writeFileSync(fileIn(origin), "early\n");
      const dataSource = { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "later" };
      await create("early", { dataSource });
      await until({ what: "the claim says what it waits for" }, async () =>
        (await place.connection.client.list("Event", { namespace })).objects.some(
          ({ reason, message, involvedObject }) =>
            reason === "ProvisioningFailed" &&
            involvedObject?.name === "early" &&
            message?.includes(`VolumeSnapshot ${keyIn(namespace, "later")} does not exist`) === true,
        )
          ? true
          : undefined,
      );
      await suite.take("later", "origin", suite.classes.delete);
      const volume = await untilBound("early");
      assert.equal(readFileSync(fileIn(volume), "utf8"), "early\n");
      await remove("early", volume);
      await suite.remove("later");
      await remove("origin", origin);
    });

    test("a clone holds the bytes of its source", async () => {
      await create("original");
      const original = await untilBound("original");
      writeFileSync(fileIn(original), "twice\n");
      await create("copy", { dataSource: { kind: "PersistentVolumeClaim", name: "original" } });
      const copy = await untilBound("copy");
      assert.equal(readFileSync(fileIn(copy), "utf8"), "twice\n");
      await remove("copy", copy);
      await remove("original", original);
    });
  });
