/** Restores of one snapshot on a real control plane: our provisioner, and external-provisioner, turn by turn. */
import { draftOf } from "../src/api/builders.ts";
import type { AuditEntry } from "../test/e2e/harness/audit.ts";
import type { Client } from "../test/e2e/harness/client.ts";
import {
  aBoundClaim,
  aClassFor,
  csiClientTo,
  type Fixtures,
  installSnapshotCrds,
  startComponent,
} from "../test/e2e/harness/components.ts";
import type { ControlPlane } from "../test/e2e/harness/control-plane.ts";
import { startHostpath } from "../test/e2e/harness/hostpath.ts";
import { snapshotsOf } from "../test/e2e/harness/snapshots.ts";
import { median, spread } from "./support/compare.ts";
import { type Crowd, createCrowd } from "./support/crowd.ts";
import { bindingFloor, type Floor } from "./support/floors.ts";
import { type Plane, withPlane } from "./support/plane.ts";
import { type Counts, countsOf, countTable, type Sums, settledRequests, sumsOf } from "./support/requests.ts";
import { createSides, type Side, type Sides } from "./support/sides.ts";
import { cpuByProgram, total } from "./support/usage.ts";
import { untilVolumesAreGone } from "./support/volumes.ts";

const namespace = "default";
const storageClass = "bench";
const snapshot = "monday";
const loneTries = 5;
const surroundings = ["kube-apiserver", "etcd", "kube-controller-manager", "hostpathplugin"];
/** The users: this process. */
const ownName = "this benchmark";
type Part = "provisioner";

interface Size {
  readonly burst: number;
  readonly rounds: number;
}
const small: Size = { burst: 200, rounds: 5 };
const large: Size = { burst: 1_000, rounds: 1 };
function sizesFor(chosen: ReadonlyMap<string, string>): readonly Size[] {
  const sizes = chosen.has("--quick") ? [small] : chosen.has("--large") ? [{ ...large, rounds: 2 }] : [small, large];
  const rounds = chosen.get("--rounds=");
  return rounds === undefined ? sizes : sizes.map(({ burst }) => ({ burst, rounds: Number(rounds) }));
}

interface Round {
  readonly burst: number;
  readonly loneSeconds: number;
  /** Requests of one restore alone. */
  readonly lone: Sums;
  readonly perSecond: number;
  /** Which part of the whole time the last 5 % of the claims took. */
  readonly tail: number;
  /** Until the last PersistentVolume was stored: what comes later is kube-controller-manager's. */
  readonly storedPerSecond: number;
  readonly gonePerSecond: number;
  readonly sums: Sums;
  readonly counts: Counts;
  /** Until the last claim was bound, and with the events that come later. */
  readonly cpuSeconds: number;
  readonly cpuSecondsSettled: number;
  /** What the API server, etcd, kube-controller-manager, the driver and this benchmark used in the burst. */
  readonly around: ReadonlyMap<string, number>;
  readonly pssMib: number;
}

export const run = (chosen: ReadonlyMap<string, string>): Promise<void> =>
  withPlane(chosen, (plane) => measure(plane, sizesFor(chosen)));

async function measure({ plane, client, wanted }: Plane, sizes: readonly Size[]): Promise<void> {
  const { profiles, against, other } = wanted;
  const { socket, csi, snapshotId } = await restorable(plane, client);
  const programs = { provisioner: { program: "csi-provisioner", flags: [`--csi-address=${socket}`] } } as const;
  const sides = await createSides<Part>({ plane, programs, profiles, against });
  const crowd = await createCrowd({
    client,
    kind: "PersistentVolumeClaim",
    namespace,
    draftOf: (name) => draftOf("PersistentVolumeClaim", { namespace, name }, { spec }),
    isDone: ({ status }) => status?.phase === "Bound",
  });
  for (const { burst, rounds } of profiles === undefined ? sizes : sizes.slice(-1)) {
    const found: Record<Side, Round[]> = { reference: [], against: [], snapkeep: [] };
    const floors: Record<FloorName, Floor[]> = { binding: [], driver: [] };
    console.log(`${burst} restores of one snapshot, driver csi-driver-host-path v1.7.2, ${rounds} round(s)`);
    for (let round = 1; round <= (profiles === undefined ? rounds : 1); round++) {
      for (const side of wanted.turns(round)) {
        found[side].push(await oneRound({ plane, client, sides, crowd }, side, burst));
        console.log(`round ${round}, ${side}: ${lineOf(found[side].at(-1))}`);
      }
      const cpuSeconds = (): number => total(cpuAround(plane));
      if (profiles !== undefined) continue;
      floors.binding.push(await bindingFloor({ client, crowd, cpuSeconds }, burst));
      floors.driver.push(await bindingFloor({ client, crowd, cpuSeconds, driver: { csi, snapshotId } }, burst));
    }
    if (profiles !== undefined) continue;
    report(found, other, burst);
    reportFloors(floors, found, other, burst);
  }
  crowd.close();
  csi.close();
}

const spec = {
  accessModes: ["ReadWriteOnce"],
  storageClassName: storageClass,
  resources: { requests: { storage: "1Mi" } },
  dataSource: { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: snapshot },
};

/** A ready snapshot, and nobody but a provisioner left to work on what is restored from it. */
async function restorable(plane: ControlPlane, client: Client) {
  const hostpath = await startHostpath(plane.instance);
  const csi = csiClientTo(hostpath.socket);
  const fixtures: Fixtures = { client, csi, driver: hostpath.driver, namespace };
  await installSnapshotCrds(client);
  await aClassFor(fixtures, "bench", "Delete");
  await aBoundClaim(fixtures, "source");
  const snapshots = snapshotsOf(fixtures);
  const takers = [
    await startComponent(plane, "snapshot-controller", [], { as: "bench" }),
    await startComponent(plane, "csi-snapshotter", [`--csi-address=${hostpath.socket}`], { as: "bench" }),
  ];
  await snapshots.take(snapshot, "source", "bench");
  await snapshots.untilReady(snapshot);
  await Promise.all(takers.map((daemon) => daemon.stop()));
  const more = { provisioner: hostpath.driver, reclaimPolicy: "Delete", volumeBindingMode: "Immediate" };
  await client.create("StorageClass", draftOf("StorageClass", { name: storageClass }, more as never));
  const [content] = (await client.list("VolumeSnapshotContent", {})).objects;
  return { socket: hostpath.socket, csi, snapshotId: content?.status?.snapshotHandle ?? "" };
}

interface Stage {
  readonly plane: ControlPlane;
  readonly client: Client;
  readonly sides: Sides<Part>;
  readonly crowd: Crowd<"PersistentVolumeClaim">;
}

async function oneRound(stage: Stage, side: Side, burst: number): Promise<Round> {
  const { plane, sides, crowd } = stage;
  const running = sides.start(side);
  try {
    await crowd.make(1); // Whatever a first restore costs is not measured.
    await removeAll(stage);
    const lone: number[] = [];
    for (let attempt = 1; attempt < loneTries; attempt++) {
      lone.push(...(await crowd.make(1)));
      await removeAll(stage);
    }
    await settledRequests(plane, plane.auditPosition());
    const loneFrom = plane.auditPosition();
    lone.push(...(await crowd.make(1)));
    const loneSums = sumsOf(await settledRequests(plane, loneFrom));
    const from = plane.auditPosition();
    const before = running.usage().provisioner;
    const aroundBefore = cpuAround(plane);
    const startedAt = Date.now();
    const seconds = await crowd.make(burst);
    const full = running.usage().provisioner;
    const around = cpuAround(plane);
    const entries = await settledRequests(plane, from);
    const settled = running.usage().provisioner;
    const { provisioner: pssMib } = running.pssMib();
    const all = seconds.at(-1) ?? 0;
    return {
      burst,
      loneSeconds: median(lone),
      lone: loneSums,
      perSecond: burst / all,
      tail: (all - (seconds[Math.ceil(burst * 0.95) - 1] ?? 0)) / all,
      storedPerSecond: burst / secondsUntilStored(entries, startedAt),
      sums: sumsOf(entries),
      counts: countsOf(entries),
      cpuSeconds: full.cpuSeconds - before.cpuSeconds,
      cpuSecondsSettled: settled.cpuSeconds - before.cpuSeconds,
      around: new Map([...around].map(([name, cpuSeconds]) => [name, cpuSeconds - (aroundBefore.get(name) ?? 0)])),
      pssMib,
      gonePerSecond: burst / (await removeAll(stage)),
    };
  } finally {
    await running.stop();
  }
}

/** Deletes all claims; returns the seconds until the last volume was gone. */
async function removeAll({ client, crowd }: Stage): Promise<number> {
  const startedAt = performance.now();
  await crowd.removeAll();
  await untilVolumesAreGone(client);
  return (performance.now() - startedAt) / 1_000;
}

function cpuAround({ folder }: ControlPlane): ReadonlyMap<string, number> {
  const byProgram = cpuByProgram(folder);
  const { user, system } = process.cpuUsage();
  return new Map([
    ...surroundings.map((name) => [name, byProgram.get(name) ?? 0] as const),
    [ownName, (user + system) / 1e6],
  ]);
}

/** The API server's own record tells: a watch of PersistentVolumes would cost it what is measured. */
const secondsUntilStored = (entries: readonly AuditEntry[], startedAt: number): number =>
  Math.max(
    ...entries
      .filter(({ verb, objectRef }) => verb === "create" && objectRef?.resource === "persistentvolumes")
      .map(({ stageTimestamp }) => Date.parse(stageTimestamp) - startedAt),
  ) / 1_000;

const lineOf = (round: Round | undefined): string =>
  round === undefined
    ? ""
    : [
        `${round.perSecond.toFixed(1)} bound/s`,
        `${round.storedPerSecond.toFixed(1)} stored/s`,
        `${round.gonePerSecond.toFixed(1)} gone/s`,
        `alone ${(round.loneSeconds * 1_000).toFixed(0)} ms`,
        `the last 5 % took ${(round.tail * 100).toFixed(0)} % of the time`,
        `${cpuMsPerClaim(round).toFixed(1)} CPU ms per claim`,
        `PSS ${round.pssMib.toFixed(0)} MiB`,
      ].join(", ");

const cpuMsPerClaim = ({ cpuSeconds, burst }: Round): number => (cpuSeconds / burst) * 1_000;

const cpuOfAll = ({ around, cpuSeconds }: Round): number => total(around) + cpuSeconds;

type FloorName = "binding" | "driver";
const floorTexts: Readonly<Record<FloorName, string>> = {
  binding: "binding alone, without a driver",
  driver: "binding and driver, with nothing but CreateVolume and the request that stores the PersistentVolume",
};

/** What no provisioner exceeds, measured in the same rounds. */
function reportFloors(
  floors: Readonly<Record<FloorName, readonly Floor[]>>,
  found: Record<Side, readonly Round[]>,
  other: Side,
  burst: number,
): void {
  for (const name of ["binding", "driver"] as const) {
    const toOther = (figure: (floor: Floor, round: Round) => number): string =>
      spread(
        floors[name].flatMap((floor, index) =>
          found[other].slice(index, index + 1).map((round) => figure(floor, round)),
        ),
        2,
      );
    const rate = spread(floors[name].map(({ perSecond }) => perSecond));
    const cpuMs = spread(floors[name].map(({ cpuSeconds }) => (cpuSeconds / burst) * 1_000));
    console.log(`floor, ${floorTexts[name]}: ${rate} claims/s, ${cpuMs} CPU ms per claim of all programs`);
    console.log(
      `  to ${other}: ${toOther((floor, round) => floor.perSecond / round.perSecond)} of its rate; ${other} needs ${toOther((floor, round) => cpuOfAll(round) / floor.cpuSeconds)} times the CPU`,
    );
  }
}

function report(found: Readonly<Record<Side, readonly Round[]>>, other: Side, burst: number): void {
  const show = (what: string, figure: (round: Round) => number, digits = 1): void => {
    const ratios = found.snapkeep.map((round, index) => figure(round) / figure(found[other][index] ?? round));
    const [ours, theirs] = [found.snapkeep, found[other]].map((rounds) => median(rounds.map(figure)).toFixed(digits));
    console.log(`${what}: snapkeep ${ours}, ${other} ${theirs}; ratio ${spread(ratios, 2)}`);
  };
  show("created → bound, claims/s", ({ perSecond }) => perSecond);
  show("created → PersistentVolume stored, claims/s", ({ storedPerSecond }) => storedPerSecond);
  show("deleted → gone, volumes/s", ({ gonePerSecond }) => gonePerSecond);
  show("one alone, seconds (median)", ({ loneSeconds }) => loneSeconds, 3);
  show("part of the time that the last 5 % took", ({ tail }) => tail, 3);
  show("provisioner, CPU ms per claim until all were bound", cpuMsPerClaim, 2);
  show("provisioner, CPU ms per claim with later events", (r) => (r.cpuSecondsSettled / r.burst) * 1_000, 2);
  show("provisioner, PSS MiB after the burst", ({ pssMib }) => pssMib, 0);
  for (const name of [...surroundings, ownName])
    show(`${name}, CPU seconds of the burst`, ({ around }) => around.get(name) ?? 0, 2);
  show("all of them, CPU seconds of the burst", cpuOfAll, 2);
  for (const side of ["snapkeep", other] as const) {
    const per = (sum: keyof Sums): string => (median(found[side].map(({ sums }) => sums[sum])) / burst).toFixed(2);
    const alone = (sum: keyof Sums): number => median(found[side].map(({ lone }) => lone[sum]));
    console.log(
      `requests per claim, ${side}: ${per("writes")} object writes, ${per("reads")} reads, ${per("events")} events, ${per("refused")} of all refused; alone ${alone("writes")} object writes, ${alone("reads")} reads, ${alone("events")} events`,
    );
  }
  const last = (side: Side): Counts => found[side].at(-1)?.counts ?? new Map();
  for (const line of countTable({ snapkeep: last("snapkeep"), [other]: last(other) }, burst)) console.log(line);
}
