/** One scenario: what is predicted, and what then happens in a cluster with other latencies and a storage system of its own. */
import { type KubeObject, keyOf } from "../../src/api/types.ts";
import type { DriverCall } from "../../src/cli/what-if/driver.ts";
import { withoutDates } from "../../src/cli/what-if/effect.ts";
import { type Change, type Rest, restOf } from "../../src/cli/what-if/predict.ts";
import { splitBy } from "../../src/cli/what-if/related.ts";
import { changeOf, livedCluster } from "./scenario.ts";

interface Ending {
  readonly refused: string | undefined;
  readonly objects: readonly string[];
  readonly keys: readonly string[];
  readonly calls: readonly string[];
}

export interface Compared {
  readonly seed: number;
  readonly change: Change;
  readonly told: Ending;
  readonly real: Ending;
}

export async function compare(seed: number): Promise<Compared> {
  const cluster = await livedCluster(seed);
  const before = cluster.objects();
  const change = changeOf(seed, before);
  const { rest, refused } = await restOf(splitBy(before, change), change, cluster.world.now());
  const told = { refused, ...comparable(rest, before) };
  const answer = await cluster.apply(change);
  await cluster.rest();
  const real = { refused: answer, ...comparable({ objects: cluster.objects(), calls: cluster.calls() }, before) };
  await cluster.stop();
  return { seed, change, told, real };
}

/** Each run gives new objects uids of its own, and its driver handles. */
function comparable({ objects, calls }: Pick<Rest, "objects" | "calls">, before: readonly KubeObject[]) {
  const known = new Set(before.map(({ metadata }) => metadata.uid));
  const fresh = objects.filter(({ metadata }) => !known.has(metadata.uid));
  const names = new Map(
    fresh.map((object) => [
      object.metadata.uid,
      `uid-of-${object.kind}-${object.metadata.name.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, "")}`,
    ]),
  );
  const renamed = (text: string): string => {
    let result = text;
    for (const [uid, name] of names) result = result.replaceAll(uid, name);
    return result;
  };
  return {
    objects: objects.map((object) => renamed(JSON.stringify(withoutHandles(object)))).toSorted(),
    keys: objects.map((object) => renamed(`${object.kind} ${keyOf(object)}`)).toSorted(),
    calls: calls.map((call) => renamed(JSON.stringify(callWithoutHandle(call)))).toSorted(),
  };
}

/** "handle-NAME-3" and "volume-NAME-3" of the simulated storage system are NAME for the driver that only notes. */
const handle = /"(?:handle|volume)-((?:snapshot|pvc)-[0-9a-f-]{36})-\d+"/g;
const withoutHandles = (object: KubeObject): unknown =>
  JSON.parse(JSON.stringify(withoutDates(object)).replace(handle, '"$1"'));
const callWithoutHandle = (call: DriverCall): unknown => JSON.parse(JSON.stringify(call).replace(handle, '"$1"'));
