/** Whatever may be stored can be deleted: every shape of a content, and snapshots that were exported with our finalizers and applied again. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { finalizers } from "../../src/api/names.ts";
import type { ApiObject } from "../../src/apiserver/index.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { storedShapes } from "../stored-shapes.ts";
import { driver } from "./backend.ts";
import type { Sabotage } from "./components.ts";
import { aSnapshot } from "./fixtures.ts";
import { runOne } from "./run-one.ts";
import { fixtures } from "./scenario.ts";
import { scenarioNamed } from "./scenarios.ts";

const shapes = [...storedShapes(driver, ["delete", "missing", undefined])];
const contents = shapes.map(
  ({ name, metadata, spec, status }) =>
    ({
      apiVersion: "snapshot.storage.k8s.io/v1",
      kind: "VolumeSnapshotContent",
      metadata: { name, ...metadata },
      spec,
      ...(status === undefined ? {} : { status }),
    }) as unknown as ApiObject,
);

const own = [finalizers.snapshotAsSource, finalizers.snapshotBound];
const snapshotSources: Readonly<Record<string, JsonObject>> = {
  claim: { persistentVolumeClaimName: "data" },
  "missing-claim": { persistentVolumeClaimName: "missing" },
  content: { volumeSnapshotContentName: contents[0]?.metadata.name ?? "" },
  "missing-content": { volumeSnapshotContentName: "missing" },
  both: { persistentVolumeClaimName: "data", volumeSnapshotContentName: "missing" },
  neither: {},
};
const snapshots = Object.entries(snapshotSources).map(([name, source]) => {
  const { metadata, spec, ...rest } = aSnapshot(`of-${name}`) as unknown as ApiObject & { spec: JsonObject };
  return { ...rest, metadata: { ...metadata, finalizers: own }, spec: { ...spec, source } } as unknown as ApiObject;
});
const namesake = aSnapshot("namesake") as unknown as ApiObject;

/** What is left when a user has deleted everything. */
async function leftAfterDeletion(contents: readonly ApiObject[], sabotage: Sabotage = {}): Promise<readonly string[]> {
  let left: readonly string[] = [];
  const scenario = {
    ...scenarioNamed("invalid-stored"),
    objects: [...fixtures, namesake, ...snapshots, ...contents],
    entriesMax: 100_000,
    script: async (user: Parameters<ReturnType<typeof scenarioNamed>["script"]>[0]) => {
      for (const { metadata } of contents) await user.remove("VolumeSnapshotContent", metadata.name ?? "");
      await user.sleep(10_000);
      for (const { metadata } of [namesake, ...snapshots])
        await user.remove("VolumeSnapshot", `default/${metadata.name}`);
      await user.sleep(120_000);
      left = (["VolumeSnapshotContent", "VolumeSnapshot"] as const).flatMap((kind) => [
        ...user.seen.objects(kind).keys(),
      ]);
    },
  };
  await runOne({ scenario, seed: 1, faults: [], sabotage: () => sabotage });
  return left;
}

test(`each of ${contents.length} shapes of a content, and each snapshot, can be deleted`, async () =>
  assert.deepEqual(await leftAfterDeletion(contents), []));

test("without the rule for contents without a snapshot, those of a volume would stay", async () => {
  const applied = contents.filter(({ metadata }) => metadata.name?.startsWith("volume.without-uid.plain."));
  const left = await leftAfterDeletion(applied, {
    planContent: () => ({ actions: [], next: { kind: "settled" } }) as const,
  });
  assert.deepEqual([...left].sort(), applied.map(({ metadata }) => metadata.name).sort());
});
