/** The embedded API server beside etcd and kube-apiserver: start, memory, writes, lists, and one event to many watchers. */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "../test/e2e/harness/client.ts";
import { connect } from "../test/e2e/harness/client.ts";
import { startControlPlane } from "../test/e2e/harness/control-plane.ts";
import { inLanes, timed } from "./support/lanes.ts";
import { rssMibIn } from "./support/usage.ts";

export const about =
  "start, memory, writes, lists and watch fan-out of the embedded API server, beside etcd + kube-apiserver";
export const needsPeers = false;

const objects = 10_000;
const lanes = 16;
const lists = 5;
const watchers = 50;
const updates = 200;
const bundle = resolve(import.meta.dirname, "../dist/snapkeep.js");

interface Contestant {
  readonly name: string;
  readonly startMs: number;
  readonly kubeconfig: string;
  readonly folder: string;
  stop(): void;
}

async function startEmbedded(): Promise<Contestant> {
  if (!existsSync(bundle)) throw new Error("dist/snapkeep.js is missing: run npm run build first");
  const folder = mkdtempSync(join(tmpdir(), "bench-"));
  const kubeconfig = join(folder, "kubeconfig");
  const startedAt = performance.now();
  const child = spawn(process.execPath, [bundle, "apiserver", "--port=0", `--kubeconfig-out=${kubeconfig}`], {
    stdio: "ignore",
  });
  while (!existsSync(kubeconfig)) await sleep(2);
  const connection = await connect(kubeconfig);
  await connection.client.list("Namespace");
  const startMs = performance.now() - startedAt;
  connection.close();
  const stop = (): void => {
    child.kill();
    rmSync(folder, { recursive: true, force: true });
  };
  return { name: "snapkeep", startMs, kubeconfig, folder, stop };
}

async function startReference(): Promise<Contestant> {
  const startedAt = performance.now();
  const plane = await startControlPlane({ controllers: "none" });
  return {
    name: "etcd + kube-apiserver",
    startMs: performance.now() - startedAt,
    kubeconfig: plane.kubeconfig,
    folder: plane.folder,
    stop: () => plane.stop(),
  };
}

const draft = (index: number) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: `object-${index}`, namespace: "default", labels: { app: "bench", shard: String(index % 16) } },
  data: { text: "x".repeat(500) },
});

interface Figures {
  readonly startMs: number;
  readonly idleMib: number;
  readonly fullMib: number;
  readonly creates: number;
  readonly listed: number;
  readonly delivered: number;
}

async function measure({ startMs, kubeconfig, folder }: Contestant): Promise<Figures> {
  const { client, close } = await connect(kubeconfig);
  const idleMib = rssMibIn(folder);
  const creates = await timed(objects, () =>
    inLanes(objects, lanes, (index) => client.create("ConfigMap", draft(index))),
  );
  const fullMib = rssMibIn(folder);
  const listed = await timed(lists * objects, async () => {
    for (let round = 0; round < lists; round += 1) await client.list("ConfigMap", { namespace: "default" });
  });
  const delivered = await fanOut(client);
  close();
  return { startMs, idleMib, fullMib, creates, listed, delivered };
}

/** Events per second that arrive, all watchers together. */
async function fanOut(client: Client): Promise<number> {
  const { resourceVersion } = await client.list("ConfigMap", { namespace: "default", labelSelector: "app=none" });
  const over = new AbortController();
  const reading = Array.from({ length: watchers }, async () => {
    let seen = 0;
    const query = { namespace: "default", resourceVersion, signal: over.signal };
    for await (const event of client.watch("ConfigMap", query)) {
      if (event.kind !== "bookmark") seen += 1;
      if (seen >= updates) return;
    }
  });
  await sleep(1_000);
  const rate = await timed(watchers * updates, async () => {
    await inLanes(updates, lanes, (index) =>
      client.patch(
        { kind: "ConfigMap", namespace: "default", name: `object-${index}` },
        { type: "merge", body: { data: { changed: "yes" } } },
      ),
    );
    await Promise.all(reading);
  });
  over.abort();
  return rate;
}

const rows: readonly (readonly [what: string, figure: keyof Figures, unit: string, better: "more" | "less"])[] = [
  ["start to the first answer", "startMs", "ms", "less"],
  ["memory when idle", "idleMib", "MiB", "less"],
  [`memory with ${objects.toLocaleString("en")} objects`, "fullMib", "MiB", "less"],
  [`creates, ${lanes} at a time`, "creates", "/s", "more"],
  [`objects listed, ${objects.toLocaleString("en")} per list`, "listed", "/s", "more"],
  [`events delivered to ${watchers} watchers`, "delivered", "/s", "more"],
];

/** One after the other, because two busy servers on one machine measure each other. */
export async function run(): Promise<void> {
  const figures: Record<string, Figures> = {};
  for (const start of [startEmbedded, startReference]) {
    const contestant = await start();
    try {
      figures[contestant.name] = await measure(contestant);
    } finally {
      contestant.stop();
    }
  }
  const [ours, theirs] = [figures.snapkeep, figures["etcd + kube-apiserver"]];
  if (ours === undefined || theirs === undefined) throw new Error("both must have been measured");
  for (const [what, figure, unit, better] of rows) {
    const [a, b] = [ours[figure], theirs[figure]];
    const ratio = better === "more" ? a / b : b / a;
    const shown = (value: number): string => `${Math.round(value).toLocaleString("en")} ${unit}`;
    console.log(`${what}: snapkeep ${shown(a)}, etcd + kube-apiserver ${shown(b)}; ${ratio.toFixed(1)} times as good`);
  }
}
