/** Snapshots are taken, restored from and deleted while the CRDs move through all phases and back: nothing is lost, nothing stalls. */
import { resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import { draftOf } from "../../src/api/builders.ts";
import { snapshotCrds } from "../../src/api/crds/index.ts";
import { isFault } from "../../src/base/fault.ts";
import type { Client } from "./harness/client.ts";
import { aBoundClaim, csiClientTo, type Fixtures, startComponent } from "./harness/components.ts";
import { type DirectoryDriverProcess, startDirectoryDriver } from "./harness/directory-driver.ts";
import type { Daemon } from "./harness/instance.ts";
import { type MigrationGround, migrationGround } from "./harness/migrations.ts";
import { leftovers, snapshotsOf } from "./harness/snapshots.ts";
import { until } from "./harness/until.ts";
import { startUpstream, unthrottled } from "./harness/upstream.ts";

const main = resolve(import.meta.dirname, "../../src/main.ts");
const namespace = "default";
const claims = ["a", "b", "c", "d"];

describe("snapshots in flight through all phases", () => {
  let ground: MigrationGround;
  let driver: DirectoryDriverProcess;
  let fixtures: Fixtures;
  const components: ReturnType<typeof keep>[] = [];

  /** As a cluster does: what ends is started again, until it is told to end. */
  function keep(component: "snapshot-controller" | "csi-snapshotter", ...flags: readonly string[]) {
    let isWanted = true;
    let daemon: Daemon;
    const start = (): void => {
      daemon = startComponent(ground.plane, component, ["--retry-interval-max=2s", ...flags]);
      daemon.ended.then(() => isWanted && start());
    };
    start();
    return {
      end: () => {
        isWanted = false;
        return daemon.stop();
      },
    };
  }

  before(async () => {
    ground = await migrationGround();
    await ground.install(snapshotCrds(1));
    // Not ready at once: there is always something in flight.
    driver = await startDirectoryDriver(ground.plane.instance, { flags: ["--snapshot-delay=1s"] });
    fixtures = {
      client: anyVersion(ground),
      csi: csiClientTo(driver.socket),
      driver: driver.driver,
      namespace,
    };
    const policy = { driver: driver.driver, deletionPolicy: "Delete" as const };
    await fixtures.client.create("VolumeSnapshotClass", draftOf("VolumeSnapshotClass", { name: "delete" }, policy));
    for (const claim of claims) await aBoundClaim(fixtures, claim);
    components.push(keep("snapshot-controller"), keep("csi-snapshotter", `--csi-address=${driver.socket}`));
  });
  after(() => {
    for (const component of components) void component.end();
    fixtures?.csi.close();
    ground?.stop();
  });

  test("20 snapshots become ready and are deleted meanwhile, also when migrate is killed", async () => {
    const snapshots = snapshotsOf(fixtures);
    const names = Array.from({ length: 20 }, (_, index) => `in-flight-${index}`);
    const moves = ["--to-phase=2", "--to-phase=3", "--rollback", "--rollback", "--to-phase=3"];
    const perMove = Math.ceil(names.length / moves.length);
    for (const [index, move] of moves.entries()) {
      const batch = names.slice(index * perMove, (index + 1) * perMove);
      for (const [at, name] of batch.entries()) await snapshots.take(name, claims[at % claims.length] ?? "", "delete");
      await killedOnce(move);
      await ground.migrated(move);
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

  /** A process of its own, killed when it has begun its first step. */
  async function killedOnce(move: string): Promise<void> {
    const { plane } = ground;
    const daemon = plane.instance.start("migrate", process.execPath, [
      main,
      "migrate",
      `--kubeconfig=${plane.kubeconfig}`,
      "--settle-duration=1m",
      move,
    ]);
    await until({ what: "the first step has begun" }, () => (/^1\/\d+ /m.test(daemon.lastWords()) ? true : undefined));
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
    startUpstream(ground.plane, "snapshot-controller", unthrottled);
    startUpstream(ground.plane, "csi-snapshotter", [...unthrottled, `--csi-address=${driver.socket}`]);
  }
});

/** Whatever version is served now, as kubectl finds it. */
function anyVersion({ clients }: MigrationGround): Client {
  const { v1, v1beta1 } = clients;
  const either =
    <A extends readonly unknown[], R>(one: (...args: A) => Promise<R>, other: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      for (let attempt = 0; ; attempt += 1) {
        try {
          return await (attempt % 2 === 0 ? one : other)(...args);
        } catch (reason) {
          // An object that is not found is a Status; a version that is not served is a plain page.
          const isUnserved =
            isFault(reason, "UnknownOutcome") || (isFault(reason, "NotFound") && !String(reason).includes('"'));
          if (!isUnserved || attempt === 9) throw reason;
        }
      }
    };
  return {
    ...v1,
    get: either(v1.get, v1beta1.get),
    list: either(v1.list, v1beta1.list),
    create: either(v1.create, v1beta1.create),
    patch: either(v1.patch, v1beta1.patch),
    delete: either(v1.delete, v1beta1.delete),
  } as Client;
}
