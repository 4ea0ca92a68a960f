/**
 * csi-snapshotter and csi-provisioner in one process, on the real control plane and with the shipped role: the life of volumes and
 * snapshots, a swap with upstream's separate pair and back, kills, and what one controller lacks while the other goes on.
 */
import assert from "node:assert/strict";
import { after, afterEach, before, describe, test } from "node:test";
import { leaseNameFrom } from "../../src/api/names.ts";
import { aStorageClass, type Claims, claimsOf, cloning, handleOf, restoring } from "./harness/claims.ts";
import { type Connection, connect } from "./harness/client.ts";
import {
  aClassFor,
  csiClientTo,
  type Fixtures,
  installSnapshotCrds,
  type StartedComponent,
  startComponent,
} from "./harness/components.ts";
import { type ControlPlane, startControlPlane } from "./harness/control-plane.ts";
import { type DirectoryDriverProcess, startDirectoryDriver } from "./harness/directory-driver.ts";
import type { Daemon } from "./harness/instance.ts";
import { isReady, shipped } from "./harness/shipped.ts";
import { leftovers, type Snapshots, snapshotsOf } from "./harness/snapshots.ts";
import { until } from "./harness/until.ts";
import { startUpstream, unthrottled } from "./harness/upstream.ts";

const namespace = "default";
const leaseNamespace = shipped.driverNamespace;
const election = [
  "--leader-election=true",
  `--leader-election-namespace=${leaseNamespace}`,
  "--leader-election-lease-duration=15s",
  "--leader-election-renew-deadline=12s",
  "--leader-election-retry-period=1s",
];

interface Role {
  readonly metadata: { readonly name: string };
  readonly rules: readonly { readonly resources?: readonly string[] }[];
}

describe("both sidecars in one process", () => {
  let plane: ControlPlane;
  let connection: Connection;
  let driver: DirectoryDriverProcess;
  let fixtures: Fixtures;
  let snapshots: Snapshots;
  let claims: Claims;
  let running: readonly Daemon[] = [];

  before(async () => {
    plane = await startControlPlane();
    connection = await connect(plane.kubeconfig);
    const { client } = connection;
    await installSnapshotCrds(client);
    await startComponent(plane, "snapshot-controller");
    // Not ready at once: there is always something in flight.
    driver = await startDirectoryDriver(plane.instance, { flags: ["--snapshot-delay=1500ms"] });
    fixtures = { client, csi: csiClientTo(driver.socket), driver: driver.driver, namespace };
    snapshots = snapshotsOf(fixtures);
    claims = claimsOf(client, "plain");
    await aStorageClass(client, "plain", driver.driver);
    await aClassFor(fixtures, "delete", "Delete");
    await plane.request("POST", "/api/v1/namespaces", { metadata: { name: leaseNamespace } });
  });
  after(() => {
    fixtures?.csi.close();
    connection?.close();
    plane?.stop();
  });
  afterEach(async () => {
    await kill();
    for (const name of leaseNames) await connection.client.delete(leaseRef(name)).catch(() => undefined);
  });

  const snapshotterLease = (): string => leaseNameFrom(`external-snapshotter-leader-${driver.driver}`);
  const provisionerLease = (): string => leaseNameFrom(driver.driver);
  const leaseNames: string[] = [];
  const leaseRef = (name: string) => ({ kind: "Lease", namespace: leaseNamespace, name }) as const;
  const holderOf = async (name: string): Promise<string> => {
    const lease = await connection.client.get(leaseRef(name)).catch(() => undefined);
    return lease?.spec?.holderIdentity ?? "";
  };

  const startJoined = async (...flags: readonly string[]): Promise<StartedComponent> => {
    const joined = await startComponent(plane, "csi-sidecars", [
      `--csi-address=${driver.socket}`,
      ...election,
      ...flags,
    ]);
    running = [...running, joined];
    leaseNames.splice(0, leaseNames.length, snapshotterLease(), provisionerLease());
    return joined;
  };
  const startSeparate = (): void => {
    const flags = [...unthrottled, `--csi-address=${driver.socket}`, ...election];
    running = [
      ...running,
      startUpstream(plane, "csi-snapshotter", [...flags, "--resync-period=10s"]),
      startUpstream(plane, "csi-provisioner", flags),
    ];
  };
  const kill = async (): Promise<void> => {
    await Promise.all(running.map((daemon) => daemon.stop("SIGKILL")));
    running = [];
  };
  /** Leases of killed processes are removed, so that no process waits for them to expire. */
  const dropLeases = async (): Promise<void> => {
    for (const name of [snapshotterLease(), provisionerLease()])
      await connection.client.delete(leaseRef(name)).catch(() => undefined);
  };
  const boundCount = async (): Promise<number> =>
    (await connection.client.list("PersistentVolumeClaim", { namespace })).objects.filter(
      ({ status }) => status?.phase === "Bound",
    ).length;
  const readyCount = async (): Promise<number> =>
    (await connection.client.list("VolumeSnapshot", { namespace })).objects.filter(
      ({ status }) => status?.readyToUse === true,
    ).length;
  const contentCount = async (): Promise<number> =>
    (await connection.client.list("VolumeSnapshotContent")).objects.length;
  const untilCounted = (what: string, count: () => Promise<number>, wanted: number) =>
    until({ what: `${wanted} ${what}`, msMax: 90_000, everyMs: 100 }, async () =>
      (await count()) >= wanted ? true : undefined,
    );
  /** Each volume and each snapshot is somebody's, and nobody's is missing. */
  async function assertLedger(): Promise<void> {
    const { objects: volumes } = await connection.client.list("PersistentVolume");
    const { objects: contents } = await connection.client.list("VolumeSnapshotContent");
    const handles = contents.map(({ status }) => status?.snapshotHandle ?? "none");
    assert.deepEqual(handles.toSorted(), [...(await snapshots.handles())].sort());
    assert.equal(new Set(handles).size, handles.length);
    assert.equal(new Set(volumes.map(handleOf)).size, volumes.length);
  }
  async function removeAll(): Promise<void> {
    const { objects: taken } = await connection.client.list("VolumeSnapshot", { namespace });
    await Promise.all(taken.map(({ metadata }) => snapshots.remove(metadata.name)));
    const { objects: left } = await connection.client.list("PersistentVolumeClaim", { namespace });
    await Promise.all(left.map(({ metadata }) => claims.remove(metadata.name)));
    await until({ what: "nothing is left", msMax: 60_000 }, async () =>
      (await leftovers(fixtures)).length === 0 ? true : undefined,
    );
    assert.deepEqual((await connection.client.list("PersistentVolume")).objects, []);
  }

  test("a claim gets its volume, a snapshot of it is restored and cloned, and all of it is deleted", async () => {
    const { statusUrl, stop } = await startJoined();
    await claims.create("source");
    await claims.untilBound("source");
    await snapshots.take("monday", "source", "delete");
    await snapshots.untilReady("monday");
    await claims.create("restored", restoring("monday"));
    await claims.create("clone", cloning("source"));
    for (const name of ["restored", "clone"]) await claims.untilBound(name);
    assert.ok(await isReady(statusUrl));
    const metrics = await (await fetch(`${statusUrl}/metrics`)).text();
    for (const name of leaseNames) assert.ok(metrics.includes(`leader_election_master_status{name="${name}"} 1`), name);
    await assertLedger();
    await removeAll();
    await stop("SIGTERM");
    for (const name of leaseNames) assert.equal(await holderOf(name), "", `${name} is released`);
  });

  test("a swap from upstream's separate sidecars and back, killed with work in flight, loses and leaks nothing", async () => {
    startSeparate();
    await claims.create("source");
    await claims.untilBound("source");
    await snapshots.take("base", "source", "delete");
    await snapshots.untilReady("base", 60_000);
    const numbered = (name: string): readonly string[] => Array.from({ length: 15 }, (_, index) => `${name}-${index}`);
    let [bound, ready] = [1, 1];
    for (const next of ["joined", "separate", "joined"] as const) {
      const round = `${next}-${bound}`;
      await Promise.all(numbered(round).map((name) => claims.create(name, restoring("base"))));
      await untilCounted("claims are bound", boundCount, bound + 1);
      await Promise.all(numbered(round).map((name) => snapshots.take(name, "source", "delete")));
      await untilCounted("contents are there", contentCount, ready + 1);
      assert.ok((await readyCount()) < ready + 15, "too late: no snapshot was in flight");
      await kill();
      await dropLeases();
      if (next === "joined") await startJoined();
      else startSeparate();
      [bound, ready] = [bound + 15, ready + 15];
      await untilCounted("claims are bound", boundCount, bound);
      await untilCounted("snapshots are ready", readyCount, ready);
      await assertLedger();
    }
    await removeAll();
  });

  test("one lease is lost, and the other controller goes on; the lease that is free again is taken again", async () => {
    const joined = await startJoined();
    await claims.create("source");
    await claims.untilBound("source");
    await until({ what: "both leases are held" }, async () =>
      (await holderOf(snapshotterLease())) === "" ? undefined : true,
    );
    const renewTime = new Date().toISOString().replace("Z", "000Z");
    const spec = { holderIdentity: "somebody-else", renewTime, leaseDurationSeconds: 600 };
    await connection.client.patch(leaseRef(snapshotterLease()), { type: "merge", body: { spec } });
    await until({ what: "the loss is noticed" }, () =>
      joined.lastWords().includes("lost the lease") ? true : undefined,
    );
    await snapshots.take("later", "source", "delete");
    await claims.create("meanwhile");
    await claims.untilBound("meanwhile");
    assert.equal((await snapshots.handles()).length, 0);
    assert.ok(joined.running());
    await connection.client.patch(leaseRef(snapshotterLease()), {
      type: "merge",
      body: { spec: { holderIdentity: "", leaseDurationSeconds: 1 } },
    });
    await snapshots.untilReady("later", 60_000);
    assert.ok(joined.running());
    await removeAll();
  });

  test("a right that the snapshotter lacks does not keep the provisioner from its work, and is used when it is granted", async () => {
    const first = await startJoined(); // The role is there from now on.
    await first.stop("SIGKILL");
    const { text } = await plane.request("GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles");
    const roles = (JSON.parse(text) as { readonly items: readonly Role[] }).items;
    const role = roles.find(({ metadata }) => metadata.name.includes("csi-sidecars-directory"));
    assert.ok(role !== undefined);
    const path = `/apis/rbac.authorization.k8s.io/v1/clusterroles/${role.metadata.name}`;
    const rules = role.rules.filter(({ resources }) => !resources?.includes("volumesnapshotclasses"));
    assert.equal(rules.length, role.rules.length - 1);
    const setRules = async (next: Role["rules"]): Promise<void> => {
      const { status } = await plane.request("PUT", path, {
        ...role,
        metadata: { name: role.metadata.name },
        rules: next,
      });
      assert.equal(status, 200);
    };
    await setRules(rules);
    for (const name of leaseNames) await connection.client.delete(leaseRef(name)).catch(() => undefined);
    const { statusUrl, running: isRunning } = await startJoined();
    await claims.create("source");
    await claims.untilBound("source");
    await snapshots.take("later", "source", "delete");
    const page = await until({ what: "the page of readiness names what is missing" }, async () => {
      const said = await (await fetch(`${statusUrl}/readyz`).catch(() => undefined))?.text();
      return said?.includes("snapshotter:") ? said : undefined;
    });
    assert.doesNotMatch(page, /provisioner:/);
    await setRules(role.rules);
    await snapshots.untilReady("later", 60_000);
    assert.ok(isRunning());
    await removeAll();
  });
});
