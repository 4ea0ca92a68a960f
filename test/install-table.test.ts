import { type TestContext, test } from "node:test";
import type { CrdDraft } from "../src/api/crds/index.ts";
import { realWorld, type World } from "../src/base/world.ts";
import { startHarness } from "./command-harness.ts";
import { crdStates, migrateRows, playCrdState, playMigrateRow } from "./install-crds.ts";
import { whilePodsAreReady } from "./install-pods.ts";
import { olderClusterRow } from "./install-policies.ts";
import type { InstallSession } from "./install-states.ts";
import { installRows, playInstallRow } from "./install-table.ts";

/** A second passes in ten milliseconds: --apply waits for pods. */
const hurried: World = {
  ...realWorld,
  elapsed: () => realWorld.elapsed() * 100,
  sleep: (ms, signal) => realWorld.sleep(ms / 100, signal),
};

async function session(t: TestContext, definitions?: readonly CrdDraft[]): Promise<InstallSession> {
  const { client, start } = await startHarness(t, { world: hurried, ...(definitions && { definitions }) });
  return {
    client,
    snapkeep: async (command, ...argv) => {
      const patience = command === "install" && !argv.some((word) => word.startsWith("--timeout"));
      const { code, said } = start(command, ...argv, ...(patience ? ["--timeout=2000s"] : []));
      return { code: await code, text: said() };
    },
    whilePodsAreReady: (prefix, work) => whilePodsAreReady(client, prefix, work),
  };
}

for (const row of [...installRows, olderClusterRow])
  test(`${row.command}: the cluster ${row.cluster}`, async (t) => playInstallRow(row, await session(t), "row"));

for (const state of crdStates)
  test(`install leaves snapshot CRDs ${state.cluster} to ${state.next}`, async (t) =>
    playCrdState(state, await session(t, state.crds[0]), "crds"));

for (const row of migrateRows)
  test(`migrate ${row.command}: the snapshot CRDs are ${row.state.cluster}`, async (t) =>
    playMigrateRow(row, await session(t, row.state.crds[0])));
