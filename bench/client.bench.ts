/** The Kubernetes client: requests, watch decoding and memory, beside @kubernetes/client-node. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { build } from "esbuild";
import { type Measured, ourClient, theirClient } from "./support/clients.ts";
import { compare, median } from "./support/compare.ts";
import { contentAt } from "./support/contents.ts";
import { type Served, startReplay } from "./support/served.ts";

const roundMs = 1_000;
const eventsPerRound = 20_000;
const followedObjects = 5_000;
const cachedObjects = 10_000;

/** For a second, `lanes` at a time, each after its own answer, as reconcilers do. */
async function inLanes(lanes: number, work: () => Promise<void>): Promise<number> {
  const until = performance.now() + roundMs;
  let done = 0;
  const lane = async (): Promise<void> => {
    while (performance.now() < until) {
      await work();
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return done;
}

export async function run(): Promise<void> {
  const served = await startReplay();
  const [ours, theirs] = [ourClient(served), await theirClient(served)];
  const race = (what: string, unit: string, work: (client: Measured) => Promise<number>): Promise<void> =>
    compare({
      what,
      unit,
      ours: { name: ours.name, work: () => work(ours) },
      theirs: { name: theirs.name, work: () => work(theirs) },
    });
  console.log("server: a local TLS server in a process of its own, replaying VolumeSnapshotContents of 2 KB");
  try {
    for (const lanes of [1, 16]) {
      await race(`get, ${lanes} at a time`, "requests", (client) => inLanes(lanes, client.get));
      await race(`merge patch, ${lanes} at a time`, "requests", (client) => inLanes(lanes, client.patch));
    }
    await race("watch decoding", "events", (client) => client.watch(eventsPerRound));
    await race("list and watch into a cache", "objects", (client) => client.follow(followedObjects));
    console.log(floorLine());
    const script = await bundledMemory();
    for (const who of ["ours", "theirs"] as const) console.log(memoryLine(script, who, served));
  } finally {
    ours.close();
    theirs.close();
    served.stop();
  }
}

/** What every client pays that parses what it is sent, whatever else it does: JSON.parse of the same lines, and nothing more. */
function floorLine(): string {
  const lines = Array.from({ length: eventsPerRound }, (_, index) =>
    JSON.stringify({ type: "MODIFIED", object: contentAt(index) }),
  );
  const rates = Array.from({ length: 5 }, () => {
    const before = process.cpuUsage();
    for (const line of lines) JSON.parse(line);
    const { user, system } = process.cpuUsage(before);
    return lines.length / ((user + system) / 1e6);
  });
  return `floor of watch decoding: JSON.parse alone reads ${Math.round(median(rates)).toLocaleString("en")} events per CPU second`;
}

/** As released: a bundle, because Node's type stripping alone holds tens of megabytes. */
async function bundledMemory(): Promise<string> {
  const outfile = join(import.meta.dirname, "dist/memory.mjs");
  await build({
    entryPoints: [join(import.meta.dirname, "support/memory.ts")],
    bundle: true,
    platform: "node",
    format: "esm",
    external: ["@kubernetes/client-node"],
    outfile,
  });
  return outfile;
}

function memoryLine(script: string, who: "ours" | "theirs", { url, caFile }: Served): string {
  const flags = ["--expose-gc", "--max-semi-space-size=4"];
  const inputs = [who, JSON.stringify({ url, caFile }), String(cachedObjects)];
  const text = execFileSync(process.execPath, [...flags, script, ...inputs]);
  const { name, objects, emptyRss, rss, heapUsed } = JSON.parse(text.toString()) as Record<string, number>;
  const mib = (bytes = 0): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
  return `memory of ${name}: RSS ${mib(rss)} with ${objects?.toLocaleString("en")} objects cached (${mib(emptyRss)} for Node itself), heap ${mib(heapUsed)}`;
}
