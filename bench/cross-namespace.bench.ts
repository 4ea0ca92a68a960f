/** One restore at a time on an idle real control plane: within a namespace, across, and through a link, turn by turn. */
import { draftOf } from "../src/api/builders.ts";
import { silent } from "../src/base/log.ts";
import { realWorld } from "../src/base/world.ts";
import { createStore } from "../src/kube/store.ts";
import { watchInto } from "../src/kube/stores.ts";
import {
  type CrossNamespaces,
  crossNamespaces,
  grantSpec,
  guest,
  owner,
  shared,
  snapshotNamed,
  switches,
} from "../test/e2e/harness/cross-namespace.ts";
import type { Daemon } from "../test/e2e/harness/instance.ts";
import { type TestServer, testServers } from "../test/e2e/harness/snapshot-suites.ts";
import { median } from "./support/compare.ts";
import { settledRequests } from "./support/requests.ts";
import { usageOf } from "./support/usage.ts";

const turns = ["within", "ref", "link"] as const;
type Turn = (typeof turns)[number];
const grantsMax = 10_000;
const link = "link";
let restores = 0;

interface Stage {
  readonly place: TestServer;
  readonly stage: CrossNamespaces;
  readonly provisioner: Daemon;
  /** Resolves when the claim of this name is bound. */
  bound(name: string): Promise<void>;
}

export async function run(chosen: ReadonlyMap<string, string>): Promise<void> {
  const place = await testServers["real control plane"]();
  const stage = await crossNamespaces(place, "hostpath");
  const ending = new AbortController();
  try {
    const provisioner = await stage.startProvisioner(...switches);
    const bound = await watchClaims(place, ending.signal);
    await measure({ place, stage, provisioner, bound }, chosen.has("--quick") ? 5 : 21);
  } finally {
    ending.abort();
    stage.stop();
  }
}

/** A watch: questions without a pause would keep the API server busy, and the pause of others would be most of what is measured. */
async function watchClaims({ connection }: TestServer, signal: AbortSignal): Promise<Stage["bound"]> {
  const store = createStore("PersistentVolumeClaim", { log: silent });
  void watchInto(connection.client, store, { world: realWorld, log: silent, signal });
  await store.whenSynced;
  return (name) =>
    new Promise((resolve) => {
      const leave = store.onChange((_before, after) => {
        if (after?.metadata.name !== name || after.status?.phase !== "Bound") return;
        leave();
        resolve();
      });
    });
}

async function measure(at: Stage, rounds: number): Promise<void> {
  const { stage, place } = at;
  for (const way of ["ref", "link"] as const) await stage.grant(`lend-${way}`, grantSpec(undefined, way));
  const spec = { source: { namespace: owner, name: shared } };
  const drafted = draftOf("VolumeSnapshotLink", { namespace: guest, name: link }, { spec });
  await place.connection.client.create("VolumeSnapshotLink", drafted);
  const few = await report(at, rounds, "one grant for each way");
  // All of them allow the same: the worst case for whoever looks at each.
  for (let index = 0; index < grantsMax; index += 100)
    await Promise.all(
      Array.from({ length: 100 }, (_, number) =>
        stage.grant(`more-${index + number}`, grantSpec(undefined, number % 2 === 0 ? "ref" : "link")),
      ),
    );
  // The server writes down and the caches take in what has come; that is not the cost of a restore.
  if (place.plane !== undefined) await settledRequests(place.plane, place.plane.auditPosition());
  const many = await report(
    at,
    rounds,
    `${grantsMax.toLocaleString("en")} grants more in the namespace of the snapshot`,
  );
  for (const turn of turns)
    console.log(
      `${turn}: with ${grantsMax.toLocaleString("en")} grants ${(many[turn].ms / few[turn].ms).toFixed(2)}× the time, ${(many[turn].cpuMs / few[turn].cpuMs).toFixed(2)}× the provisioner's processor time`,
    );
}

interface Cost {
  readonly ms: number;
  readonly cpuMs: number;
}

async function report(at: Stage, rounds: number, given: string): Promise<Readonly<Record<Turn, Cost>>> {
  const took: Record<Turn, number[]> = { within: [], ref: [], link: [] };
  const cpu: Record<Turn, number[]> = { within: [], ref: [], link: [] };
  const reads: Record<Turn, number[]> = { within: [], ref: [], link: [] };
  for (let round = 0; round <= rounds; round += 1)
    for (const turn of turns) {
      restores += 1;
      const { ms, cpuMs, count } = await oneRestore(at, turn, `${turn}-${restores}`);
      // The first of each finds connections and code that are cold.
      if (round === 0) continue;
      took[turn].push(ms);
      cpu[turn].push(cpuMs);
      reads[turn].push(count);
    }
  console.log(`${given}, ${rounds} restores of each kind, from the claim's creation until it is bound:`);
  const costOf = (turn: Turn): Cost => ({ ms: median(took[turn]), cpuMs: average(cpu[turn]) });
  const costs = { within: costOf("within"), ref: costOf("ref"), link: costOf("link") };
  for (const turn of turns) {
    const { ms, cpuMs } = costs[turn];
    console.log(
      `  ${turn.padEnd(7)} p50 ${ms.toFixed(1)} ms, ${(ms / costs.within.ms).toFixed(2)}× of within, ${cpuMs.toFixed(1)} ms of the provisioner's processor time, ${median(reads[turn])} reads by name`,
    );
  }
  return costs;
}

/** The kernel counts in hundredths of a second: only the sum of many says something. */
const average = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1);

async function oneRestore({ place: { plane }, stage, provisioner, bound }: Stage, turn: Turn, name: string) {
  const namespace = turn === "within" ? owner : guest;
  const source = {
    within: snapshotNamed(shared),
    ref: { ...snapshotNamed(shared), namespace: owner },
    link: { ...snapshotNamed(link), kind: "VolumeSnapshotLink" },
  };
  const from = plane?.auditPosition() ?? 0;
  const cpuBefore = usageOf(provisioner.pid).cpuSeconds;
  const done = bound(name);
  const startedAt = performance.now();
  await stage.claim(name, { dataSourceRef: source[turn] }, { namespace });
  await done;
  const ms = performance.now() - startedAt;
  const cpuMs = (usageOf(provisioner.pid).cpuSeconds - cpuBefore) * 1_000;
  const count =
    plane
      ?.auditLog(from)
      .filter(
        ({ verb, userAgent, objectRef }) =>
          verb === "get" &&
          userAgent?.startsWith("csi-provisioner") &&
          /^volumesnapshot|^referencegrants$/.test(objectRef?.resource ?? ""),
      ).length ?? 0;
  await stage.remove(name, namespace);
  return { ms, cpuMs, count };
}
