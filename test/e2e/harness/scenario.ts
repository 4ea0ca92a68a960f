/**
 * The harness of the scenarios: one claim, a driver whose replies can be changed, and a proxy in front of each
 * of our components that gives the answers which a healthy server never gives.
 */
import assert from "node:assert/strict";
import type { Ref } from "../../../src/api/plan.ts";
import type { VolumeSnapshot, VolumeSnapshotContent } from "../../../src/api/types.ts";
import { Fault, isFault } from "../../../src/base/fault.ts";
import type { FaultProxy } from "../../fault-proxy.ts";
import { aBoundClaim, startComponent } from "./components.ts";
import { proxyTo } from "./fault-proxy.ts";
import type { Daemon } from "./instance.ts";
import { type OddDriver, startOddDriver } from "./odd-driver.ts";
import { freePort } from "./ports.ts";
import {
  type Combination,
  drivers,
  type SnapshotSuite,
  snapshotSuiteFor,
  type TestServer,
  testServers,
} from "./snapshot-suites.ts";
import { leftovers } from "./snapshots.ts";
import { until } from "./until.ts";

export const namespace = "default";
/** The claim that every scenario starts with. */
export const claimName = "data";
const bystanderName = "bystander";
export const contentRef = (name: string): Ref<"VolumeSnapshotContent"> => ({ kind: "VolumeSnapshotContent", name });

export interface ScenarioContext {
  readonly harness: Combination;
  readonly place: TestServer;
  readonly driver: OddDriver;
  readonly stand: SnapshotSuite;
  readonly client: TestServer["connection"]["client"];
  /** The handle of the volume behind the claim. */
  readonly volume: string;
  readonly toController: FaultProxy;
  readonly toSidecar: FaultProxy;
  /** The port of the controller's metrics. */
  readonly port: number;
  controller(): Daemon;
  sidecar(): Daemon;
  /** A snapshot of the claim that goes with its data. */
  take(name: string): Promise<VolumeSnapshot>;
  /** Takes one and waits until nothing more is to be written about it; returns its content. */
  taken(name: string): Promise<VolumeSnapshotContent>;
  /** Whatever was to happen of what came before has happened: another one went the whole way. */
  lifeGoesOn(): Promise<void>;
  /** The driver takes the snapshot, and its reply is lost. */
  loseReplies(code: "DeadlineExceeded" | "Unavailable"): void;
  refuseCreateSnapshot(): void;
  untilAsked(times: number): Promise<true>;
  /** Handles that the driver keeps because of Retain. */
  deleteHandles(): Promise<void>;
  assertNothingLeft(): Promise<void>;
  /** Whatever a scenario has done, and however it ended, the next one finds everything in order. */
  restore(): Promise<void>;
  close(): Promise<void>;
}

export interface Scenario {
  /** What is to be seen, as a sentence. */
  readonly shows: string;
  play(scenario: ScenarioContext): Promise<void>;
}

const controllerRetries = ["--retry-interval-start=200ms", "--retry-interval-max=1s"];
const sidecarRetries = ["--retry-interval-start=500ms", "--retry-interval-max=2s"];

export async function openScenario(context: Combination): Promise<ScenarioContext> {
  const [, ground] = context;
  const place = await testServers[ground]();
  try {
    return await scenarioOn(place, context);
  } catch (reason) {
    place.stop();
    throw reason;
  }
}

async function scenarioOn(place: TestServer, stage: Combination): Promise<ScenarioContext> {
  const [kind] = stage;
  const behind = await drivers[kind](place.instance);
  const driver = await startOddDriver(place.instance.folder, { behind, asksOnce: kind === "hostpath" });
  const [viaController, viaSidecar] = [await proxyTo(place), await proxyTo(place)];
  const proxies = [viaController.proxy, viaSidecar.proxy];
  const port = await freePort();
  const startController = () =>
    startComponent({ ...place, ...viaController }, "snapshot-controller", [
      `--http-endpoint=127.0.0.1:${port}`,
      ...controllerRetries,
    ]);
  const stand = await snapshotSuiteFor({ ...place, ...viaSidecar }, place.connection, driver, sidecarRetries);
  let controller: Daemon = await startController();
  let { sidecar } = stand;
  const volume = await aBoundClaim(stand.fixtures, claimName);
  // One of its own: hostpath remembers only the last snapshot of a volume.
  await aBoundClaim(stand.fixtures, bystanderName);
  const acts = actsOn(stand, driver, volume);
  return {
    ...acts,
    harness: stage,
    place,
    driver,
    stand,
    client: place.connection.client,
    volume,
    toController: viaController.proxy,
    toSidecar: viaSidecar.proxy,
    port,
    controller: () => controller,
    sidecar: () => sidecar,
    restore: async () => {
      driver.mend();
      for (const proxy of proxies) proxy.answerNoMore();
      if (controller.running()) process.kill(controller.pid, "SIGCONT");
      else controller = await startController();
      if (!sidecar.running()) sidecar = await stand.startSidecar();
      if ((await leftovers(stand.fixtures)).length > 0) await clearAway(stand);
      await acts.deleteHandles();
      driver.forget();
    },
    close: async () => {
      stand.fixtures.csi.close();
      await driver.close();
      for (const proxy of proxies) await proxy.close();
      place.stop();
    },
  };
}

type Acts = Pick<
  ScenarioContext,
  | "take"
  | "taken"
  | "lifeGoesOn"
  | "loseReplies"
  | "refuseCreateSnapshot"
  | "untilAsked"
  | "deleteHandles"
  | "assertNothingLeft"
>;

function actsOn(stand: SnapshotSuite, driver: OddDriver, volume: string): Acts {
  const take: ScenarioContext["take"] = (name) => stand.take(name, claimName, stand.classes.delete);
  return {
    take,
    taken: async (name) => {
      await take(name);
      await stand.untilReady(name);
      return stand.contentOf(name);
    },
    lifeGoesOn: async () => {
      await stand.take("another", bystanderName, stand.classes.delete);
      await stand.untilReady("another");
      await stand.remove("another");
    },
    loseReplies: (code) =>
      void driver.oddities.set(volume, () => {
        throw new Fault(code, "not now");
      }),
    refuseCreateSnapshot: () => void driver.bars.set(volume, new Fault("InvalidArgument", "this volume cannot be cut")),
    untilAsked: (times) =>
      until({ what: `the driver was asked ${times} times` }, () => (driver.asked.length >= times ? true : undefined)),
    deleteHandles: async () => {
      const { csi } = stand.fixtures;
      for (const snapshotId of await stand.handles()) await csi.controller.deleteSnapshot({ snapshotId });
    },
    assertNothingLeft: async () => {
      let left: readonly string[] = [];
      await until({ what: "nothing is left" }, async () => {
        left = await leftovers(stand.fixtures);
        return left.length === 0 ? true : undefined;
      }).catch((reason: Error) => assert.fail(`${reason.message}: ${left.join(", ")}`));
    },
  };
}

/** What a scenario that broke off has left in the API. */
async function clearAway({ fixtures: { client }, untilGone }: SnapshotSuite): Promise<void> {
  const claims = (await client.list("PersistentVolumeClaim")).objects.filter(({ spec }) => spec?.dataSourceRef);
  const snapshots = (await client.list("VolumeSnapshot")).objects;
  const contents = (await client.list("VolumeSnapshotContent")).objects;
  const refs = [...claims, ...snapshots, ...contents].map(({ kind, metadata }) => {
    const { name, namespace: space } = metadata;
    return { kind, name, ...(space === undefined ? {} : { namespace: space }) } as Ref;
  });
  for (const ref of refs)
    await client.delete(ref).catch((reason: unknown) => {
      if (!isFault(reason, "NotFound")) throw reason;
    });
  for (const ref of refs) await untilGone(ref);
}
