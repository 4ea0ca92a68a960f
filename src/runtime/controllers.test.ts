/** Turns of controllers that share a process: what an old turn has left behind can do nothing, and one that does not end, ends the process. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { startHarness } from "../../test/command-harness.ts";
import { eventually } from "../../test/csi-sockets.ts";
import { draftOf } from "../api/builders.ts";
import { limits } from "../base/limits.ts";
import { realWorld, type World } from "../base/world.ts";
import { componentFlags } from "./common-flags.ts";
import type { ComponentContext, ComponentSpec } from "./component.ts";
import { runControllers } from "./controllers.ts";
import { parseFlags } from "./flags.ts";

const whenAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve());
  });

const never = new Promise<never>(() => undefined);

/** The time for work to end passes at once; all other time as it does. */
const impatient: World = {
  ...realWorld,
  sleep: (ms, signal) => realWorld.sleep(ms === limits.controllerDrainMsMax ? 20 : ms, signal),
};

async function startControllers(
  t: TestContext,
  starts: Readonly<Record<string, ComponentSpec["start"]>>,
  world = realWorld,
) {
  const { client, kubeconfig } = await startHarness(t);
  const stop = new AbortController();
  t.after(() => stop.abort());
  const { options } = parseFlags(componentFlags, [
    `--kubeconfig=${kubeconfig}`,
    "--leader-election",
    "--leader-election-namespace=default",
    "--leader-election-retry-period=50ms",
  ]);
  let said = "";
  const error = {
    write: (line: string): void => {
      said += line;
    },
  };
  const rows = Object.entries(starts).map(([name, start]) => ({
    name,
    options,
    spec: { name: `csi-${name}`, kinds: ["ConfigMap"] as const, start },
  }));
  const input = { options, environment: {}, signal: stop.signal, world, out: error, error, version: "1" };
  const code = runControllers(input, "together", rows);
  code.catch(() => undefined);
  const setHolder = async (name: string, holderIdentity: string): Promise<void> => {
    const renewTime = new Date().toISOString().replace("Z", "000Z");
    const ref = { kind: "Lease", namespace: "default", name } as const;
    await client.patch(ref, {
      type: "merge",
      body: { spec: { holderIdentity, renewTime, leaseDurationSeconds: holderIdentity === "" ? 1 : 600 } },
    });
  };
  return { code, said: () => said, setHolder, stop: () => stop.abort() };
}

const leaseOf = (name: string) => ({ leaseName: `${name}-lease` });
const write = ({ api }: ComponentContext, name: string) =>
  api.create("ConfigMap", draftOf("ConfigMap", { namespace: "default", name }, {}));

test("code of a turn that is over sends nothing, also when the next turn leads", async (t) => {
  const turns: ComponentContext[] = [];
  const start = async (context: ComponentContext) => {
    turns.push(context);
    return { ...leaseOf("one"), run: whenAborted };
  };
  const { setHolder, code, stop } = await startControllers(t, { one: start });
  await eventually("it leads", () => turns[0]?.leading() === true);
  await setHolder("one-lease", "another");
  await eventually("the turn is over", () => turns.length === 2);
  await setHolder("one-lease", "");
  await eventually("the next turn leads", () => turns[1]?.leading() === true);
  const [before, now] = turns;
  assert.ok(before !== undefined && now !== undefined);
  assert.equal(before.leading(), false);
  await assert.rejects(write(before, "late"), /no longer holds the lease/);
  assert.equal(before.signal.aborted, true);
  await write(now, "in-time");
  stop();
  assert.equal(await code, 0);
});

test("work that does not end when its lease is lost ends the process, with the reason", async (t) => {
  let leads = 0;
  const stuck = async () => ({
    ...leaseOf("one"),
    run: () => {
      leads += 1;
      return never;
    },
  });
  const { setHolder, code } = await startControllers(t, { one: stuck }, impatient);
  await eventually("it works", () => leads === 1);
  await setHolder("one-lease", "another");
  await assert.rejects(code, { message: /^the one lost its lease and its work did not end within 30 s; ending, / });
});

test("a controller that fails starts again, while the other keeps its turn", async (t) => {
  const starts = { one: 0, two: 0 };
  const failing = async () => {
    starts.one += 1;
    if (starts.one === 1) throw new Error("not yet");
    return { ...leaseOf("one"), watch: starts.one === 2 ? async () => undefined : whenAborted, run: whenAborted };
  };
  const steady = async () => {
    starts.two += 1;
    return { ...leaseOf("two"), run: whenAborted };
  };
  const { said, code, stop } = await startControllers(t, { one: failing, two: steady });
  await eventually("it has failed twice, and works", () => starts.one === 3);
  assert.match(said(), /controller ended, and starts again .*not yet/);
  assert.match(said(), /controller ended, and starts again .*the watch ended by itself/);
  assert.equal(starts.two, 1);
  stop();
  assert.equal(await code, 0);
});

test("work that ends by itself is no reason to start it again at once, and lets go of its lease", async (t) => {
  let runs = 0;
  const short = async () => ({
    ...leaseOf("one"),
    run: async () => {
      runs += 1;
    },
  });
  const { said, code, stop } = await startControllers(t, { one: short });
  await eventually("it has ended", () => said().includes("the work ended by itself"));
  assert.equal(runs, 1);
  stop();
  assert.equal(await code, 0);
});
