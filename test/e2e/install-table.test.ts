/** `snapkeep install` typed at clusters in every state, on a real API server. */
import { after, before, describe, test } from "node:test";
import { snapshotCrds } from "../../src/api/crds/index.ts";
import { realWorld, type World } from "../../src/base/world.ts";
import { commands } from "../../src/cli/commands.ts";
import { runCommandLine } from "../../src/cli/run.ts";
import { crdStates, type InstallSession, installRows, playCrdState, playInstallRow } from "../install-table.ts";
import { type Connection, connect } from "./harness/client.ts";
import { type MigrationGround, sharedMigrationGround } from "./harness/migrations.ts";

/** --apply waits for pods that do not run here: a second of that passes in ten milliseconds. */
const hurried: World = {
  ...realWorld,
  elapsed: () => realWorld.elapsed() * 100,
  sleep: (ms, signal) => realWorld.sleep(ms / 100, signal),
};

function sessionOn(kubeconfig: string, { client }: Connection): InstallSession {
  const install: InstallSession["install"] = async (...argv) => {
    let text = "";
    const write = (more: string): void => {
      text += more;
    };
    const code = await runCommandLine(commands, ["install", ...argv, `--kubeconfig=${kubeconfig}`, "--timeout=100s"], {
      environment: {},
      signal: new AbortController().signal,
      world: hurried,
      out: { write },
      error: { write },
      version: "1.2.3",
    });
    return { code, text };
  };
  return { client, install };
}

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

  for (const [index, [state, crds, next]] of crdStates.entries())
    test(`install leaves snapshot CRDs ${state} to ${next}`, async () => {
      await ground.install(crds);
      await playCrdState(next, session, `install-crds-${index}`);
    });

  describe("with CRDs of phase 3", () => {
    before(() => ground.install(snapshotCrds(3)));
    for (const [index, row] of installRows.entries())
      test(`install ${row.command}: the cluster ${row.cluster}`, () =>
        playInstallRow(row, session, `install-${index}`));
  });
});
