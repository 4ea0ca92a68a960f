/** Snapshots are taken, restored from and deleted while the CRDs move through all phases and back: nothing is lost, nothing stalls. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { draftOf } from "../../src/api/builders.ts";
import { snapshotCrds } from "../../src/api/crds/index.ts";
import { type Connection, connect } from "./harness/client.ts";
import { aBoundClaim, csiClientTo, type Fixtures, startComponent } from "./harness/components.ts";
import { type DirectoryDriverProcess, startDirectoryDriver } from "./harness/directory-driver.ts";
import type { Daemon } from "./harness/instance.ts";
import { type MigrationGround, sharedMigrationGround } from "./harness/migrations.ts";
import { leftovers, snapshotsOf } from "./harness/snapshots.ts";
import { tool } from "./harness/tools.ts";
import { until } from "./harness/until.ts";
import { startUpstream, unthrottled } from "./harness/upstream.ts";

const main = resolve(import.meta.dirname, "../../src/main.ts");
const v1beta1Client = await tool("v1beta1-client");
const namespace = "default";
const claims = ["a", "b", "c", "d"];
/** A snapshot is not ready at once: the sidecar asks for it again after this time. */
const retries = ["--retry-interval-start=200ms", "--retry-interval-max=2s"];

describe("snapshots in flight through all phases", () => {
  const startGround = sharedMigrationGround();
  let ground: MigrationGround;
  let driver: DirectoryDriverProcess;
  let fixtures: Fixtures;
  let connection: Connection;
  const components: Awaited<ReturnType<typeof keep>>[] = [];

  /** As a cluster does: what was killed is started again. What ends by itself fails the test. */
  async function keep(component: "snapshot-controller" | "csi-snapshotter", ...flags: readonly string[]) {
    const start = (): Promise<Daemon> => startComponent(ground.plane, component, [...retries, ...flags]);
    let daemon = await start();
    return {
      restart: async () => {
        await daemon.stop("SIGKILL");
        daemon = await start();
      },
      assertRuns: () => assert.ok(daemon.running(), `${component} ended: ${daemon.lastWords()}`),
      end: () => daemon.stop(),
    };
  }

  before(async () => {
    ground = await startGround();
    connection = await connect(ground.plane.kubeconfig);
    await ground.install(snapshotCrds(1));
    // Not ready at once: there is always something in flight.
    driver = await startDirectoryDriver(ground.plane.instance, { flags: ["--snapshot-delay=1s"] });
    fixtures = {
      client: connection.client,
      csi: csiClientTo(driver.socket),
      driver: driver.driver,
      namespace,
    };
    const policy = { driver: driver.driver, deletionPolicy: "Delete" as const };
    await fixtures.client.create("VolumeSnapshotClass", draftOf("VolumeSnapshotClass", { name: "delete" }, policy));
    for (const claim of claims) await aBoundClaim(fixtures, claim);
    components.push(await keep("snapshot-controller"));
    components.push(await keep("csi-snapshotter", `--csi-address=${driver.socket}`));
  });
  after(() => {
    for (const component of components) void component.end();
    fixtures?.csi.close();
    connection?.close();
    ground?.stop();
  });

  test("a client that knows only v1beta1 works in phase 1, and in phase 2 with --serve-v1beta1 beside one of v1", async () => {
    const snapshots = snapshotsOf(fixtures);
    const oldClient = (name: string) =>
      promisify(execFile)(v1beta1Client, [ground.plane.kubeconfig, namespace, name, "a", "delete"]);
    assert.equal((await oldClient("old-in-1")).stdout, "ready, one of 1\ngone\n");
    await ground.migrated("--to-phase=2", "--serve-v1beta1");
    await snapshots.take("new-in-2", "b", "delete");
    assert.equal((await oldClient("old-in-2")).stdout, "ready, one of 2\ngone\n");
    await snapshots.untilReady("new-in-2");
    await snapshots.remove("new-in-2");
    await ground.migrated("--to-phase=2");
    await assert.rejects(oldClient("too-old"), /could not find the requested resource/);
    await ground.migrated("--rollback");
    for (const component of components) component.assertRuns();
  });

  test("20 snapshots become ready and are deleted meanwhile, also when migrate and the components are killed", async () => {
    const snapshots = snapshotsOf(fixtures);
    const names = Array.from({ length: 20 }, (_, index) => `in-flight-${index}`);
    // With the phase, because a move is repeated: the killed run may have been quicker than its end.
    const moves = [
      ["--to-phase=2"],
      ["--to-phase=3"],
      ["--rollback", "--to-phase=2"],
      ["--rollback", "--to-phase=1"],
      ["--to-phase=3"],
    ];
    const perMove = Math.ceil(names.length / moves.length);
    for (const [index, move] of moves.entries()) {
      const batch = names.slice(index * perMove, (index + 1) * perMove);
      for (const [at, name] of batch.entries()) await snapshots.take(name, claims[at % claims.length] ?? "", "delete");
      await killedOnce(...move);
      // One of the two runs throughout, the other is killed while the CRDs are in two phases.
      await components[index % 2]?.restart();
      await ground.migrated(...move);
      for (const component of components) component.assertRuns();
      // Those of the move before are deleted in the next phase.
      for (const name of names.slice(Math.max(0, (index - 1) * perMove), index * perMove))
        await fixtures.client.delete(snapshots.ref(name));
    }
    for (const name of names.slice(-perMove)) {
      await snapshots.untilReady(name, 90_000);
      await fixtures.client.delete(snapshots.ref(name));
    }
    for (const name of names) await snapshots.untilGone(snapshots.ref(name), 90_000);
    for (const claim of claims) await snapshots.untilUnprotected(claim);
    await until({ what: "nothing is left" }, async () => ((await leftovers(fixtures)).length === 0 ? true : undefined));
  });

  /** A process of its own, killed when it has begun its first step, or soon after: a step back to phase 1 waits for nothing. */
  async function killedOnce(...move: readonly string[]): Promise<void> {
    const { plane } = ground;
    const daemon = plane.instance.start("migrate", process.execPath, [
      main,
      "migrate",
      `--kubeconfig=${plane.kubeconfig}`,
      "--settle-duration=1m",
      ...move,
    ]);
    await until({ what: "the first step has begun", everyMs: 5 }, () =>
      /^1\/\d+ /m.test(daemon.lastWords()) ? true : undefined,
    );
    await daemon.stop("SIGKILL");
  }

  test("upstream's components of 8.6.0 take and delete snapshots in phases 2 and 3", async () => {
    const snapshots = snapshotsOf(fixtures);
    for (const component of components) await component.end();
    for (const [move, name] of [
      ["--rollback", "in-phase-2"],
      ["--to-phase=3", "in-phase-3"],
    ] as const) {
      await ground.migrated(move);
      // They are started once, and see the second move as a running pair.
      if (move === "--rollback") startUpstreamPair();
      await snapshots.take(name, "a", "delete");
      await snapshots.untilReady(name, 90_000);
      await snapshots.remove(name);
    }
    await until({ what: "nothing is left" }, async () => ((await leftovers(fixtures)).length === 0 ? true : undefined));
  });

  function startUpstreamPair(): void {
    const flags = [...unthrottled, ...retries];
    startUpstream(ground.plane, "snapshot-controller", flags);
    startUpstream(ground.plane, "csi-snapshotter", [...flags, `--csi-address=${driver.socket}`]);
  }
});
