/**
 * What has gone wrong in the field, one scenario each, under its known name, with both drivers on the real control plane and on the
 * embedded server. Where a driver has to misbehave, one in front of it bends its answers.
 */
import assert from "node:assert/strict";
import { connect as dial } from "node:net";
import { after, before, describe, test } from "node:test";
import { draftOf } from "../../src/api/builders.ts";
import { Fault } from "../../src/base/fault.ts";
import { aBoundClaim, startComponent } from "./harness/components.ts";
import { type OddDriver, startOddDriver } from "./harness/odd-driver.ts";
import { freePort } from "./harness/ports.ts";
import { leftovers, snapshotsOf } from "./harness/snapshots.ts";
import { drivers, type Ground, grounds, type Stand, stages, standFor } from "./harness/stands.ts";
import { until } from "./harness/until.ts";

const namespace = "default";
for (const [kind, ground] of stages)
  describe(`scenario with ${kind} on the ${ground}`, () => {
    let place: Ground;
    /** The handle of the volume behind the claim. */
    let volume: string;
    let driver: OddDriver;
    let stand: Stand;
    let port: number;
    before(async () => {
      place = await grounds[ground]();
      const behind = await drivers[kind](place.instance);
      driver = await startOddDriver(place.instance.folder, { behind, asksOnce: kind === "hostpath" });
      port = await freePort();
      startComponent(place, "snapshot-controller", [`--http-endpoint=127.0.0.1:${port}`]);
      stand = await standFor(place, place.connection, driver, [
        "--retry-interval-start=500ms",
        "--retry-interval-max=2s",
      ]);
      volume = await aBoundClaim(stand.furniture, "data");
    });
    after(async () => {
      stand?.furniture.csi.close();
      await driver?.close();
      place?.stop();
    });

    const take = (name: string) => stand.take(name, "data", stand.classes.delete);
    const untilAsked = (times: number) =>
      until({ what: `the driver was asked ${times} times` }, () => (driver.asked.length >= times ? true : undefined));
    /** All is well again, and nothing is left of it, anywhere. */
    async function assertNothingLeft(): Promise<void> {
      let left: readonly string[] = [];
      await until({ what: "nothing is left", msMax: 30_000 }, async () => {
        left = await leftovers(stand.furniture);
        return left.length === 0 ? true : undefined;
      }).catch((reason: Error) => assert.fail(`${reason.message}: ${left.join(", ")}`));
      driver.asked.length = 0;
    }
    /** The driver has cut all the same. */
    const losing = (code: "DeadlineExceeded" | "Unavailable"): void =>
      void driver.oddities.set(volume, () => {
        throw new Fault(code, "not now");
      });
    const refusing = (): void =>
      void driver.bars.set(volume, new Fault("InvalidArgument", "this volume cannot be cut"));
    const mend = (): void => {
      driver.oddities.clear();
      driver.bars.clear();
    };

    test("leak-create-timeout: a cut whose answer is lost is asked for again by the same name, and is no failure", async () => {
      losing("DeadlineExceeded");
      await take("lost");
      await untilAsked(3);
      assert.equal((await stand.get("lost")).status?.error, undefined);
      mend();
      await stand.untilReady("lost");
      assert.equal(new Set(driver.asked.map(({ name }) => name)).size, 1);
      assert.equal((await stand.handles()).length, 1);
      await stand.remove("lost");
      await assertNothingLeft();
    });

    test("delete-while-creating: a snapshot deleted while its cut is under way leaves nothing at the driver", async () => {
      losing("Unavailable");
      await take("hasty");
      await untilAsked(1);
      await stand.furniture.client.delete(stand.ref("hasty"));
      await untilAsked(2);
      assert.equal((await stand.handles()).length, 1);
      mend();
      await stand.untilGone(stand.ref("hasty"));
      await assertNothingLeft();
    });

    test("quick-create-delete: snapshots deleted as soon as they are taken leave nothing behind", async () => {
      // A snapshot that is never ready keeps the claim protected, so that nothing slows the others down.
      driver.oddities.set(volume, (_right, _asked, name) => ({ readyToUse: name !== `snapshot-${first}` }));
      const first = (await take("first")).metadata.uid;
      await untilAsked(1);
      for (let round = 0; round < 30; round++) {
        await take(`quick-${round}`);
        await stand.furniture.client.delete(stand.ref(`quick-${round}`));
      }
      await stand.remove("first");
      await assertNothingLeft();
      mend();
    });

    test("eight-failed-vs-deleted-at-once: refused for good and deleted together, they let their claim go", async () => {
      refusing();
      const names = Array.from({ length: 8 }, (_, index) => `refused-${index}`);
      for (const name of names) await take(name);
      for (const name of names) await stand.untilTold(name, /this volume cannot be cut/);
      await Promise.all(names.map((name) => stand.furniture.client.delete(stand.ref(name))));
      for (const name of names) await stand.untilGone(stand.ref(name));
      await assertNothingLeft();
      await stand.untilUnprotected("data");
      mend();
    });

    test("notready-error-notready: an error between two answers does not end the asking", async () => {
      driver.oddities.set(volume, (_, asked) => {
        if (asked === 2) throw new Fault("Unavailable", "not now");
        return { readyToUse: asked > 3 };
      });
      await take("slow");
      assert.equal((await stand.untilReady("slow")).status?.error, undefined);
      assert.equal((await stand.handles()).length, 1);
      mend();
      await stand.remove("slow");
      await assertNothingLeft();
    });

    test("own-write-hot-loop: what we write does not make us ask again", async () => {
      refusing();
      await take("refused");
      await untilAsked(1);
      const startedAt = performance.now();
      await untilAsked(4);
      const tookMs = performance.now() - startedAt;
      assert.ok(tookMs > 1_000, `three more questions within ${Math.round(tookMs)} ms`);
      mend();
      await stand.remove("refused");
      await assertNothingLeft();
    });

    test("vs-delete-pvc-pending: a snapshot that a claim waits for stays until the claim is served or gone", async () => {
      await take("wanted");
      await stand.untilReady("wanted");
      const ref = { kind: "PersistentVolumeClaim", namespace, name: "waiting" } as const;
      const spec = {
        accessModes: ["ReadWriteOnce"],
        storageClassName: "nobody-serves-this",
        resources: { requests: { storage: "1Mi" } },
        dataSource: { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "wanted" },
      };
      await stand.furniture.client.create("PersistentVolumeClaim", draftOf("PersistentVolumeClaim", ref, { spec }));
      await until({ what: "the claim is pending" }, async () =>
        (await stand.furniture.client.get(ref)).status?.phase === "Pending" ? true : undefined,
      );
      await stand.furniture.client.delete(stand.ref("wanted"));
      await until({ what: "the user is told what it waits for" }, async () =>
        (await stand.furniture.client.list("Event", { namespace })).objects.some(
          ({ reason, message }) =>
            reason === "SnapshotDeletePending" && /restore a PVC: default\/waiting/.test(message ?? ""),
        )
          ? true
          : undefined,
      );
      assert.equal((await stand.handles()).length, 1);
      await stand.furniture.client.delete(ref);
      await stand.untilGone(stand.ref("wanted"));
      await assertNothingLeft();
    });

    test("two-writers-one-annotation-map: another's annotation outlives all of ours", async () => {
      driver.oddities.set(volume, () => ({ readyToUse: false }));
      await take("noted");
      const content = await until({ what: "the snapshot is bound" }, () =>
        stand.contentOf("noted").catch(() => undefined),
      );
      const ref = { kind: "VolumeSnapshotContent", name: content.metadata.name } as const;
      await stand.furniture.client.patch(ref, {
        type: "merge",
        body: { metadata: { annotations: { "their/note": "x" } } },
      });
      mend();
      await stand.untilReady("noted");
      await stand.furniture.client.patch(ref, { type: "merge", body: { spec: { deletionPolicy: "Retain" } } });
      await stand.remove("noted");
      assert.equal((await stand.furniture.client.get(ref)).metadata.annotations?.["their/note"], "x");
      await stand.furniture.client.delete(ref);
      await stand.untilGone(ref);
      for (const snapshotId of await stand.handles())
        await stand.furniture.csi.controller.deleteSnapshot({ snapshotId });
      await assertNothingLeft();
    });

    test("driver-mismatch-content: a content of another driver is never brought before ours", async () => {
      const spec = {
        deletionPolicy: "Delete" as const,
        driver: "other.example.com",
        source: { volumeHandle: volume },
        volumeSnapshotClassName: stand.classes.delete,
        volumeSnapshotRef: { namespace, name: "theirs", uid: "0d1f4c52-5b6e-4f0c-9f0e-1f2d3c4b5a69" },
      };
      const ref = { kind: "VolumeSnapshotContent", name: "theirs" } as const;
      await stand.furniture.client.create("VolumeSnapshotContent", draftOf("VolumeSnapshotContent", ref, { spec }));
      await take("ours");
      await stand.untilReady("ours");
      await stand.remove("ours");
      assert.equal(driver.asked.length, 1);
      assert.equal((await stand.furniture.client.get(ref)).status, undefined);
      await stand.furniture.client.delete(ref);
      await assertNothingLeft();
    });

    test("namespace-deleted-mid-create: the namespace goes, and with it what was being cut", async () => {
      await stand.furniture.client.create("Namespace", draftOf("Namespace", { name: "doomed" }, {} as never));
      const there = { ...stand.furniture, namespace: "doomed" };
      driver.oddities.set(await aBoundClaim(there, "data"), () => {
        throw new Fault("Unavailable", "not now");
      });
      await snapshotsOf(there).take("caught", "data", stand.classes.delete);
      await untilAsked(1);
      await stand.furniture.client.delete({ kind: "Namespace", name: "doomed" });
      await untilAsked(2);
      mend();
      await stand.untilGone({ kind: "Namespace", name: "doomed" }, 60_000);
      await assertNothingLeft();
    });

    test("velero-style-vsc-rebinding: kept data comes back under another name through a content made by hand", async () => {
      await stand.take("first", "data", stand.classes.retain);
      await stand.untilReady("first");
      const old = await stand.contentOf("first");
      await stand.remove("first");
      await stand.furniture.client.delete({ kind: "VolumeSnapshotContent", name: old.metadata.name });
      const spec = {
        deletionPolicy: "Delete" as const,
        driver: driver.driver,
        source: { snapshotHandle: old.status?.snapshotHandle ?? "" },
        volumeSnapshotRef: { namespace, name: "second" },
      };
      const content = draftOf("VolumeSnapshotContent", { name: "rebound" }, { spec });
      await stand.furniture.client.create("VolumeSnapshotContent", content);
      const source = { volumeSnapshotContentName: "rebound" };
      await stand.furniture.client.create(
        "VolumeSnapshot",
        draftOf("VolumeSnapshot", { namespace, name: "second" }, { spec: { source } }),
      );
      await stand.untilReady("second");
      assert.deepEqual(await stand.handles(), [old.status?.snapshotHandle]);
      await stand.remove("second");
      await assertNothingLeft();
    });

    test("a driver that cannot list its snapshots is trusted: the handle that an administrator gives is taken as it is", async () => {
      const listless = await startOddDriver(place.instance.folder, { driver: "listless.example.com", canList: false });
      const there = await standFor(place, place.connection, listless);
      const spec = {
        deletionPolicy: "Delete" as const,
        driver: listless.driver,
        source: { snapshotHandle: "from-elsewhere" },
        volumeSnapshotRef: { namespace, name: "trusted" },
      };
      const content = draftOf("VolumeSnapshotContent", { name: "trusted" }, { spec });
      await stand.furniture.client.create("VolumeSnapshotContent", content);
      const source = { volumeSnapshotContentName: "trusted" };
      const snapshot = draftOf("VolumeSnapshot", { namespace, name: "trusted" }, { spec: { source } });
      await stand.furniture.client.create("VolumeSnapshot", snapshot);
      const { status } = await there.untilReady("trusted");
      assert.ok(status?.creationTime !== undefined);
      await there.remove("trusted");
      assert.deepEqual(
        [listless.askedToList.length, listless.askedToDelete.map(({ snapshotId }) => snapshotId)],
        [0, ["from-elsewhere"]],
      );
      there.furniture.csi.close();
      await listless.close();
    });

    test("metrics-handler-blocks: scrapers that never finish asking hold up no snapshot", async () => {
      const scrapers = Array.from({ length: 50 }, () => dial(port, "127.0.0.1"));
      for (const scraper of scrapers) scraper.on("error", () => undefined).write("GET /metrics HTTP/1.1\r\n");
      await take("unmoved");
      await stand.untilReady("unmoved");
      await stand.remove("unmoved");
      for (const scraper of scrapers) scraper.destroy();
      await assertNothingLeft();
    });

    test("all this lets the claim go", async () => {
      await stand.untilUnprotected("data");
    });
  });
