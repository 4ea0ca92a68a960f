/** `snapkeep install` typed at clusters in every state, on a real API server. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { snapshotCrds } from "../../src/api/crds/index.ts";
import { crdStates, migrateRows, playCrdState, playMigrateRow } from "../install-crds.ts";
import type { InstallSession } from "../install-states.ts";
import { installRows, playInstallRow } from "../install-table.ts";
import { type Connection, connect } from "./harness/client.ts";
import { guideCommands } from "./harness/guides.ts";
import { sessionOn } from "./harness/install-session.ts";
import { createKubectl } from "./harness/kubectl.ts";
import { type MigrationGround, sharedMigrationGround } from "./harness/migrations.ts";
import { until } from "./harness/until.ts";

describe("install on a real API server", () => {
  const groundFor = sharedMigrationGround();
  let ground: MigrationGround;
  let connection: Connection;
  let session: InstallSession;
  before(async () => {
    ground = await groundFor();
    connection = await connect(ground.plane.kubeconfig);
    session = sessionOn(ground.plane.kubeconfig, connection);
  });
  after(() => {
    connection.close();
    ground.stop();
  });

  for (const [index, state] of crdStates.entries())
    test(`install leaves snapshot CRDs ${state.cluster} to ${state.next}`, async () => {
      await ground.install(state.crds[0] ?? []);
      await playCrdState(state, session, `install-crds-${index}`);
    });

  for (const row of migrateRows)
    test(`migrate ${row.command}: the snapshot CRDs are ${row.state.cluster}`, async () => {
      await ground.install(row.state.crds[0] ?? []);
      await playMigrateRow(row, session);
    });

  test("the guide's command for CRDs creates them, and changes none that exist", async () => {
    const kubectl = createKubectl(ground.plane.kubeconfig);
    const create = guideCommands("install.md").find((commands) => commands.startsWith("kubectl create -k")) ?? "";
    const [line = ""] = create.split("\n");
    const run = () => kubectl(line.split(" ").slice(1));
    const all = async () => (await connection.client.list("CustomResourceDefinition")).objects;
    const stored = async () =>
      (await all())
        .filter(({ spec }) => spec?.group === "snapshot.storage.k8s.io")
        .map(({ metadata, spec }) => [metadata.name, spec]);
    await ground.install(snapshotCrds(1));
    const before = await stored();
    const again = await run();
    assert.equal(again.code, 1, again.stderr);
    assert.match(again.stderr, /"volumesnapshots\.snapshot\.storage\.k8s\.io" already exists/);
    assert.deepEqual(await stored(), before);
    await ground.install([]);
    for (const { metadata } of await all())
      await connection.client.delete({ kind: "CustomResourceDefinition", name: metadata.name });
    await until({ what: "no CRD is left" }, async () => ((await all()).length === 0 ? true : undefined));
    const first = await run();
    assert.equal(first.code, 0, first.stderr);
    assert.equal(await ground.phase(), 3);
  });

  describe("with CRDs of phase 3", () => {
    before(() => ground.install(snapshotCrds(3)));
    for (const [index, row] of installRows.entries())
      test(`${row.command}: the cluster ${row.cluster}`, () => playInstallRow(row, session, `install-${index}`));
  });
});
