import assert from "node:assert/strict";
import { annotations } from "../../../src/api/names.ts";
import type { Lease } from "../../../src/api/types.ts";
import { aBoundClaim, startComponent } from "../harness/components.ts";
import { proxyTo } from "../harness/fault-proxy.ts";
import type { Daemon } from "../harness/instance.ts";
import type { Scenario, ScenarioContext } from "../harness/scenario.ts";
import { until } from "../harness/until.ts";

/** The default of --worker-threads. */
const callsAtOnce = 10;
const names = Array.from({ length: 20 }, (_, index) => `many-${index}`);
const flags = [
  "--retry-interval-start=200ms",
  "--retry-interval-max=1s",
  "--leader-election",
  "--leader-election-lease-duration=14s",
  "--leader-election-renew-deadline=12s",
  "--leader-election-retry-period=1s",
];

interface Replica {
  readonly pair: readonly Daemon[];
  /**
   * What both have sent, whether it was refused or not. Leases and events aside: losing the one and telling of the other is what a
   * leader that slept is left with.
   */
  writes(): readonly string[];
  signal(name: NodeJS.Signals): void;
  stop(): Promise<void>;
}

/** A controller and a sidecar that both go through one proxy, which keeps a record of what they send. */
async function startReplica({ place, driver }: ScenarioContext): Promise<Replica> {
  const { proxy, kubeconfig } = await proxyTo(place);
  const sent = proxy.record();
  const via = { ...place, kubeconfig };
  const pair = [
    await startComponent(via, "snapshot-controller", flags),
    await startComponent(via, "csi-snapshotter", [`--csi-address=${driver.socket}`, ...flags]),
  ];
  return {
    pair,
    writes: () => sent.filter((request) => !/^GET |\/leases|\/events/.test(request)),
    signal: (name: NodeJS.Signals) => {
      for (const { pid } of pair) process.kill(pid, name);
    },
    stop: async () => {
      for (const daemon of pair) await daemon.stop("SIGKILL");
      await proxy.close();
    },
  };
}

/** All are bound and marked, and the driver was asked for as many as are asked for at once. */
async function untilAllAreUnderWay({ client, stand, untilAsked }: ScenarioContext): Promise<void> {
  for (const name of names)
    await until(
      { what: `${name} is bound` },
      async () => (await stand.get(name)).status?.boundVolumeSnapshotContentName,
    );
  await until({ what: "all are marked" }, async () =>
    (await client.list("VolumeSnapshotContent")).objects.every(
      ({ metadata }) => metadata.annotations?.[annotations.beingCreated] === "yes",
    )
      ? true
      : undefined,
  );
  await untilAsked(callsAtOnce);
}

/** `start` starts a replica; what it has started ends with the scenario, as does the holding of what is `held`. */
async function play(
  scenario: ScenarioContext,
  start: () => Promise<Replica>,
  held: PromiseWithResolvers<object>,
): Promise<void> {
  const { client, stand, driver } = scenario;
  // A claim for each, because hostpath remembers only the last snapshot of a volume.
  const volumes = await Promise.all(names.map((name) => aBoundClaim(stand.fixtures, name)));
  const startedMs = Date.now();
  const first = await start();
  // Leases of other drivers, and of replicas that were killed, may be there as well.
  const isRenewed = ({ spec }: Lease): boolean => Date.parse(String(spec?.renewTime)) >= startedMs;
  await until({ what: "both leases are held" }, async () =>
    (await client.list("Lease")).objects.filter(isRenewed).length === 2 ? true : undefined,
  );
  const second = await start();
  // The driver lets the first leader wait, so that there is always something to do, and nothing just being sent when it is stopped.
  let answer: () => object | Promise<object> = () => held.promise;
  for (const volume of volumes) driver.oddities.set(volume, () => answer());
  for (const name of names) await stand.take(name, name, stand.classes.delete);
  await untilAllAreUnderWay(scenario);
  for (const leader of first.pair) assert.ok(leader.running(), leader.lastWords());
  first.signal("SIGSTOP");
  // What the first leader asked for is answered while it sleeps: ten replies to write down, and the turn of ten more calls.
  answer = () => ({});
  held.resolve({});
  for (const name of names) await stand.untilReady(name, 60_000);
  assert.ok(second.writes().length >= names.length, "the others have not taken over");

  const [sent, asked] = [first.writes(), driver.asked.length];
  assert.ok(sent.length >= names.length, "the first leader was none");
  first.signal("SIGCONT");
  for (const leader of first.pair) await leader.ended;
  assert.deepEqual(first.writes().slice(sent.length), []);
  assert.deepEqual(driver.asked.slice(asked), []);
  assert.equal(new Set(driver.asked.map(({ name }) => name)).size, names.length);
  assert.deepEqual(
    (await stand.handles()).toSorted(),
    (await Promise.all(names.map(stand.contentOf))).map(({ status }) => status?.snapshotHandle ?? "").toSorted(),
  );
  await Promise.all(names.map((name) => client.delete(stand.ref(name))));
  for (const name of names) await stand.untilGone(stand.ref(name));
  await scenario.assertNothingLeft();
  for (const name of names) await stand.untilUnprotected(name);
}

export const leaderPaused60sResumes: Scenario = {
  shows: "leaders that were paused past their lease send nothing when they continue",
  async play(played) {
    for (const alone of [played.controller(), played.sidecar()]) await alone.stop();
    const replicas: Replica[] = [];
    const start = async () => {
      const replica = await startReplica(played);
      replicas.push(replica);
      return replica;
    };
    const held = Promise.withResolvers<object>();
    try {
      await play(played, start, held);
    } finally {
      held.resolve({});
      for (const { stop } of replicas) await stop();
    }
  },
};
