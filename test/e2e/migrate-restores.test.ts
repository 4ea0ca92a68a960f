/**
 * Restores while the CRDs move through all phases and back. The components are started once, in phase 3, and must follow: none of
 * them ends, and none waits for its next look at discovery.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { snapshotCrds } from "../../src/api/crds/index.ts";
import { connect } from "./harness/client.ts";
import { installSnapshotCrds } from "./harness/components.ts";
import {
  type CrossNamespaces,
  crossNamespaces,
  firstWords,
  grantSpec,
  owner,
  shared,
  snapshotNamed,
  switches,
} from "./harness/cross-namespace.ts";
import type { Daemon } from "./harness/instance.ts";
import { type MigrationGround, sharedMigrationGround } from "./harness/migrations.ts";

/** Each phase is reached from above and from below. */
const moves = [
  { word: "--rollback", phase: 2, stored: "v1beta1" },
  { word: "--rollback", phase: 1, stored: "v1beta1" },
  { word: "--to-phase=2", phase: 2, stored: "v1beta1" },
  { word: "--rollback", phase: 1, stored: "v1beta1", restarts: true },
  { word: "--to-phase=3", phase: 3, stored: "v1" },
] as const;

describe("restores through all phases", () => {
  const startGround = sharedMigrationGround();
  let ground: MigrationGround;
  let stage: CrossNamespaces;
  let provisioner: Daemon;
  before(async () => {
    ground = await startGround();
    const { plane } = ground;
    const connection = await connect(plane.kubeconfig);
    await ground.install(snapshotCrds(3));
    await installSnapshotCrds(connection.client);
    stage = await crossNamespaces({ ...plane, plane, connection, stop: connection.close }, "directory-driver");
    provisioner = await stage.startProvisioner(...switches);
    for (const way of ["ref", "link"] as const) await stage.grant(`lend-${way}`, grantSpec(shared, way));
  });
  after(() => {
    stage?.stop();
    ground?.stop();
  });

  const inOwn = { namespace: owner };

  /** In the claim's own namespace, and from another one in both ways. */
  async function assertRestores(id: string): Promise<void> {
    const names = { own: `own-${id}`, ref: `ref-${id}`, link: `link-${id}` };
    await stage.claim(names.own, { dataSource: snapshotNamed(shared) }, inOwn);
    await stage.restore(names.ref, "ref", owner);
    await stage.restore(names.link, "link", owner);
    assert.equal(stage.bytesOf(await stage.untilBound(names.own, owner)), firstWords, id);
    for (const name of [names.ref, names.link])
      assert.equal(stage.bytesOf(await stage.untilBound(name)), firstWords, `${name} in ${id}`);
    await Promise.all([stage.remove(names.own, owner), stage.remove(names.ref), stage.remove(names.link)]);
  }

  /** The claim comes first: it is triggered by the snapshot, which only a watch of the version that is served tells it. */
  async function assertWaitingIsTriggered(id: string): Promise<void> {
    const name = `taken-in-${id}`;
    await stage.claim(`early-${id}`, { dataSource: snapshotNamed(name) }, inOwn);
    await stage.suite.take(name, "data", stage.suite.classes.delete);
    await stage.suite.untilReady(name);
    await stage.untilBound(`early-${id}`, owner);
    await stage.remove(`early-${id}`, owner);
  }

  /** If the volume mode of its source had been pruned, the snapshot could be restored in another one. */
  async function assertNoConversion(id: string, snapshot: string): Promise<void> {
    const { spec } = await stage.suite.contentOf(snapshot);
    assert.equal(spec.sourceVolumeMode, "Filesystem", `${snapshot} in ${id}`);
    const name = `block-${id}-of-${snapshot}`;
    await stage.claim(name, { dataSource: snapshotNamed(snapshot), volumeMode: "Block" }, inOwn);
    await stage.untilSaid(name, "SNAP-309", owner);
    assert.ok(await stage.isPending(name, owner), name);
    await stage.remove(name, owner);
  }

  const taken: string[] = [shared];
  async function assertAll(id: string): Promise<void> {
    const newest = `taken-in-${id}`;
    await Promise.all([
      assertRestores(id),
      assertWaitingIsTriggered(id).then(() => assertNoConversion(id, newest)),
      // The snapshots of every phase so far.
      ...taken.map((snapshot) => assertNoConversion(id, snapshot)),
    ]);
    taken.push(newest);
  }

  test("restores, within a namespace and across, are served in every phase and after every rollback; a conversion of the volume mode is refused in all", async () => {
    await assertAll("start");
    for (const [index, { word, phase, stored, ...more }] of moves.entries()) {
      await ground.migrated(word);
      assert.equal(await ground.phase(), phase);
      assert.deepEqual(await ground.storedVersions(), [stored]);
      if ("restarts" in more) {
        await provisioner.stop("SIGTERM");
        provisioner = await stage.startProvisioner(...switches);
      }
      await assertAll(`${index}-phase-${phase}`);
      for (const daemon of [provisioner, stage.suite.sidecar]) assert.ok(daemon.running(), daemon.lastWords());
    }
  });
});
