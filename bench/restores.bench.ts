/** Restores of one snapshot on a real control plane: our provisioner, and external-provisioner, turn by turn. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { draftOf } from "../src/api/builders.ts";
import { type Client, type Connection, connect } from "../test/e2e/harness/client.ts";
import {
  aBoundClaim,
  aClassFor,
  csiClientTo,
  type Fixtures,
  installSnapshotCrds,
  startComponent,
} from "../test/e2e/harness/components.ts";
import { type ControlPlane, startControlPlane } from "../test/e2e/harness/control-plane.ts";
import { startHostpath } from "../test/e2e/harness/hostpath.ts";
import { snapshotsOf } from "../test/e2e/harness/snapshots.ts";
import { until } from "../test/e2e/harness/until.ts";
import { median, spread } from "./support/compare.ts";
import { type Crowd, createCrowd } from "./support/crowd.ts";
import { type Counts, countsOf, countTable, type Sums, settledRequests, sumsOf } from "./support/requests.ts";
import { createSides, type Side, type Sides } from "./support/sides.ts";
import { cpuByProgram } from "./support/usage.ts";

const namespace = "default";
const storageClass = "bench";
const snapshot = "monday";
const loneTries = 5;
const surroundings = ["kube-apiserver", "etcd", "kube-controller-manager", "hostpathplugin"];
type Part = "provisioner";

interface Size {
  readonly bursts: readonly number[];
  readonly rounds: number;
}
const usual: Size = { bursts: [200, 1_000], rounds: 3 };
const quick: Size = { bursts: [200], rounds: 3 };

interface Round {
  readonly loneSeconds: number;
  readonly perSecond: number;
  /** Which part of the whole time the last 5 % of the claims took. */
  readonly tail: number;
  readonly gonePerSecond: number;
  readonly sums: Sums;
  readonly counts: Counts;
  readonly cpuSeconds: number;
  /** Of the API server, etcd, kube-controller-manager and the driver, in the burst. */
  readonly around: ReadonlyMap<string, number>;
  readonly pssMib: number;
}

export async function run(chosen: ReadonlyMap<string, string>): Promise<void> {
  const plane = await startControlPlane();
  const connection = await connect(plane.kubeconfig);
  try {
    const size = chosen.has("--quick") ? quick : usual;
    await measure(plane, connection, size, { profiled: chosen.has("--profile"), against: chosen.get("--against=") });
  } finally {
    connection.close();
    plane.stop();
  }
}

interface Wanted {
  readonly profiled: boolean;
  /** The folder of another bundle of ours, to compare with instead of the Go provisioner. */
  readonly against: string | undefined;
}

async function measure(
  plane: ControlPlane,
  { client }: Connection,
  { bursts, rounds }: Size,
  { profiled, against }: Wanted,
): Promise<void> {
  const other: Side = against === undefined ? "reference" : "against";
  const socket = await restorable(plane, client);
  const profiles = profiled ? join(import.meta.dirname, "dist/profiles") : undefined;
  if (profiles !== undefined) mkdirSync(profiles, { recursive: true });
  const programs = { provisioner: { program: "csi-provisioner", flags: [`--csi-address=${socket}`] } } as const;
  const sides = await createSides<Part>({ plane, programs, profiles, against });
  const crowd = await createCrowd({
    client,
    kind: "PersistentVolumeClaim",
    namespace,
    draftOf: (name) => draftOf("PersistentVolumeClaim", { namespace, name }, { spec }),
    isDone: ({ status }) => status?.phase === "Bound",
  });
  const order: readonly Side[] = profiled ? ["snapkeep"] : [other, "snapkeep"];
  for (const burst of profiled ? bursts.slice(-1) : bursts) {
    const found: Record<Side, Round[]> = { reference: [], against: [], snapkeep: [] };
    console.log(`${burst} restores of one snapshot, driver csi-driver-host-path v1.7.2`);
    for (let round = 1; round <= (profiled ? 1 : rounds); round++)
      for (const side of inTurn(order, round)) {
        found[side].push(await oneRound(plane, client, sides, crowd, side, burst));
        console.log(`round ${round}, ${side}: ${lineOf(found[side].at(-1))}`);
      }
    if (!profiled) report(found, other, burst);
  }
  crowd.close();
}

/** Who goes first may find a quicker machine. */
const inTurn = (sides: readonly Side[], round: number): readonly Side[] =>
  round % 2 === 0 ? sides.toReversed() : sides;

const spec = {
  accessModes: ["ReadWriteOnce"],
  storageClassName: storageClass,
  resources: { requests: { storage: "1Mi" } },
  dataSource: { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: snapshot },
};

/** A ready snapshot, and nobody but a provisioner left to work on what is restored from it; returns the driver's socket. */
async function restorable(plane: ControlPlane, client: Client): Promise<string> {
  const hostpath = await startHostpath(plane.instance);
  const csi = csiClientTo(hostpath.socket);
  const fixtures: Fixtures = { client, csi, driver: hostpath.driver, namespace };
  await installSnapshotCrds(client);
  await aClassFor(fixtures, "bench", "Delete");
  await aBoundClaim(fixtures, "source");
  const snapshots = snapshotsOf(fixtures);
  const takers = [
    startComponent(plane, "snapshot-controller"),
    startComponent(plane, "csi-snapshotter", [`--csi-address=${hostpath.socket}`]),
  ];
  await snapshots.take(snapshot, "source", "bench");
  await snapshots.untilReady(snapshot);
  await Promise.all(takers.map((daemon) => daemon.stop()));
  const more = { provisioner: hostpath.driver, reclaimPolicy: "Delete", volumeBindingMode: "Immediate" };
  await client.create("StorageClass", draftOf("StorageClass", { name: storageClass }, more as never));
  csi.close();
  return hostpath.socket;
}

async function oneRound(
  plane: ControlPlane,
  client: Client,
  sides: Sides<Part>,
  crowd: Crowd,
  side: Side,
  burst: number,
): Promise<Round> {
  const running = sides.start(side);
  const removeAll = async (): Promise<number> => {
    const startedAt = performance.now();
    await crowd.removeAll();
    await until({ what: "all volumes are gone", msMax: 600_000, everyMs: 100 }, async () =>
      (await client.list("PersistentVolume", {})).objects.every(({ metadata }) => !metadata.name.startsWith("pvc-"))
        ? true
        : undefined,
    );
    return (performance.now() - startedAt) / 1_000;
  };
  try {
    await crowd.make(1); // Whatever a first restore costs is not measured.
    await removeAll();
    const lone: number[] = [];
    for (let attempt = 0; attempt < loneTries; attempt++) {
      lone.push(...(await crowd.make(1)));
      await removeAll();
    }
    await settledRequests(plane, plane.auditPosition());
    const from = plane.auditPosition();
    const before = running.usage().provisioner;
    const aroundBefore = cpuByProgram(plane.folder);
    const seconds = await crowd.make(burst);
    const around = cpuByProgram(plane.folder);
    const entries = await settledRequests(plane, from);
    const full = running.usage().provisioner;
    const { provisioner: pssMib } = running.pssMib();
    const all = seconds.at(-1) ?? 0;
    return {
      loneSeconds: median(lone),
      perSecond: burst / all,
      tail: (all - (seconds[Math.ceil(burst * 0.95) - 1] ?? 0)) / all,
      sums: sumsOf(entries),
      counts: countsOf(entries),
      cpuSeconds: full.cpuSeconds - before.cpuSeconds,
      around: new Map(surroundings.map((name) => [name, (around.get(name) ?? 0) - (aroundBefore.get(name) ?? 0)])),
      pssMib,
      gonePerSecond: burst / (await removeAll()),
    };
  } finally {
    await running.stop();
  }
}

const lineOf = (round: Round | undefined): string =>
  round === undefined
    ? ""
    : `${round.perSecond.toFixed(1)} bound/s, ${round.gonePerSecond.toFixed(1)} gone/s, alone ${(round.loneSeconds * 1_000).toFixed(0)} ms, the last 5 % took ${(round.tail * 100).toFixed(0)} % of the time, PSS ${round.pssMib.toFixed(0)} MiB`;

function report(found: Readonly<Record<Side, readonly Round[]>>, other: Side, burst: number): void {
  const show = (what: string, figure: (round: Round) => number, digits = 1): void => {
    const ratios = found.snapkeep.map((round, index) => figure(round) / figure(found[other][index] ?? round));
    const [ours, theirs] = [found.snapkeep, found[other]].map((rounds) => median(rounds.map(figure)).toFixed(digits));
    console.log(`${what}: snapkeep ${ours}, ${other} ${theirs}; ratio ${spread(ratios, 2)}`);
  };
  show("created → bound, claims/s", ({ perSecond }) => perSecond);
  show("deleted → gone, volumes/s", ({ gonePerSecond }) => gonePerSecond);
  show("one alone, seconds (median)", ({ loneSeconds }) => loneSeconds, 3);
  show("part of the time that the last 5 % took", ({ tail }) => tail, 3);
  show("provisioner, CPU seconds of the burst", ({ cpuSeconds }) => cpuSeconds, 2);
  show("provisioner, PSS MiB after the burst", ({ pssMib }) => pssMib, 0);
  for (const name of surroundings) show(`${name}, CPU seconds of the burst`, ({ around }) => around.get(name) ?? 0, 2);
  const all = ({ around, cpuSeconds }: Round): number =>
    [...around.values()].reduce((sum, seconds) => sum + seconds, cpuSeconds);
  show("all of them, CPU seconds of the burst", all, 2);
  for (const side of ["snapkeep", other] as const) {
    const per = (sum: keyof Sums): string => (median(found[side].map(({ sums }) => sums[sum])) / burst).toFixed(2);
    console.log(
      `requests per claim, ${side}: ${per("writes")} object writes, ${per("reads")} reads, ${per("events")} events, ${per("refused")} of all refused`,
    );
  }
  const last = (side: Side): Counts => found[side].at(-1)?.counts ?? new Map();
  for (const line of countTable({ snapkeep: last("snapkeep"), [other]: last(other) }, burst)) console.log(line);
}
