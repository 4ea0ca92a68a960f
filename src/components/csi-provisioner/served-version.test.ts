/** Restores while the CRDs of snapshots move through the phases: the provisioner speaks the version that is served. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { goodGrant, linksOf, monday, owner, setUpAcross, snapshotGroup } from "../../../test/across-namespaces.ts";
import { replaceCrds } from "../../../test/crd-phases.ts";
import { crossNamespaceCrds } from "../../api/crds/cross-namespace.ts";
import { type CrdPhase, snapshotCrds } from "../../api/crds/index.ts";
import { referenceGrantCrd } from "../../api/crds/reference-grant.ts";

const source = { apiGroup: snapshotGroup, kind: "VolumeSnapshot", name: "monday" };
/** Much less than the time after which the provisioner looks whether a kind is served. */
const soonMs = 5_000;

for (const phases of [
  [1, 2, 1, 3],
  [3, 2, 1, 2],
] as const satisfies readonly (readonly CrdPhase[])[])
  test(`a running provisioner restores soon in each of the phases ${phases.join(", ")}`, async () => {
    const definitions = [...snapshotCrds(phases[0]), referenceGrantCrd(), ...crossNamespaceCrds()];
    const stage = await setUpAcross({ server: { definitions } });
    await stage.snapshot("monday", "s-1");
    await stage.grant("lend", goodGrant);
    await stage.grant("lend-to-links", { ...goodGrant, from: [linksOf("test")], to: [monday] });
    await stage.start();
    await stage.world.advance(soonMs);
    for (const [index, phase] of phases.entries()) {
      if (index > 0) await stage.world.run(replaceCrds(stage.api, snapshotCrds(phase)));
      await stage.claim(`own-${index}`, { dataSource: source }, owner);
      await stage.claim(`ref-${index}`, { dataSourceRef: { ...source, namespace: owner } });
      await stage.link(`link-${index}`, { namespace: owner, name: "monday" });
      const byLink = { apiGroup: snapshotGroup, kind: "VolumeSnapshotLink", name: `link-${index}` };
      await stage.claim(`link-${index}`, { dataSourceRef: byLink });
      await stage.world.advance(soonMs);
      assert.equal(stage.created.length, 3 * (index + 1), `in phase ${phase}`);
    }
    assert.deepEqual([...new Set(stage.created)], ["s-1"]);
    assert.equal((await stage.published()).length, 3 * phases.length);
    // The finalizer of a restore is removed in whatever version is served by then.
    const ref = { kind: "VolumeSnapshot", namespace: owner, name: "monday" } as const;
    assert.equal((await stage.world.run(stage.api.get(ref))).metadata.finalizers, undefined);
    await stage.end();
  });

test("a claim that waits in phase 1 is triggered by its snapshot in phase 2", async () => {
  const definitions = [...snapshotCrds(1), referenceGrantCrd(), ...crossNamespaceCrds()];
  const stage = await setUpAcross({ server: { definitions } });
  await stage.start();
  await stage.claim("early", { dataSource: source }, owner);
  await stage.world.advance(120_000);
  await stage.world.run(replaceCrds(stage.api, snapshotCrds(2)));
  await stage.world.advance(soonMs);
  await stage.snapshot("monday", "s-1");
  await stage.world.advance(1_000);
  assert.deepEqual(stage.created, ["s-1"]);
  await stage.end();
});
