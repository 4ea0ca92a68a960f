/**
 * external-snapshotter's own manifests run first, as pods; then the commands of docs/guides/install.md, as printed there, put ours in
 * their place and take them back, each time with snapshots in flight.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type Connection, connect } from "../harness/client.ts";
import { type Cluster, untilRemoved, useCluster } from "../harness/cluster.ts";
import { aBoundClaim, aClassFor, csiClientTo, type Fixtures, startComponent } from "../harness/components.ts";
import { type GuideShell, guideCommands, guideShell } from "../harness/guides.ts";
import { type OddDriver, startOddDriver } from "../harness/odd-driver.ts";
import { installReleasePods, type ReleasePods } from "../harness/release-pods.ts";
import { newNamespace } from "../harness/shared.ts";
import { leftovers, type Snapshots, snapshotsOf } from "../harness/snapshots.ts";
import { until } from "../harness/until.ts";

const minutesMs = 120_000;
const claims = ["a", "b", "c", "d", "e"];
/** The lines of the block that has this text. The driver of the guide is the one of the manifests. */
const linesWith = (text: string): readonly string[] => {
  const block = guideCommands("install.md").find((commands) => commands.includes(text)) ?? assert.fail(text);
  return block
    .replaceAll("deployment/my-driver", "statefulset/csi-snapshotter")
    .replaceAll(/(--namespace=|-n )storage\b/g, "$1default")
    .split("\n");
};

describe("external-snapshotter's pods are replaced by ours with the commands of the guide", () => {
  let cluster: Cluster;
  let connection: Connection;
  let driver: OddDriver;
  let fixtures: Fixtures;
  let snapshots: Snapshots;
  let shell: GuideShell;
  let release: ReleasePods;
  /** While it is there, calls beyond the first ones have taken their snapshot and get no reply. */
  let hold: { readonly from: number; readonly ended: PromiseWithResolvers<void> } | undefined;

  before(async () => {
    cluster = await useCluster();
    await untilRemoved(cluster);
    const { plane } = cluster;
    connection = await connect(plane.kubeconfig);
    shell = guideShell(plane.kubeconfig);
    driver = await startOddDriver(plane.instance.folder, { driver: "swap.example.com" });
    release = await installReleasePods(cluster, driver);
    const namespace = await newNamespace(plane, "swap");
    fixtures = { client: connection.client, csi: csiClientTo(driver.socket), driver: driver.driver, namespace };
    snapshots = snapshotsOf(fixtures);
    await aClassFor(fixtures, "swap", "Delete");
    for (const claim of claims)
      driver.oddities.set(await aBoundClaim(fixtures, claim), async () => {
        if (hold !== undefined && driver.snapshots.size > hold.from) await hold.ended.promise;
        return {};
      });
    await holderIsIn("kube-system");
  });
  after(async () => {
    hold?.ended.resolve();
    try {
      if (fixtures !== undefined) await cleanUp();
    } finally {
      fixtures?.csi.close();
      shell?.remove();
      connection?.close();
      await driver?.close();
    }
  });

  /** The cluster is shared. */
  const cleanUp = async (): Promise<void> => {
    const { namespace } = fixtures;
    await shell("snapkeep install --uninstall --components=snapshot-controller");
    await release.remove();
    for (const objects of [
      ["namespace", "snapkeep", namespace],
      ["pv", ...claims.map((name) => `${namespace}-${name}`)],
      ["volumesnapshotclass", "swap"],
    ])
      await cluster.kubectl(["delete", "--ignore-not-found", "--wait=false", ...objects]);
  };
  const must = async (line = ""): Promise<string> => {
    const { code, stdout, stderr } = await shell(line);
    assert.equal(code, 0, `${line}\n${stdout}${stderr}`);
    return stdout;
  };
  /** As the guide says to look. */
  const holderIsIn = (namespace: string) =>
    until({ what: `a pod of ${namespace} holds the lease`, msMax: minutesMs, everyMs: 500 }, async () => {
      const { stdout: holder } = await shell(linesWith("--replicas=0")[2] ?? assert.fail("no line shows the holder"));
      const { stdout } = await cluster.kubectl([
        "get",
        "pods",
        "-n",
        namespace,
        "-o",
        "jsonpath={.items[*].metadata.name}",
      ]);
      return stdout.split(" ").some((name) => name !== "" && holder.startsWith(name)) ? true : undefined;
    });
  const numbered = (name: string, count: number): readonly string[] =>
    Array.from({ length: count }, (_, index) => `${name}-${index}`);
  const takeAll = (names: readonly string[]) =>
    Promise.all(names.map((name, index) => snapshots.take(name, claims[index % claims.length] ?? "", "swap")));
  const readyCount = async (): Promise<number> =>
    (await fixtures.client.list("VolumeSnapshot", { namespace: fixtures.namespace })).objects.filter(
      ({ status }) => status?.readyToUse === true,
    ).length;
  const untilReady = (count: number) =>
    until({ what: `${count} snapshots are ready`, msMax: minutesMs, everyMs: 200 }, async () =>
      (await readyCount()) === count ? true : undefined,
    );
  const beginHold = (from: number) => {
    hold = { from, ended: Promise.withResolvers<void>() };
  };
  const endHold = () => {
    hold?.ended.resolve();
    hold = undefined;
  };
  const untilTaken = (count: number) =>
    until({ what: `the driver has taken ${count} snapshots`, msMax: minutesMs }, () =>
      driver.snapshots.size >= count ? true : undefined,
    );
  /** Each snapshot has a content with a handle of its own, and the driver has these and no others. */
  const assertLedger = async (count: number): Promise<void> => {
    const { objects } = await fixtures.client.list("VolumeSnapshotContent");
    const handles = objects
      .filter(({ spec }) => spec.driver === driver.driver)
      .map(({ status }) => status?.snapshotHandle ?? "none");
    assert.deepEqual(handles.toSorted(), [...driver.snapshots.values()].map(({ snapshotId }) => snapshotId).toSorted());
    assert.equal(new Set(handles).size, count);
  };

  test("fifty snapshots in flight are finished by ours: none is lost, none is taken twice", async () => {
    const [install, scaleDown] = linesWith("--replicas=0");
    const [diff, replace] = linesWith("install sidecar");
    assert.match(
      await must(install),
      /already there: Deployment kube-system\/snapshot-controller[\s\S]*everything is ready/,
    );
    beginHold(3);
    await takeAll(numbered("there", 50));
    await untilTaken(6);
    await must(scaleDown);
    assert.match(
      await must(diff),
      /container csi-snapshotter of registry\.k8s\.io\S+, taken for csi-snapshotter by its name, becomes part of csi-sidecars, which runs snapkeep:/,
    );
    await must(replace);
    assert.ok((await readyCount()) <= 3, "too late: they were ready before the swap");
    endHold();
    await holderIsIn("snapkeep");
    await untilReady(50);
    await assertLedger(50);
  });

  test("going back, upstream's finish what ours have begun", async () => {
    const [scaleUp, uninstall] = linesWith("--replicas=2");
    const [undo, status] = linesWith("rollout undo deployment/my-driver");
    beginHold(53);
    await takeAll(numbered("back", 20));
    await untilTaken(56);
    await must(scaleUp);
    await must(uninstall);
    await must(undo);
    await must(status);
    assert.ok((await readyCount()) <= 53, "too late: they were ready before the swap");
    endHold();
    await holderIsIn("kube-system");
    await untilReady(70);
    await assertLedger(70);
  });

  test("whatever either of them took can be deleted, and nothing is left", async () => {
    await release.remove();
    // Upstream's default limits make deletions slow, and who deletes is not the question here.
    const daemons = [
      await startComponent(cluster.plane, "snapshot-controller"),
      await startComponent(cluster.plane, "csi-snapshotter", [`--csi-address=${driver.socket}`]),
    ];
    await fixtures.client
      .list("VolumeSnapshot", { namespace: fixtures.namespace })
      .then(({ objects }) =>
        Promise.all(objects.map(({ metadata }) => fixtures.client.delete(snapshots.ref(metadata.name)))),
      );
    await until({ what: "nothing is left", msMax: minutesMs }, async () =>
      (await leftovers(fixtures)).length === 0 ? true : undefined,
    );
    for (const claim of claims) await snapshots.untilUnprotected(claim);
    await Promise.all(daemons.map((daemon) => daemon.stop()));
  });
});
