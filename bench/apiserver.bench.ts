/** The embedded API server beside etcd and kube-apiserver: start, memory, creating, listing, and telling watchers. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { draftOf } from "../src/api/builders.ts";
import { installSnapshotCrds } from "../test/e2e/harness/components.ts";
import { spread } from "./support/compare.ts";
import { buildBundle, type Contestant, startOurs, startTheirs } from "./support/contestants.ts";
import { inLanes } from "./support/lanes.ts";

const rounds = 5;
const lanes = 16;
const watchers = 50;
const eventsPerRound = 100;
const listsPerRound = 2;
const kind = "VolumeSnapshotContent";
const path = "/apis/snapshot.storage.k8s.io/v1/volumesnapshotcontents";

export async function run(chosen: ReadonlyMap<string, string>): Promise<void> {
  const objects = chosen.has("--quick") ? 1_000 : 10_000;
  const profiles = chosen.has("--profile") ? join(import.meta.dirname, "dist/profiles") : undefined;
  if (profiles !== undefined) mkdirSync(profiles, { recursive: true });
  buildBundle();
  const ours = await startOurs(profiles);
  const theirs = await startTheirs();
  try {
    await measure({ ours, theirs }, objects);
  } finally {
    await ours.stop();
    await theirs.stop();
  }
}

interface Contest {
  readonly ours: Contestant;
  readonly theirs: Contestant;
}

async function measure(contest: Contest, objects: number): Promise<void> {
  const { ours, theirs } = contest;
  smaller("start until the first answer, seconds", contest, (one) => one.startSeconds, 2);
  for (const { client } of [ours, theirs]) await installSnapshotCrds(client);
  smaller("memory when empty, MiB", contest, (one) => one.usage().rssMib, 0);
  await race("create, one kind with a schema and rules", "objects", contest, (one, round) =>
    create(one, round, objects / rounds),
  );
  smaller(`memory with ${objects.toLocaleString("en")} objects, MiB`, contest, (one) => one.usage().rssMib, 0);
  await race("list of all of them, whole", "objects", contest, (one) => list(one, objects));
  await race(`telling ${watchers} watchers`, "events", contest, (one, round) => tell(one, round));
}

function smaller(what: string, { ours, theirs }: Contest, figure: (one: Contestant) => number, digits: number): void {
  const [mine, other] = [figure(ours), figure(theirs)];
  console.log(
    `${what}: ${ours.name} ${mine.toFixed(digits)}, ${theirs.name} ${other.toFixed(digits)}; theirs are ${(other / mine).toFixed(1)} times ours`,
  );
}

type Work = (one: Contestant, round: number) => Promise<number>;

/** Turn by turn. Beside the rates, processor time of the servers: what a busy machine does not change. */
async function race(what: string, unit: string, { ours, theirs }: Contest, work: Work): Promise<void> {
  const rates: Record<"ours" | "theirs", Rate[]> = { ours: [], theirs: [] };
  for (let round = 0; round < rounds; round++) {
    rates.ours.push(await rateOf(ours, () => work(ours, round)));
    rates.theirs.push(await rateOf(theirs, () => work(theirs, round)));
  }
  const all = (side: Rate[], figure: keyof Rate): readonly number[] => side.map((rate) => rate[figure]);
  const ratios = (figure: keyof Rate): string =>
    spread(rates.ours.map((rate, round) => rate[figure] / (rates.theirs[round]?.[figure] ?? Number.NaN)));
  console.log(
    `${what}, ${unit}/s: ${ours.name} ${spread(all(rates.ours, "perSecond"))}, ${theirs.name} ${spread(all(rates.theirs, "perSecond"))}; ratio ${ratios("perSecond")}, per CPU second of the server ${ratios("perCpuSecond")}`,
  );
}

interface Rate {
  readonly perSecond: number;
  readonly perCpuSecond: number;
}

async function rateOf(one: Contestant, work: () => Promise<number>): Promise<Rate> {
  const [startedAt, before] = [performance.now(), one.usage().cpuSeconds];
  const units = await work();
  const seconds = (performance.now() - startedAt) / 1_000;
  return { perSecond: units / seconds, perCpuSecond: units / Math.max(one.usage().cpuSeconds - before, 0.01) };
}

async function create({ client }: Contestant, round: number, count: number): Promise<number> {
  await inLanes(count, lanes, (index) => {
    const name = `content-${round}-${index}`;
    const spec = {
      deletionPolicy: "Delete" as const,
      driver: "hostpath.csi.k8s.io",
      source: { volumeHandle: `volume-${index}` },
      sourceVolumeMode: "Filesystem",
      volumeSnapshotClassName: "bench",
      volumeSnapshotRef: { namespace: "default", name: `snapshot-${index}` },
    };
    return client.create(kind, draftOf(kind, { name, annotations: { note: "x".repeat(500) } }, { spec }));
  });
  return count;
}

/** Not parsed here: it is the server that is measured. */
async function list({ stream }: Contestant, objects: number): Promise<number> {
  const signal = new AbortController().signal;
  for (let time = 0; time < listsPerRound; time++)
    for await (const _chunk of stream(`${path}?resourceVersion=0`, signal)) void _chunk;
  return objects * listsPerRound;
}

const lineFeed = 10;

async function tell({ client, stream }: Contestant, round: number): Promise<number> {
  const { resourceVersion } = await client.list("Namespace");
  const stop = new AbortController();
  const opened = Array.from({ length: watchers }, () =>
    stream(`${path}?watch=1&resourceVersion=${resourceVersion}`, stop.signal),
  );
  const hearing = opened.map((events) => hear(events, eventsPerRound));
  await inLanes(eventsPerRound, lanes, (index) => {
    const body = { metadata: { annotations: { told: `${round}-${index}` } } };
    return client.patch({ kind, name: `content-0-${index}` }, { type: "merge", body });
  });
  await Promise.all(hearing);
  stop.abort();
  return watchers * eventsPerRound;
}

/** Counts lines; the watch is left when so many have come. */
async function hear(chunks: AsyncIterable<Uint8Array>, count: number): Promise<void> {
  let seen = 0;
  for await (const chunk of chunks) {
    for (const byte of chunk) if (byte === lineFeed) seen += 1;
    if (seen >= count) return;
  }
  throw new Error(`the watch ended after ${seen} of ${count} events`);
}
