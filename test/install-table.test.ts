import { type TestContext, test } from "node:test";
import type { CrdDraft } from "../src/api/crds/index.ts";
import { realWorld, type World } from "../src/base/world.ts";
import { startHarness } from "./command-harness.ts";
import { crdStates, installRows, playCrdState, playInstallRow } from "./install-table.ts";

/** A second passes in ten milliseconds: --apply waits for pods that do not run. */
const hurried: World = {
  ...realWorld,
  elapsed: () => realWorld.elapsed() * 100,
  sleep: (ms, signal) => realWorld.sleep(ms / 100, signal),
};

const session = async (t: TestContext, definitions?: readonly CrdDraft[]) => {
  const { client, start } = await startHarness(t, { world: hurried, ...(definitions && { definitions }) });
  return {
    client,
    snapkeep: async (command: string, ...argv: readonly string[]) => {
      const { code, said } = start(command, ...argv, ...(command === "install" ? ["--timeout=5s"] : []));
      return { code: await code, text: said() };
    },
  };
};

for (const row of installRows)
  test(`install ${row.command}: the cluster ${row.cluster}`, async (t) => playInstallRow(row, await session(t), "row"));

for (const state of crdStates)
  test(`install leaves snapshot CRDs ${state.cluster} to ${state.next}`, async (t) =>
    playCrdState(state, await session(t, state.crds[0]), "crds"));
