/**
 * Our provisioner and external-provisioner 5.3.0 in each other's place, beside upstream's snapshot pair, with exactly the rules of
 * 5.3.0: killed with claims in work, each finishes what the other has begun. And ours killed in the gaps of a restore.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { provisioning } from "../../src/api/names.ts";
import { ControllerServiceCapability_RPC_Type as Can } from "../../src/csi/gen/csi_pb.js";
import { aStorageClass, type Claims, claimsOf, cloning, handleOf, restoring } from "./harness/claims.ts";
import { type Connection, connect } from "./harness/client.ts";
import { csiClientTo, type Fixtures, startComponent } from "./harness/components.ts";
import { type ControlPlane, startControlPlane } from "./harness/control-plane.ts";
import { type Proxied, proxyTo } from "./harness/fault-proxy.ts";
import type { Daemon } from "./harness/instance.ts";
import { type OddDriver, startOddDriver } from "./harness/odd-driver.ts";
import { installProvisionerRelease, provisionerToken, provisionerUser } from "./harness/provisioner-release.ts";
import { installRelease } from "./harness/release.ts";
import { type Snapshots, snapshotsOf } from "./harness/snapshots.ts";
import { until } from "./harness/until.ts";
import { startUpstream, unthrottled } from "./harness/upstream.ts";

const namespace = "default";
type Maker = "ours" | "upstream";

describe("our provisioner and external-provisioner 5.3.0 in each other's place", () => {
  let plane: ControlPlane;
  let connection: Connection;
  let proxied: Proxied;
  let driver: OddDriver;
  let fixtures: Fixtures;
  let snapshots: Snapshots;
  let claims: Claims;

  before(async () => {
    plane = await startControlPlane({ tokens: [provisionerToken] });
    connection = await connect(plane.kubeconfig);
    await installRelease(plane, connection.client, "as shipped");
    await installProvisionerRelease(plane);
    driver = await startOddDriver(plane.instance.folder, { more: [Can.CLONE_VOLUME] });
    startUpstream(plane, "snapshot-controller", unthrottled);
    startUpstream(plane, "csi-snapshotter", [`--csi-address=${driver.socket}`, ...unthrottled]);
    proxied = await proxyTo({
      instance: plane.instance,
      kubeconfig: plane.kubeconfigFor(provisionerUser, provisionerToken.token),
    });
    fixtures = { client: connection.client, csi: csiClientTo(driver.socket), driver: driver.driver, namespace };
    snapshots = snapshotsOf(fixtures);
    await connection.client.create("VolumeSnapshotClass", {
      apiVersion: "snapshot.storage.k8s.io/v1",
      kind: "VolumeSnapshotClass",
      metadata: { name: "delete" },
      driver: driver.driver,
      deletionPolicy: "Delete",
    } as never);
    await aStorageClass(connection.client, "plain", driver.driver);
    claims = claimsOf(connection.client, "plain");
  });
  after(async () => {
    fixtures?.csi.close();
    await proxied?.proxy.close();
    connection?.close();
    await driver?.close();
    plane?.stop();
  });

  const start = async (maker: Maker): Promise<Daemon> => {
    const place = { ...plane, kubeconfig: proxied.kubeconfig };
    const flags = [`--csi-address=${driver.socket}`, "--retry-interval-max=2s"];
    return maker === "ours"
      ? startComponent(place, "csi-provisioner", [...flags, `--leader-election-namespace=${namespace}`, "--v=4"], {
          as: "release",
        })
      : startUpstream(place, "csi-provisioner", [...flags, ...unthrottled]);
  };
  const stored = async () => (await connection.client.list("PersistentVolume", {})).objects;
  const boundCount = async (): Promise<number> =>
    (await connection.client.list("PersistentVolumeClaim", { namespace })).objects.filter(
      ({ status }) => status?.phase === "Bound",
    ).length;
  const untilBoundCount = (count: number) =>
    until({ what: `${count} claims are bound`, msMax: 90_000 }, async () =>
      (await boundCount()) >= count ? true : undefined,
    );
  /** The driver has the volumes of the PersistentVolumes, each of its own claim, and no others. */
  const assertLedger = async (): Promise<void> => {
    const handles = (await stored()).map(handleOf);
    assert.deepEqual([...driver.volumes].toSorted(), handles.toSorted());
    assert.equal(new Set(handles).size, handles.length);
  };
  /** Everything can be deleted, and nothing is left. */
  const removeAll = async (): Promise<void> => {
    const { objects } = await connection.client.list("PersistentVolumeClaim", { namespace });
    await Promise.all(objects.map(({ metadata }) => claims.remove(metadata.name)));
    for (const { metadata } of (await connection.client.list("VolumeSnapshot", { namespace })).objects)
      await snapshots.remove(metadata.name);
    assert.deepEqual(await stored(), []);
    assert.deepEqual([...driver.volumes], []);
  };
  /** The only volume without a PersistentVolume is named by the event, and deleted by an administrator. */
  const removeReported = async (): Promise<void> => {
    const message = await until({ what: "the volume is reported", msMax: 60_000 }, async () =>
      (await claims.messages("dropped", "VolumeLeftAtDriver")).at(0),
    );
    const handles = new Set((await stored()).map(handleOf));
    const left = [...driver.volumes].filter((id) => !handles.has(id));
    assert.equal(left.length, 1);
    assert.ok(message.includes(String(left[0])), message);
    driver.volumes.delete(String(left[0]));
  };
  const aSource = async (): Promise<void> => {
    await claims.create("source");
    await claims.untilBound("source");
    await snapshots.take("monday", "source", "delete");
    await snapshots.untilReady("monday");
  };
  const numbered = (name: string, count: number): readonly string[] =>
    Array.from({ length: count }, (_, index) => `${name}-${index}`);

  for (const [first, second] of [
    ["upstream", "ours"],
    ["ours", "upstream"],
  ] as const)
    test(`fifty claims that ${first === "ours" ? "ours" : "upstream's"} was killed over are finished by ${second === "ours" ? "ours" : "upstream's"}: nothing is lost, leaked or left on them`, async () => {
      let running = await start(first);
      await aSource();
      const restores = numbered("restored", 40);
      const clones = numbered("clone", 10);
      // Some calls have made their volume, some have not, and no reply comes before the process is gone.
      const killed = Promise.withResolvers<void>();
      let asked = 0;
      driver.gates.beforeVolume = async () => {
        asked += 1;
        if (asked > 30) await killed.promise;
      };
      driver.gates.beforeReply = async () => {
        if (asked > 10) await killed.promise;
      };
      await Promise.all([
        ...restores.map((name) => claims.create(name, restoring("monday"))),
        ...clones.map((name) => claims.create(name, cloning("source"))),
      ]);
      await until({ what: "the driver has many calls in work", msMax: 60_000 }, () => (asked >= 40 ? true : undefined));
      await untilBoundCount(5);
      await running.stop("SIGKILL");
      assert.ok((await boundCount()) < 30, "too late: hardly any was in work");
      driver.mend();
      killed.resolve();
      running = await start(second);
      await untilBoundCount(51);
      await assertLedger();
      // Upstream takes its finalizer off the source of clones when that is deleted, and not before.
      const known = [
        "kubernetes.io/pvc-protection",
        ...(second === "ours" ? [] : [provisioning.claimCloningFinalizer]),
      ];
      const left = await until({ what: "claims have no finalizers but those that somebody removes" }, async () => {
        const { objects } = await connection.client.list("PersistentVolumeClaim", { namespace });
        const names = objects.flatMap(({ metadata }) => metadata.finalizers ?? []);
        return names.every((name) => known.includes(name)) ? objects : undefined;
      });
      const annotations = new Set(left.flatMap(({ metadata }) => Object.keys(metadata.annotations ?? {})));
      assert.deepEqual(
        [...annotations].filter((name) => !/kubernetes\.io\//.test(name)),
        [],
      );
      await removeAll();
      await running.stop("SIGKILL");
    });

  interface Gap {
    readonly when: string;
    /** What becomes of the volume whose claim was deleted meanwhile. */
    readonly dropped: "deleted" | "reported";
    /** Lets restores wait there until the process is killed; resolves when one does. */
    arm(killed: Promise<void>): Promise<void>;
  }
  const waitIn =
    (gate: "beforeVolume" | "beforeReply") =>
    (killed: Promise<void>): Promise<void> => {
      const reached = Promise.withResolvers<void>();
      driver.gates[gate] = async () => {
        reached.resolve();
        await killed;
      };
      return reached.promise;
    };
  const gaps: readonly Gap[] = [
    { when: "before the driver has made the volume", dropped: "deleted", arm: waitIn("beforeVolume") },
    { when: "when the driver has made the volume and not answered", dropped: "deleted", arm: waitIn("beforeReply") },
    {
      when: "before the PersistentVolume is stored",
      // The note beside its call says that the PersistentVolume may have been stored: its owner may have retained it.
      dropped: "reported",
      arm: () => {
        const { held } = proxied.proxy.hold((request) => request.startsWith("POST /api/v1/persistentvolumes"));
        return held;
      },
    },
  ];
  for (const { when, dropped, arm } of gaps)
    test(`ours is killed ${when}: a claim that is still there gets its volume, the volume of one that was deleted is ${dropped}`, async () => {
      let running = await start("ours");
      await aSource();
      const killed = Promise.withResolvers<void>();
      const reached = arm(killed.promise);
      await claims.create("kept", restoring("monday"));
      await claims.create("dropped", restoring("monday"));
      await reached;
      await until({ what: "both calls have been sent" }, () => (driver.askedForVolumes.length >= 3 ? true : undefined));
      await running.stop("SIGKILL");
      proxied.proxy.disconnect();
      await connection.client.delete(claims.ref("dropped"));
      driver.mend();
      killed.resolve();
      running = await start("ours");
      await claims.untilBound("kept");
      if (dropped === "reported") await removeReported();
      await until({ what: "the driver has two volumes", msMax: 60_000 }, () =>
        driver.volumes.size === 2 ? true : undefined,
      );
      await assertLedger();
      await removeAll();
      driver.forget();
      await running.stop("SIGKILL");
    });
});
