/** `snapkeep audit` and `snapkeep migrate` on a real kube-apiserver full of objects: requests, time and memory of each command. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { draftOf } from "../src/api/builders.ts";
import { snapshotCrds } from "../src/api/crds/index.ts";
import { type Client, connect } from "../test/e2e/harness/client.ts";
import { type ControlPlane, startControlPlane } from "../test/e2e/harness/control-plane.ts";
import { until } from "../test/e2e/harness/until.ts";
import { buildBundle } from "./support/contestants.ts";
import { inLanes } from "./support/lanes.ts";

const lanes = 16;
const program = join(import.meta.dirname, "../dist/snapkeep.js");
const versions = { "snapshot.storage.k8s.io": "v1beta1" };

export async function run(chosen: ReadonlyMap<string, string>): Promise<void> {
  const objects = Number(chosen.get("--objects=") ?? (chosen.has("--quick") ? 1_000 : 10_000));
  buildBundle();
  const plane = await startControlPlane({ controllers: "none" });
  const { client, close } = await connect(plane.kubeconfig, { versions });
  try {
    await fill(client, objects);
    console.log(`${objects.toLocaleString("en")} objects, half VolumeSnapshots, half VolumeSnapshotContents`);
    await measure(plane, "audit", ["audit"]);
    if (chosen.has("--audit")) return;
    for (const words of [["--to-phase=2"], ["--to-phase=3"], ["--rollback"], ["--rollback"], ["--to-phase=3"]])
      await measure(plane, `migrate ${words.join(" ")}`, ["migrate", ...words]);
  } finally {
    close();
    plane.stop();
  }
}

async function fill(client: Client, objects: number): Promise<void> {
  for (const crd of snapshotCrds(1)) await client.create("CustomResourceDefinition", crd);
  for (const kind of ["VolumeSnapshot", "VolumeSnapshotContent"] as const)
    await until({ what: `${kind} is served` }, () => client.list(kind).catch(() => undefined));
  await inLanes(objects, lanes, (index) => create(client, index));
}

/** As large as those of a real cluster, whose controllers have written a status and annotations. */
function create(client: Client, index: number): Promise<unknown> {
  const name = `object-${String(index >> 1).padStart(6, "0")}`;
  const annotations = { "example.com/written-by-a-tool": "x".repeat(512) };
  const draft =
    index % 2 === 0
      ? draftOf("VolumeSnapshot", { namespace: "default", name }, {
          spec: { source: { persistentVolumeClaimName: "data" }, volumeSnapshotClassName: "fast" },
        } as never)
      : draftOf("VolumeSnapshotContent", { name }, {
          spec: {
            driver: "any.example.com",
            deletionPolicy: "Retain",
            source: { snapshotHandle: name },
            sourceVolumeMode: "Filesystem",
            volumeSnapshotRef: { namespace: "default", name, uid: "0d1f4c52-5b6e-4f0c-9f0e-1f2d3c4b5a69" },
          },
        } as never);
  const kind = index % 2 === 0 ? "VolumeSnapshot" : "VolumeSnapshotContent";
  return client.create(kind, { ...draft, metadata: { ...draft.metadata, annotations } } as never);
}

/** In a process of its own; the kernel knows how much memory it has had at most. */
async function measure(plane: ControlPlane, what: string, words: readonly string[]): Promise<void> {
  const from = plane.auditPosition();
  const startedAt = performance.now();
  const argv = ["--max-semi-space-size=4", program, ...words, `--kubeconfig=${plane.kubeconfig}`];
  const child = spawn(process.execPath, argv, { stdio: ["ignore", "ignore", "inherit"] });
  let [peakMib, cpuSeconds] = [0, 0];
  const looking = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
      peakMib = Math.max(peakMib, Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1_024);
      const fields = readFileSync(`/proc/${child.pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
      cpuSeconds = (Number(fields[11]) + Number(fields[12])) / 100;
    } catch {
      // It has ended between two looks.
    }
  }, 20);
  const code = await new Promise<number | null>((done) => child.once("close", done));
  clearInterval(looking);
  if (code !== 0) throw new Error(`${what} ended with ${code}`);
  const seconds = (performance.now() - startedAt) / 1_000;
  const entries = plane.auditLog(from).filter(({ userAgent = "" }) => /^snapkeep-(audit|migrate)\//.test(userAgent));
  const verbs = new Map<string, number>();
  for (const { verb } of entries) verbs.set(verb, (verbs.get(verb) ?? 0) + 1);
  const requests = [...verbs].map(([verb, count]) => `${count} ${verb}`).join(", ");
  console.log(
    `${what}: ${seconds.toFixed(1)} s, ${cpuSeconds.toFixed(1)} s of the processor, at most ${peakMib.toFixed(0)} MiB, ${entries.length} requests (${requests})`,
  );
}
