/** The claim's protection against deletion while a snapshot is taken of it. */
import { setTimeout as sleep } from "node:timers/promises";
import { isThere } from "../../harness/snapshots.ts";
import { until } from "../../harness/until.ts";
import type { Script, ScriptedDriver } from "../driver.ts";
import type { Row, ScenarioRow } from "../row.ts";
import { message } from "../wire.ts";

/** Answers about the first snapshot at once, about others when it gets another script. */
const afterTheFirst = (first: string): Script => ({
  createSnapshot: async ({ request, honest, mended }) => {
    if (request.name !== first) await mended;
    return message(honest());
  },
});

const untilAsked = (driver: ScriptedDriver, count: number) =>
  until({ what: `the driver has ${count} CreateSnapshot calls` }, () => [...new Set(driver.asked.create)][count - 1]);

const heldMsMax = 5_000;
const seenMs = 2_000;

/**
 * The controller lets the claim go after the first snapshot; while that write is under way, a second one is asked for, and the user
 * deletes the claim in the middle of its CreateSnapshot.
 */
async function secondSnapshotMeanwhile(scenario: ScenarioRow): Promise<readonly string[]> {
  const { client, driver, namespace, proxy, take } = scenario;
  const claim = { kind: "PersistentVolumeClaim", namespace, name: "data" } as const;
  await take("first");
  const first = await untilAsked(driver, 1);
  const isRelease = new RegExp(`^(PUT|PATCH) /api/v1/namespaces/${namespace}/persistentvolumeclaims/data\\b`);
  const { held, release } = proxy.hold((request) => isRelease.test(request));
  driver.act(afterTheFirst(first));
  await Promise.race([held, sleep(heldMsMax)]);
  await take("second");
  await sleep(seenMs);
  release();
  await untilAsked(driver, 2);
  await client.delete(claim);
  await sleep(seenMs);
  if (!(await isThere(scenario, claim))) scenario.claimWentEarly();
  driver.act({});
  return ["first", "second"];
}

export const claimRows: readonly Row[] = [
  {
    driver: "takes a second snapshot while the claim is being released after the first, and the claim is deleted",
    script: afterTheFirst("none"),
    user: secondSnapshotMeanwhile,
  },
];
