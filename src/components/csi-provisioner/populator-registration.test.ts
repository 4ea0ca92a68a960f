/** The registration of VolumeSnapshotLinks, and what volume-data-source-validator says of claims by it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type AcrossStage, byLink, owner, ref, setUpAcross, snapshotGroup } from "../../../test/across-namespaces.ts";
import { type ValidatorResult, validatorResult } from "../../../test/data-source-validator.ts";
import { draftOf } from "../../api/builders.ts";
import type { KubeObject } from "../../api/types.ts";

const populatorsOf = async ({ world, api }: AcrossStage): Promise<readonly KubeObject[]> =>
  (await world.run(api.list("VolumePopulator"))).objects;

const sources: readonly [given: string, spec: object, before: ValidatorResult, after: ValidatorResult][] = [
  ["a VolumeSnapshotLink", byLink("bridge"), "invalid", "populator"],
  ["a VolumeSnapshot of another namespace", ref(), "snapshot", "snapshot"],
  [
    "a claim",
    { dataSourceRef: { apiGroup: null, kind: "PersistentVolumeClaim", name: "data", namespace: owner } },
    "pvc",
    "pvc",
  ],
  ["nothing", {}, "empty", "empty"],
  [
    "a link of another group",
    { dataSourceRef: { apiGroup: "example.com", kind: "VolumeSnapshotLink", name: "bridge" } },
    "invalid",
    "invalid",
  ],
];
for (const [given, spec, before, after] of sources)
  test(`volume-data-source-validator has "${before}" for a claim that names ${given} before the provisioner runs, and "${after}" then`, async () => {
    const stage = await setUpAcross();
    const claim = await stage.claim("copy", spec);
    const result = async (): Promise<ValidatorResult> => validatorResult(claim, await populatorsOf(stage));
    assert.equal(await result(), before);
    await stage.start();
    await stage.world.advance(1_000);
    assert.equal(await result(), after);
    await stage.end();
  });

test("links are registered once: another VolumePopulator for them is enough, whatever its name", async () => {
  const stage = await setUpAcross();
  const sourceKind = { group: snapshotGroup, kind: "VolumeSnapshotLink" };
  const draft = draftOf("VolumePopulator", { name: "of-another-driver" }, { sourceKind } as never);
  await stage.world.run(stage.api.create("VolumePopulator", draft));
  const first = await stage.start();
  await stage.world.advance(61_000);
  const names = async () =>
    (await stage.world.run(stage.api.list("VolumePopulator"))).objects.map(({ metadata }) => metadata.name);
  assert.deepEqual(await names(), ["of-another-driver"]);
  await first.stop();
  await stage.world.run(stage.api.delete({ kind: "VolumePopulator", name: "of-another-driver" }));
  const second = await stage.start();
  await stage.world.advance(1_000);
  assert.deepEqual(await names(), ["volumesnapshotlink"]);
  await second.stop();
  assert.deepEqual(await names(), ["volumesnapshotlink"], "it outlives the provisioner");
  await stage.end();
});
