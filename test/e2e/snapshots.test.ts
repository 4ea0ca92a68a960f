/** The life of a snapshot, on the real control plane and on the embedded server, with hostpath and with our own driver. */
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { draftOf } from "../../src/api/builders.ts";
import { annotations, finalizers } from "../../src/api/names.ts";
import { aBoundClaim, startComponent } from "./harness/components.ts";
import { startOddDriver } from "./harness/odd-driver.ts";
import {
  combinations,
  drivers,
  provisionBy,
  type SnapshotSuite,
  snapshotSuiteFor,
  type TestServer,
  testServers,
} from "./harness/snapshot-suites.ts";
import { leftovers } from "./harness/snapshots.ts";
import { until } from "./harness/until.ts";

const namespace = "default";
for (const [driver, ground] of combinations)
  describe(`with ${driver} on the ${ground}`, () => {
    let place: TestServer;
    let stand: SnapshotSuite;
    before(async () => {
      place = await testServers[ground]();
      await startComponent(place, "snapshot-controller");
      stand = await snapshotSuiteFor(place, place.connection, await drivers[driver](place.instance));
    });
    after(() => {
      stand?.fixtures.csi.close();
      place?.stop();
    });

    test("a snapshot of a claim becomes ready, and is deleted with its content and its data", async () => {
      await aBoundClaim(stand.fixtures, "one");
      await stand.take("first", "one", stand.classes.delete);
      const { status, metadata } = await stand.untilReady("first");
      const content = await stand.contentOf("first");
      assert.equal(content.metadata.name, `snapcontent-${metadata.uid}`);
      assert.deepEqual(content.metadata.finalizers, [finalizers.contentBound]);
      assert.deepEqual(
        [...(metadata.finalizers ?? [])].sort(),
        [finalizers.snapshotAsSource, finalizers.snapshotBound].sort(),
      );
      assert.ok((await stand.handles()).includes(content.status?.snapshotHandle ?? "none"));
      assert.equal(typeof content.status?.creationTime, "bigint");
      assert.ok(status?.creationTime !== undefined);
      assert.equal(status.boundVolumeSnapshotContentName, content.metadata.name);
      assert.equal(status.restoreSize, "1Mi");
      assert.equal(content.spec.sourceVolumeMode, "Filesystem");
      assert.equal(content.metadata.annotations?.[annotations.beingCreated], undefined);
      await stand.untilUnprotected("one");
      await stand.remove("first");
      await stand.untilGone({ kind: "VolumeSnapshotContent", name: content.metadata.name });
      assert.ok(!(await stand.handles()).includes(content.status?.snapshotHandle ?? "none"));
    });

    test("a snapshot that exists on the storage system is bound by its content", async () => {
      const sourceVolumeId = await aBoundClaim(stand.fixtures, "old");
      const { snapshot } = await stand.fixtures.csi.controller.createSnapshot({ name: "by-hand", sourceVolumeId });
      await adopt(stand, snapshot?.snapshotId ?? "");
      await stand.untilReady("adopted");
      await stand.remove("adopted");
      await stand.untilGone({ kind: "VolumeSnapshotContent", name: "by-hand" });
      assert.ok(!(await stand.handles()).includes(snapshot?.snapshotId ?? "none"));
    });

    test("a content that is deleted first waits for its snapshot, and both are deleted together", async () => {
      await aBoundClaim(stand.fixtures, "order");
      await stand.take("order", "order", stand.classes.delete);
      await stand.untilReady("order");
      const ref = { kind: "VolumeSnapshotContent", name: (await stand.contentOf("order")).metadata.name } as const;
      await stand.fixtures.client.delete(ref);
      assert.equal((await stand.get("order")).status?.readyToUse, true);
      await stand.remove("order");
      await stand.untilGone(ref);
    });

    test("with a driver that cannot list snapshots a pre-provisioned handle is accepted without a check", async () => {
      const listless = await startOddDriver(place.instance.folder, { driver: "listless.example.com", canList: false });
      const there = await snapshotSuiteFor(place, place.connection, listless);
      const spec = {
        deletionPolicy: "Delete" as const,
        driver: listless.driver,
        source: { snapshotHandle: "from-elsewhere" },
        volumeSnapshotRef: { namespace, name: "trusted" },
      };
      const content = draftOf("VolumeSnapshotContent", { name: "trusted" }, { spec });
      await stand.fixtures.client.create("VolumeSnapshotContent", content);
      const source = { volumeSnapshotContentName: "trusted" };
      const snapshot = draftOf("VolumeSnapshot", { namespace, name: "trusted" }, { spec: { source } });
      await stand.fixtures.client.create("VolumeSnapshot", snapshot);
      const { status } = await there.untilReady("trusted");
      assert.ok(status?.creationTime !== undefined);
      await there.remove("trusted");
      assert.deepEqual(
        [listless.askedToList.length, listless.askedToDelete.map(({ snapshotId }) => snapshotId)],
        [0, ["from-elsewhere"]],
      );
      there.fixtures.csi.close();
      await listless.close();
    });

    test("a snapshot that cannot be taken has an error, and is taken once the cause is fixed", async () => {
      await stand.take("patient", "later", stand.classes.delete);
      await stand.untilReported("patient", /claim default\/later not found: create it/);
      await aBoundClaim(stand.fixtures, "later");
      assert.equal((await stand.untilReady("patient")).status?.error, undefined);
      await stand.remove("patient");
    });

    test("a volume that upstream's csi-provisioner restores from a snapshot has the source's data at that time", async () => {
      const storageClassName = await provisionBy(place, place.connection, stand.driver);
      const source = await aBoundClaim(stand.fixtures, "source");
      const file = join(stand.driver.dataOf(source), "file");
      writeFileSync(file, "as it was");
      await stand.take("then", "source", stand.classes.delete);
      await stand.untilReady("then");
      writeFileSync(file, "spoiled");
      const ref = { kind: "PersistentVolumeClaim", namespace, name: "restored" } as const;
      const spec = {
        accessModes: ["ReadWriteOnce"],
        storageClassName,
        resources: { requests: { storage: "1Mi" } },
        dataSource: { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "then" },
      };
      await stand.fixtures.client.create("PersistentVolumeClaim", draftOf("PersistentVolumeClaim", ref, { spec }));
      const claim = await until({ what: "the restored claim is bound" }, async () => {
        const seen = await stand.fixtures.client.get(ref);
        return seen.status?.phase === "Bound" ? seen : undefined;
      });
      const name = claim.spec?.volumeName ?? "";
      const volume = await stand.fixtures.client.get({ kind: "PersistentVolume", name });
      const folder = stand.driver.dataOf(volume.spec?.csi?.volumeHandle ?? "");
      assert.equal(readFileSync(join(folder, "file"), "utf8"), "as it was");
      await stand.fixtures.client.delete(ref);
      await stand.untilGone({ kind: "PersistentVolume", name });
      assert.ok(!existsSync(folder), "the restored volume's data is still there");
      await stand.remove("then");
    });

    test("after all tests nothing is left in the API or at the driver", async () => {
      assert.deepEqual(await leftovers(stand.fixtures), []);
    });
  });

async function adopt({ fixtures }: SnapshotSuite, snapshotHandle: string): Promise<void> {
  const spec = {
    deletionPolicy: "Delete" as const,
    driver: fixtures.driver,
    source: { snapshotHandle },
    volumeSnapshotRef: { namespace, name: "adopted" },
  };
  const metadata = { namespace, name: "adopted" };
  const source = { volumeSnapshotContentName: "by-hand" };
  const content = draftOf("VolumeSnapshotContent", { name: "by-hand" }, { spec });
  await fixtures.client.create("VolumeSnapshotContent", content);
  await fixtures.client.create("VolumeSnapshot", draftOf("VolumeSnapshot", metadata, { spec: { source } }));
}
