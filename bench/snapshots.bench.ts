/** Snapshots on a real control plane: our controller and sidecar, and upstream's, turn by turn. */
import { draftOf } from "../src/api/builders.ts";
import {
  aBoundClaim,
  aClassFor,
  csiClientTo,
  type Fixtures,
  installSnapshotCrds,
} from "../test/e2e/harness/components.ts";
import type { ControlPlane } from "../test/e2e/harness/control-plane.ts";
import { startHostpath } from "../test/e2e/harness/hostpath.ts";
import { median, spread } from "./support/compare.ts";
import { type Crowd, createCrowd } from "./support/crowd.ts";
import { apiServerRate, driverRate } from "./support/floors.ts";
import { type Plane, withPlane } from "./support/plane.ts";
import { type Counts, countsOf, countTable, type Sums, settledRequests, sumsOf } from "./support/requests.ts";
import { createSides, type Side, type Sides } from "./support/sides.ts";
import { cpuByProgram } from "./support/usage.ts";

const claims = ["one", "two", "three", "four", "five"];
const namespace = "default";
const snapshotClass = "bench";
const usual: Size = { burst: 500, rounds: 3 };
const sizes: Readonly<Record<string, Size>> = {
  "--large": { burst: 2_000, rounds: 1 },
  "--quick": { burst: 100, rounds: 3 },
};
const loneTries = 5;
type Part = "controller" | "sidecar";
const surroundings = ["kube-apiserver", "etcd", "hostpathplugin"];

interface Size {
  readonly burst: number;
  readonly rounds: number;
}
interface Phase {
  readonly sums: Sums;
  readonly counts: Counts;
  readonly perSecond: number;
}
interface Round {
  readonly loneSeconds: number;
  readonly creation: Phase;
  readonly deletion: Phase;
  readonly cpuSeconds: Readonly<Record<Part, number>>;
  /** What the API server, etcd and the driver used in the burst. */
  readonly around: ReadonlyMap<string, number>;
  readonly rssMib: Readonly<Record<Part, number>>;
}

export const run = (chosen: ReadonlyMap<string, string>): Promise<void> =>
  withPlane(chosen, (plane) =>
    measure(plane, [...chosen.keys()].map((option) => sizes[option]).find((found) => found !== undefined) ?? usual),
  );

async function measure({ plane, client, wanted }: Plane, size: Size): Promise<void> {
  const { burst } = size;
  const { profiles, against, other } = wanted;
  const rounds = profiles === undefined ? size.rounds : 1;
  const hostpath = await startHostpath(plane.instance);
  const csi = csiClientTo(hostpath.socket);
  const fixtures: Fixtures = { client, csi, driver: hostpath.driver, namespace };
  await installSnapshotCrds(client);
  await aClassFor(fixtures, snapshotClass, "Delete");
  const handles: string[] = [];
  for (const claim of claims) handles.push(await aBoundClaim(fixtures, claim));
  const sidecar = { program: "csi-snapshotter", flags: [`--csi-address=${hostpath.socket}`] } as const;
  const programs = { controller: { program: "snapshot-controller", flags: [] }, sidecar } as const;
  const pairs = await createSides<Part>({ plane, programs, profiles, against });
  const crowd = await createCrowd({
    client,
    kind: "VolumeSnapshot",
    namespace,
    draftOf: (name, index) => draftOf("VolumeSnapshot", { namespace, name }, { spec: specOf(index) }),
    isDone: ({ status }) => status?.readyToUse === true,
  });
  const found: Record<Side, Round[]> = { reference: [], against: [], snapkeep: [] };
  const api: number[] = [];
  const driver: number[] = [];
  console.log(`${burst} snapshots of ${claims.length} claims, driver csi-driver-host-path v1.7.2, ${rounds} round(s)`);
  for (let round = 1; round <= rounds; round++) {
    api.push(await apiServerRate({ ...fixtures, volumeHandle: handles[0] ?? "" }, burst));
    driver.push(await driverRate(csi, handles[0] ?? "", burst));
    console.log(
      `round ${round}, floors: API server ${api.at(-1)?.toFixed(0)}/s, driver ${driver.at(-1)?.toFixed(0)}/s`,
    );
    for (const side of wanted.turns(round)) {
      found[side].push(await oneRound(plane, pairs, crowd, side, burst));
      console.log(`round ${round}, ${side}: ${lineOf(found[side].at(-1))}`);
    }
  }
  crowd.close();
  csi.close();
  if (profiles === undefined) report(found, other, { api, driver }, burst);
}

const specOf = (index: number) => ({
  source: { persistentVolumeClaimName: claims[index % claims.length] ?? "" },
  volumeSnapshotClassName: snapshotClass,
});

async function oneRound(
  plane: ControlPlane,
  pairs: Sides<Part>,
  crowd: Crowd<"VolumeSnapshot">,
  side: Side,
  burst: number,
): Promise<Round> {
  const pair = pairs.start(side);
  try {
    await crowd.make(1); // Whatever a first snapshot costs is not measured.
    await crowd.removeAll();
    const lone: number[] = [];
    for (let attempt = 0; attempt < loneTries; attempt++) {
      lone.push(...(await crowd.make(1)));
      await crowd.removeAll();
    }
    await settledRequests(plane, plane.auditPosition());
    const before = pair.usage();
    const aroundBefore = cpuByProgram(plane.folder);
    const creation = await counted(plane, burst, async () => (await crowd.make(burst)).at(-1) ?? 0);
    const full = pair.usage();
    const around = cpuByProgram(plane.folder);
    const deletion = await counted(plane, burst, () => crowd.removeAll());
    return {
      loneSeconds: median(lone),
      creation,
      deletion,
      cpuSeconds: {
        controller: full.controller.cpuSeconds - before.controller.cpuSeconds,
        sidecar: full.sidecar.cpuSeconds - before.sidecar.cpuSeconds,
      },
      around: new Map(surroundings.map((name) => [name, (around.get(name) ?? 0) - (aroundBefore.get(name) ?? 0)])),
      rssMib: { controller: full.controller.rssMib, sidecar: full.sidecar.rssMib },
    };
  } finally {
    await pair.stop();
  }
}

async function counted(plane: ControlPlane, burst: number, work: () => Promise<number>): Promise<Phase> {
  const from = plane.auditPosition();
  const seconds = await work();
  const entries = await settledRequests(plane, from);
  return { perSecond: burst / seconds, sums: sumsOf(entries), counts: countsOf(entries) };
}

const lineOf = (round: Round | undefined): string =>
  round === undefined
    ? ""
    : `${round.creation.perSecond.toFixed(1)} ready/s, ${round.deletion.perSecond.toFixed(1)} gone/s, alone ${(round.loneSeconds * 1_000).toFixed(0)} ms`;

function report(
  found: Readonly<Record<Side, readonly Round[]>>,
  other: Side,
  floors: Record<"api" | "driver", number[]>,
  burst: number,
) {
  const ratio = (figure: (round: Round) => number): string =>
    spread(
      found.snapkeep.map((round, index) => figure(round) / figure(found[other][index] ?? round)),
      2,
    );
  const both = (figure: (round: Round) => number, digits = 1): string =>
    (["snapkeep", other] as const)
      .map((side) => `${side} ${median(found[side].map(figure)).toFixed(digits)}`)
      .join(", ");
  console.log(
    `create → ready, snapshots/s: ${both((r) => r.creation.perSecond)}; ratio ${ratio((r) => r.creation.perSecond)}`,
  );
  console.log(
    `delete → gone, snapshots/s: ${both((r) => r.deletion.perSecond)}; ratio ${ratio((r) => r.deletion.perSecond)}`,
  );
  console.log(`one alone, seconds: ${both((r) => r.loneSeconds, 3)}; ratio of times ${ratio((r) => r.loneSeconds)}`);
  for (const part of ["controller", "sidecar"] as const) {
    console.log(
      `${part}, CPU seconds of the burst: ${both((r) => r.cpuSeconds[part], 2)}; ratio ${ratio((r) => r.cpuSeconds[part])}`,
    );
    console.log(
      `${part}, RSS MiB after the burst: ${both((r) => r.rssMib[part], 0)}; ratio ${ratio((r) => r.rssMib[part])}`,
    );
  }
  for (const name of surroundings) {
    const used = (round: Round): number => round.around.get(name) ?? 0;
    console.log(`${name}, CPU seconds of the burst: ${both(used, 2)}; ratio ${ratio(used)}`);
  }
  const all = (round: Round): number =>
    [...round.around.values(), ...Object.values(round.cpuSeconds)].reduce((sum, seconds) => sum + seconds, 0);
  console.log(`all of them, CPU seconds of the burst: ${both(all, 2)}; ratio ${ratio(all)}`);
  for (const phase of ["creation", "deletion"] as const) {
    const per = (side: Side, sum: keyof Sums): string =>
      (median(found[side].map((round) => round[phase].sums[sum])) / burst).toFixed(2);
    for (const side of ["snapkeep", other] as const)
      console.log(
        `requests per snapshot, ${phase}, ${side}: ${per(side, "writes")} object writes, ${per(side, "reads")} reads, ${per(side, "events")} events, ${per(side, "refused")} of all refused`,
      );
    const last = (side: Side): Counts => found[side].at(-1)?.[phase].counts ?? new Map();
    for (const line of countTable({ snapkeep: last("snapkeep"), [other]: last(other) }, burst)) console.log(line);
  }
  const binding = median(floors.api) < median(floors.driver) ? "the API server" : "the driver";
  console.log(`floor, API server alone with the writes of the protocol: ${spread(floors.api)} snapshots/s`);
  console.log(`floor, driver alone: ${spread(floors.driver)} snapshots/s`);
  console.log(`binding: ${binding}`);
}
