/**
 * Where the memory of a driver's sidecars goes: csi-sidecars, our two separate ones, and upstream's two, idle and with objects, on the
 * embedded API server. One process at a time, so that nothing else is charged for what it holds.
 */
import { execFileSync } from "node:child_process";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { draftOf } from "../src/api/builders.ts";
import type { Client } from "../test/e2e/harness/client.ts";
import { connect } from "../test/e2e/harness/client.ts";
import { aClassFor, installSnapshotCrds } from "../test/e2e/harness/components.ts";
import { startDirectoryDriver } from "../test/e2e/harness/directory-driver.ts";
import { startEmbeddedServer } from "../test/e2e/harness/embedded.ts";
import type { Daemon, Instance } from "../test/e2e/harness/instance.ts";
import { tools } from "../test/e2e/harness/tools.ts";
import { until } from "../test/e2e/harness/until.ts";
import { type HeapShares, heapSharesIn } from "./support/heap-snapshot.ts";

const root = resolve(import.meta.dirname, "..");
const nodeFlags = ["--max-semi-space-size=4"];
/** Until caches are full and the first compilers are done. */
const settleMs = 12_000;

interface Held {
  /** Anonymous: heap, buffers, compiled code. Nobody shares it. */
  readonly anonymousMib: number;
  /** Pages of files, above all those of the program itself. */
  readonly fileMib: number;
  /** As if nothing else ran on the machine: each program's file counts once. */
  readonly aloneMib: number;
}

interface Contestant {
  readonly name: string;
  readonly processes: readonly (readonly [program: string, ...args: string[]])[];
}

export async function run(options: ReadonlyMap<string, string>): Promise<void> {
  const count = Number(options.get("--objects=") ?? (options.has("--quick") ? 200 : 2_000));
  const go = await tools("csi-snapshotter", "csi-provisioner");
  execFileSync(process.execPath, [join(root, "scripts/build.ts")], { cwd: root, stdio: "ignore" });
  const bundle = join(root, "dist/snapkeep.js");
  const { instance, kubeconfig, stop } = await startEmbeddedServer();
  const { client, close } = await connect(kubeconfig);
  try {
    await installSnapshotCrds(client);
    const { socket, driver } = await startDirectoryDriver(instance);
    const flags = [`--kubeconfig=${kubeconfig}`, `--csi-address=${socket}`];
    const ours = (...command: string[]) => [process.execPath, ...nodeFlags, bundle, ...command, ...flags] as const;
    const contestants: readonly Contestant[] = [
      { name: "csi-sidecars", processes: [ours("csi-sidecars")] },
      { name: "csi-snapshotter + csi-provisioner", processes: [ours("csi-snapshotter"), ours("csi-provisioner")] },
      {
        name: "upstream's two (Go)",
        processes: [
          [go["csi-snapshotter"], ...flags],
          [go["csi-provisioner"], ...flags],
        ],
      },
    ];
    const runtime: Contestant = {
      name: "Node.js alone",
      processes: [[process.execPath, ...nodeFlags, "-e", "setInterval(() => undefined, 1e6)"]],
    };
    const report = async (what: string, all: readonly Contestant[]): Promise<void> => {
      for (const contestant of all) print(what, contestant.name, await measure(instance, contestant));
    };
    console.log("| with | process | anonymous, MiB | pages of files, MiB | together, MiB |\n|---|---|---|---|---|");
    await report("nothing", [runtime]);
    const nowhere = join(instance.folder, "nowhere.kubeconfig");
    const closed = { clusters: [{ name: "c", cluster: { server: "http://127.0.0.1:1" } }] };
    const context = { contexts: [{ name: "c", context: { cluster: "c", user: "u" } }], "current-context": "c" };
    writeFileSync(
      nowhere,
      JSON.stringify({
        apiVersion: "v1",
        kind: "Config",
        ...closed,
        ...context,
        users: [{ name: "u", user: { token: "any" } }],
      }),
    );
    const waiting = [process.execPath, ...nodeFlags, bundle, "csi-sidecars", `--kubeconfig=${nowhere}`] as const;
    await report("an API server that does not answer", [{ name: "csi-sidecars", processes: [waiting] }]);
    await report("0 objects", contestants);
    await fill(client, driver, count);
    await report(`${count} volumes and snapshots`, contestants);
    await printHeap(instance, contestants[0] as Contestant);
  } finally {
    close();
    stop();
  }
}

const print = (what: string, name: string, { anonymousMib, fileMib, aloneMib }: Held): void =>
  console.log(`| ${what} | ${name} | ${[anonymousMib, fileMib, aloneMib].map((mib) => mib.toFixed(0)).join(" | ")} |`);

let started = 0;
const startAll = (instance: Instance, { processes }: Contestant, extra: readonly string[] = []): readonly Daemon[] =>
  processes.map(([program, ...args]) => instance.start(`memory-${++started}`, program, [...extra, ...args]));

async function measure(instance: Instance, contestant: Contestant): Promise<Held> {
  const daemons = startAll(instance, contestant);
  await settled(daemons);
  const held = daemons.map(({ pid }, index) => ({ program: contestant.processes[index]?.[0], ...heldBy(pid) }));
  await Promise.all(daemons.map((daemon) => daemon.stop()));
  const sum = (figures: Iterable<number>): number => [...figures].reduce((all, one) => all + one, 0);
  const files = new Map<unknown, number>();
  for (const { program, fileMib } of held) files.set(program, Math.max(fileMib, files.get(program) ?? 0));
  const anonymousMib = sum(held.map((one) => one.anonymousMib));
  const fileMib = sum(held.map((one) => one.fileMib));
  return { anonymousMib, fileMib, aloneMib: anonymousMib + sum(files.values()) };
}

async function settled(daemons: readonly Daemon[]): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, settleMs));
  for (const daemon of daemons) if (!daemon.running()) throw new Error(`it ended:\n${daemon.lastWords()}`);
}

function heldBy(pid: number): Pick<Held, "anonymousMib" | "fileMib"> {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const mibOf = (field: string): number => Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) / 1024;
  return { anonymousMib: mibOf("RssAnon"), fileMib: mibOf("RssFile") };
}

/** Bound claims with their volumes, and ready contents: nothing is left to do. */
async function fill(client: Client, driver: string, count: number): Promise<void> {
  await aClassFor({ client, driver }, "bench", "Delete");
  const one = async (index: number): Promise<void> => {
    const name = `object-${index}`;
    const sized = { accessModes: ["ReadWriteOnce"], storageClassName: "bench" };
    const capacity = { storage: "1Mi" };
    const csi = { driver, volumeHandle: name };
    const claimRef = { namespace: "default", name };
    await client.create(
      "PersistentVolume",
      draftOf("PersistentVolume", { name }, { spec: { ...sized, capacity, csi, claimRef } }),
    );
    const claim = { ...sized, volumeName: name, resources: { requests: capacity } };
    await client.create("PersistentVolumeClaim", draftOf("PersistentVolumeClaim", claimRef, { spec: claim }));
    const source = { volumeHandle: name };
    const volumeSnapshotRef = { namespace: "default", name, uid: `uid-${index}` };
    const spec = {
      driver,
      deletionPolicy: "Delete",
      source,
      volumeSnapshotRef,
      volumeSnapshotClassName: "bench",
    } as const;
    const { metadata } = await client.create(
      "VolumeSnapshotContent",
      draftOf("VolumeSnapshotContent", { name }, { spec }),
    );
    const status = { snapshotHandle: name, readyToUse: true, creationTime: 1n, restoreSize: 1n };
    const body = { metadata: { resourceVersion: metadata.resourceVersion }, status };
    await client.patch({ kind: "VolumeSnapshotContent", name }, { type: "merge", body } as never, {
      subresource: "status",
    });
  };
  const width = 16;
  for (let index = 0; index < count; index += width)
    await Promise.all(Array.from({ length: Math.min(width, count - index) }, (_, offset) => one(index + offset)));
}

/** What the JavaScript heap consists of, after a collection of all garbage. */
async function printHeap(instance: Instance, contestant: Contestant): Promise<void> {
  const folder = instance.folder;
  const [daemon] = startAll(instance, contestant, ["--heapsnapshot-signal=SIGUSR2", `--diagnostic-dir=${folder}`]);
  if (daemon === undefined) return;
  await settled([daemon]);
  process.kill(daemon.pid, "SIGUSR2");
  const shares = await until({ what: "the heap is written", msMax: 60_000 }, (): HeapShares | undefined => {
    const [file] = globSync(join(folder, "*.heapsnapshot"));
    return file === undefined ? undefined : heapSharesIn(file);
  });
  await daemon.stop();
  console.log(`\n| JavaScript heap of ${contestant.name} after a collection | MiB |\n|---|---|`);
  for (const [what, bytes] of shares) console.log(`| ${what} | ${(bytes / 2 ** 20).toFixed(1)} |`);
}
