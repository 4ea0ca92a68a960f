/** Restores from other namespaces that succeed: every way to name the source, what is counted, and what is registered. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  assertDenied,
  byLink,
  guest,
  linksOf,
  monday,
  owner,
  ref,
  setUpAcross,
} from "../../../../test/across-namespaces.ts";
import { claimRulesPlugins, volumeBinder } from "../../../apiserver/index.ts";
import { Fault } from "../../../base/fault.ts";

test("attempts, denials and successes are counted by class and by what names the source", async () => {
  const stage = await setUpAcross();
  await stage.snapshot("monday", "s-1");
  const { metrics } = await stage.start();
  await stage.claim("copy", ref());
  await stage.link("abroad", { name: "monday", namespace: owner });
  await stage.claim("linked", byLink("abroad"));
  await stage.world.advance(2_000);
  await stage.grant("claims");
  await stage.grant("links", { from: [linksOf(guest)], to: [monday] });
  await stage.world.advance(2_000);
  const text = await metrics();
  for (const source of ["ref", "link"]) {
    assert.match(
      text,
      new RegExp(`cross_namespace_persistentvolumeclaim_provision_total\\{class="fast",source="${source}"\\} 1`),
    );
    assert.match(
      text,
      new RegExp(`cross_namespace_persistentvolumeclaim_provision_failed_total\\{class="fast",source="${source}"\\} 1`),
    );
  }
  await stage.end();
});

for (const [rules, field] of [
  ["documents", "dataSourceRef2"],
  ["documents-exclusive", "crossNamespaceDataSourceRef"],
] as const)
  test(`a claim that names its source in ${field} waits for a grant, and is restored with it`, async () => {
    const featureGates = { AnyVolumeDataSource: true, CrossNamespaceVolumeDataSource: true };
    const stage = await setUpAcross({ server: { plugins: [volumeBinder, claimRulesPlugins[rules]], featureGates } });
    await stage.snapshot("monday", "s-1");
    await stage.start();
    await stage.claim("copy", { [field]: ref().dataSourceRef });
    await assertDenied(stage);
    await stage.grant("lend");
    await stage.world.advance(1_000);
    assert.deepEqual(stage.created, ["s-1"]);
    await stage.end();
  });

test("an error of the driver is told to who has a grant, and is repeated with it", async () => {
  const stage = await setUpAcross({
    afterCreate: (count) => {
      if (count === 1) throw new Fault("Internal", "not yet");
    },
  });
  await stage.snapshot("monday", "s-1");
  await stage.grant("lend");
  await stage.start();
  await stage.claim("copy", ref());
  await stage.world.advance(30_000);
  assert.deepEqual(stage.created, ["s-1", "s-1"]);
  assert.equal((await stage.published()).length, 1);
  await stage.end();
});
