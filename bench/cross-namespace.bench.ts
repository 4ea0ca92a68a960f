/** One restore at a time on an idle real control plane: within a namespace, across, and through a link, turn by turn. */

import {
  type CrossNamespaces,
  crossNamespaces,
  grantSpec,
  owner,
  switches,
  type Way,
} from "../test/e2e/harness/cross-namespace.ts";
import { type TestServer, testServers } from "../test/e2e/harness/snapshot-suites.ts";
import { median } from "./support/compare.ts";

const turns = ["within", "ref", "link"] as const;
type Turn = (typeof turns)[number];
const grantsMax = 10_000;
/** Links stay: every restore has a name of its own. */
let restores = 0;

export async function run(chosen: ReadonlyMap<string, string>): Promise<void> {
  const place = await testServers["real control plane"]();
  const stage = await crossNamespaces(place, "hostpath");
  try {
    stage.startProvisioner(...switches);
    await measure(place, stage, chosen.has("--quick") ? 5 : 21);
  } finally {
    stage.stop();
  }
}

async function measure(place: TestServer, stage: CrossNamespaces, rounds: number): Promise<void> {
  for (const way of ["ref", "link"] as const) await stage.grant(`lend-${way}`, grantSpec(undefined, way));
  await report(place, stage, rounds, "one grant for each way");
  // All of them allow the same: the worst case for whoever looks at each.
  for (let index = 0; index < grantsMax; index += 100)
    await Promise.all(Array.from({ length: 100 }, (_, at) => stage.grant(`more-${index + at}`)));
  await report(place, stage, rounds, `${grantsMax.toLocaleString("en")} grants more in the namespace of the snapshot`);
}

async function report(place: TestServer, stage: CrossNamespaces, rounds: number, given: string): Promise<void> {
  const took: Record<Turn, number[]> = { within: [], ref: [], link: [] };
  const reads: Record<Turn, number[]> = { within: [], ref: [], link: [] };
  for (let round = 0; round <= rounds; round += 1)
    for (const turn of turns) {
      restores += 1;
      const { ms, count } = await oneRestore(place, stage, turn, `${turn}-${restores}`);
      // The first of each finds connections and code that are cold.
      if (round === 0) continue;
      took[turn].push(ms);
      reads[turn].push(count);
    }
  console.log(`${given}, ${rounds} restores of each kind, from the claim's creation until it is bound:`);
  for (const turn of turns) {
    const ratio = median(took[turn]) / median(took.within);
    console.log(
      `  ${turn.padEnd(7)} p50 ${median(took[turn]).toFixed(1)} ms, ${ratio.toFixed(2)}× of within, ${median(reads[turn])} reads by name`,
    );
  }
}

async function oneRestore({ plane, connection }: TestServer, stage: CrossNamespaces, turn: Turn, name: string) {
  const [way, source, namespace]: readonly [Way, string | undefined, string] =
    turn === "within" ? ["ref", undefined, owner] : [turn, owner, "test"];
  const from = plane?.auditPosition() ?? 0;
  const startedAt = performance.now();
  await stage.restore(name, way, source, namespace);
  await bound(connection.client, name, namespace);
  const ms = performance.now() - startedAt;
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
  return { ms, count };
}

/** Asked again and again without a pause: a poll's pause would be most of what is measured. */
async function bound(client: TestServer["connection"]["client"], name: string, namespace: string): Promise<void> {
  const ref = { kind: "PersistentVolumeClaim", namespace, name } as const;
  while ((await client.get(ref)).status?.phase !== "Bound");
}
