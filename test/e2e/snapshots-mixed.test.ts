/** Ours beside upstream's: each controller with each sidecar, one pair taking over from the other, and replicas of ours. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { KindName } from "../../src/api/kinds.ts";
import { leaseNamespace } from "../../src/api/manifests/snapshot-controller.ts";
import { annotations, finalizers } from "../../src/api/names.ts";
import { type Connection, connect } from "./harness/client.ts";
import {
  aBoundClaim,
  aClassFor,
  csiClientTo,
  type Fixtures,
  installSnapshotCrds,
  startComponent,
} from "./harness/components.ts";
import { type ControlPlane, startControlPlane } from "./harness/control-plane.ts";
import { type DirectoryDriverProcess, startDirectoryDriver } from "./harness/directory-driver.ts";
import type { Daemon } from "./harness/instance.ts";
import { startOddDriver } from "./harness/odd-driver.ts";
import { shipped } from "./harness/shipped.ts";
import { leftovers, type Snapshots, snapshotsOf } from "./harness/snapshots.ts";
import { until } from "./harness/until.ts";
import { startUpstream, unthrottled } from "./harness/upstream.ts";

type Maker = "ours" | "upstream";
type Component = "snapshot-controller" | "csi-snapshotter";
/** Where ours keep their leases as they are installed. */
const leasePlaces = { "snapshot-controller": leaseNamespace, "csi-snapshotter": shipped.driverNamespace } as const;

/**
 * Short enough for a test to wait for a takeover, and long enough that a leader on a busy machine does not lose its lease for want of
 * a turn: nothing here starts it again. Both makers understand the same flags.
 */
const election = [
  "--leader-election=true",
  "--leader-election-lease-duration=15s",
  "--leader-election-renew-deadline=12s",
  "--leader-election-retry-period=1s",
  "--retry-interval-max=5s",
];

/**
 * Upstream's sidecar does not look again when it has taken the mark of a cut off itself: a content on its way out whose cut it has
 * only just learnt of waits for the next look at everything, which is a quarter of an hour away by default.
 */
const looksAgain = ["--resync-period=10s"];

describe("ours and upstream's together", () => {
  const namespace = "default";
  const claims = ["a", "b", "c", "d", "e"];
  let plane: ControlPlane;
  let connection: Connection;
  let driver: DirectoryDriverProcess;
  let fixtures: Fixtures;
  let snapshots: Snapshots;

  before(async () => {
    plane = await startControlPlane();
    connection = await connect(plane.kubeconfig);
    await installSnapshotCrds(connection.client);
    // Not ready at once: there is always something in flight.
    driver = await startDirectoryDriver(plane.instance, { flags: ["--snapshot-delay=1s"] });
    fixtures = { client: connection.client, csi: csiClientTo(driver.socket), driver: driver.driver, namespace };
    snapshots = snapshotsOf(fixtures);
    await aClassFor(fixtures, "delete", "Delete");
    await aClassFor(fixtures, "retain", "Retain");
    for (const claim of claims) await aBoundClaim(fixtures, claim);
    // Upstream's sidecar may be the first that keeps a lease there.
    await plane.request("POST", "/api/v1/namespaces", { metadata: { name: shipped.driverNamespace } });
  });
  after(() => {
    fixtures?.csi.close();
    connection?.close();
    plane?.stop();
  });

  async function start(
    maker: Maker,
    component: Component,
    flags: readonly string[] = [],
    socket = driver.socket,
  ): Promise<Daemon> {
    const driven = component === "csi-snapshotter" ? [`--csi-address=${socket}`] : [];
    return maker === "ours"
      ? startComponent(plane, component, [...driven, ...flags])
      : startUpstream(plane, component, [...unthrottled, ...looksAgain, ...driven, ...flags]);
  }
  const electionOf = (component: Component): readonly string[] => [
    ...election,
    `--leader-election-namespace=${leasePlaces[component]}`,
  ];
  const startPair = async (maker: Maker): Promise<readonly Daemon[]> => [
    await start(maker, "snapshot-controller", electionOf("snapshot-controller")),
    await start(maker, "csi-snapshotter", electionOf("csi-snapshotter")),
  ];
  const kill = (daemons: readonly Daemon[]) => Promise.all(daemons.map((daemon) => daemon.stop("SIGKILL")));
  const ready = async (): Promise<number> =>
    (await fixtures.client.list("VolumeSnapshot", { namespace })).objects.filter(
      ({ status }) => status?.readyToUse === true,
    ).length;
  const untilReadyCount = (count: number) =>
    until({ what: `${count} snapshots are ready`, msMax: 90_000, everyMs: 100 }, async () =>
      (await ready()) >= count ? true : undefined,
    );
  const takeAll = (names: readonly string[]) =>
    Promise.all(names.map((name, index) => snapshots.take(name, claims[index % claims.length] ?? "", "delete")));

  /** Each snapshot has its own handle, and the driver has these and no others. */
  async function assertOneEach(names: readonly string[]): Promise<void> {
    const contents = await Promise.all(names.map((name) => snapshots.contentOf(name)));
    const promised = contents.map(({ status }) => status?.snapshotHandle ?? "none");
    assert.deepEqual([...promised].sort(), [...(await snapshots.handles())].sort());
    assert.equal(new Set(promised).size, names.length);
  }

  async function removeAll(names: readonly string[]): Promise<void> {
    await Promise.all(names.map((name) => fixtures.client.delete(snapshots.ref(name))));
    for (const name of names) await snapshots.untilGone(snapshots.ref(name), 90_000);
    for (const claim of claims) await snapshots.untilUnprotected(claim);
    await until({ what: "nothing is left" }, async () => ((await leftovers(fixtures)).length === 0 ? true : undefined));
  }

  for (const [controller, sidecar] of [
    ["ours", "upstream"],
    ["upstream", "ours"],
  ] as const)
    test(`${controller === "ours" ? "our controller works with upstream's sidecar" : "upstream's controller works with our sidecar"}`, async () => {
      await dropLeases();
      const daemons = [await start(controller, "snapshot-controller"), await start(sidecar, "csi-snapshotter")];
      const names = ["first", "second", "third"];
      await takeAll(names);
      await snapshots.take("kept", "a", "retain");
      for (const name of [...names, "kept"]) await snapshots.untilReady(name, 60_000);
      await assertOneEach([...names, "kept"]);

      const first = {
        kind: "VolumeSnapshotContent",
        name: (await snapshots.contentOf("first")).metadata.name,
      } as const;
      await fixtures.client.delete(first); // Out of order: it waits for its snapshot.
      const kept = await snapshots.contentOf("kept");
      await snapshots.remove("kept");
      const ref = { kind: "VolumeSnapshotContent", name: kept.metadata.name } as const;
      const left = await fixtures.client.get(ref);
      assert.deepEqual(left.metadata.finalizers, [finalizers.contentBound]);
      assert.equal(left.metadata.annotations?.[annotations.beingDeleted], "yes");
      await fixtures.client.delete(ref);
      await snapshots.untilGone(ref);
      await fixtures.csi.controller.deleteSnapshot({ snapshotId: kept.status?.snapshotHandle ?? "" });

      // During CreateSnapshot. An earlier delete may overtake the finalizers, and upstream's controller then leaves the content forever.
      await snapshots.take("hasty", "b", "delete");
      await until({ what: "hasty has a content" }, async () =>
        (await snapshots.get("hasty")).status?.boundVolumeSnapshotContentName === undefined ? undefined : true,
      );
      await fixtures.client.delete(snapshots.ref("hasty"));
      await snapshots.untilGone(snapshots.ref("hasty"), 60_000);
      await removeAll(names);
      await kill(daemons);
    });

  for (const [killed, heir] of [
    ["ours", "upstream"],
    ["upstream", "ours"],
  ] as const)
    test(`snapshots that ${killed === "ours" ? "our sidecar" : "upstream's sidecar"} took, also when it was killed during the call, are deleted by ${heir === "ours" ? "ours" : "upstream's"}`, async () => {
      const odd = await startOddDriver(plane.instance.folder, { driver: `${killed}.example.com` });
      const theirs: Fixtures = { ...fixtures, csi: csiClientTo(odd.socket), driver: odd.driver };
      await aClassFor(theirs, `cut-by-${killed}`, "Delete");
      const answer = Promise.withResolvers<object>();
      odd.oddities.set(await aBoundClaim(theirs, killed), () => answer.promise);
      const startSidecar = (maker: Maker) => start(maker, "csi-snapshotter", [], odd.socket);
      await dropLeases();
      const [controller, sidecar] = [await start(heir, "snapshot-controller"), await startSidecar(killed)];
      await aBoundClaim(theirs, `${killed}-whole`);
      await snapshots.take("whole", `${killed}-whole`, `cut-by-${killed}`);
      await snapshots.untilReady("whole");
      // A leftover being-created annotation would count as a running CreateSnapshot.
      await until({ what: "the being-created annotation is removed" }, async () =>
        (await snapshots.contentOf("whole")).metadata.annotations?.[annotations.beingCreated] === undefined
          ? true
          : undefined,
      );
      const { metadata } = await snapshots.take("cut", killed, `cut-by-${killed}`);
      await until({ what: "the driver has taken the snapshot" }, () => (odd.snapshots.size === 2 ? true : undefined));
      await kill([sidecar]);
      for (const name of ["cut", "whole"]) await fixtures.client.delete(snapshots.ref(name));
      // Before that the successor would call CreateSnapshot, and know the handle by the reply.
      const content = { kind: "VolumeSnapshotContent", name: `snapcontent-${metadata.uid}` } as const;
      await until({ what: "the content is terminating" }, async () =>
        (await fixtures.client.get(content)).metadata.deletionTimestamp === undefined ? undefined : true,
      );
      answer.resolve({});
      await dropLeases();
      const last = await startSidecar(heir);
      for (const name of ["cut", "whole"]) await snapshots.untilGone(snapshots.ref(name), 60_000);
      await snapshots.untilUnprotected(killed);
      await until({ what: "the content is gone" }, async () =>
        (await leftovers(theirs)).some((left) => left.startsWith("VolumeSnapshotContent")) ? undefined : true,
      );
      assert.deepEqual(await leftovers(theirs), [], "nobody knows of it any more");
      theirs.csi.close();
      await kill([controller, last]);
      await odd.close();
    });

  test("a swap from upstream to ours and back with 100 snapshots in flight loses, leaks and blocks nothing", async () => {
    const names = Array.from({ length: 100 }, (_, index) => `swap-${index}`);
    const dropped = names.filter((_, index) => index % 10 === 9);
    const kept = names.filter((name) => !dropped.includes(name));
    await dropLeases();
    let pair = await startPair("upstream");
    await takeAll(names);
    await untilReadyCount(10);
    await kill(pair);
    assert.ok((await ready()) < 90, "too late: hardly any was in flight");
    pair = await startPair("ours");
    await Promise.all(dropped.map((name) => fixtures.client.delete(snapshots.ref(name))));
    await untilReadyCount(50);
    // The driver takes a second for each, so that these are in flight on the way back for certain.
    const late = Array.from({ length: 20 }, (_, index) => `late-${index}`);
    await takeAll(late);
    await kill(pair);
    assert.ok((await ready()) < kept.length + late.length, "too late: none was in flight on the way back");
    pair = await startPair("upstream");
    kept.push(...late);
    await untilReadyCount(kept.length);
    assert.deepEqual((await leaseNames()).sort(), [
      `external-snapshotter-leader-${driver.driver.replaceAll(".", "-")}`,
      "snapshot-controller-leader",
    ]);
    for (const name of dropped) await snapshots.untilGone(snapshots.ref(name), 90_000);
    for (const { metadata, spec } of (await fixtures.client.list("VolumeSnapshotContent")).objects)
      if (dropped.includes(spec.volumeSnapshotRef.name ?? ""))
        await snapshots.untilGone({ kind: "VolumeSnapshotContent", name: metadata.name }, 60_000);
    await assertOneEach(kept);
    await kill(pair);
    await dropLeases();
    pair = await startPair("ours");
    await removeAll(kept);
    await kill(pair);
  });

  test("two replicas, the leaders killed in a burst: every snapshot becomes ready once, with one at the driver", async () => {
    const stop = new AbortController();
    const relapsed = watchForRelapses(stop.signal);
    await dropLeases();
    const leaders = await startPair("ours");
    await until({ what: "both leases are held" }, async () => ((await leases()).length === 2 ? true : undefined));
    const before = await leases();
    const standbys = await startPair("ours");
    const names = Array.from({ length: 100 }, (_, index) => `burst-${index}`);
    await takeAll(names);
    await untilReadyCount(20);
    await kill(leaders);
    assert.ok((await ready()) < 100, "too late: the burst was over");
    await untilReadyCount(names.length);
    await assertOneEach(names);
    await removeAll(names);
    stop.abort();
    assert.deepEqual(await relapsed, []);
    const changed = (await leases()).map(({ metadata, spec }, index) => {
      const isAnother = spec?.holderIdentity !== before[index]?.spec?.holderIdentity;
      return `${metadata.name}: ${isAnother ? "another" : "the same"} holder, ${spec?.leaseTransitions} takeovers`;
    });
    const once = before.map(({ metadata }) => `${metadata.name}: another holder, 1 takeovers`);
    assert.deepEqual(changed, once, "the standby did not wait for its turn, or never got it");
    await kill(standbys);
  });

  const leases = async () =>
    (await fixtures.client.list("Lease")).objects.filter(
      ({ metadata }) =>
        Object.values(leasePlaces).includes(metadata.namespace as never) && /leader/.test(metadata.name),
    );
  const leaseNames = async () => (await leases()).map(({ metadata }) => metadata.name);

  /** Leases of killed pairs are removed, so that no process waits for them to expire. */
  async function dropLeases(): Promise<void> {
    for (const { metadata } of await leases())
      await fixtures.client.delete({ kind: "Lease", namespace: metadata.namespace ?? "", name: metadata.name });
  }

  /** Snapshots that were ready and then said they were not. */
  async function watchForRelapses(signal: AbortSignal): Promise<readonly string[]> {
    const kind = "VolumeSnapshot" satisfies KindName;
    const { resourceVersion } = await fixtures.client.list(kind, { namespace });
    const wasReady = new Set<string>();
    const relapsed: string[] = [];
    try {
      await fixtures.client.watch(kind, { namespace, resourceVersion, signal }, (event) => {
        if (event.kind !== "put") return;
        const { metadata, status } = event.object;
        if (status?.readyToUse === true) wasReady.add(metadata.uid);
        else if (wasReady.has(metadata.uid)) relapsed.push(metadata.name);
      });
    } catch (reason) {
      if (!signal.aborted) throw reason;
    }
    return relapsed;
  }
});
