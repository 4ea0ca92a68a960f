import assert from "node:assert/strict";
import { draftOf } from "../../../src/api/builders.ts";
import { snapshotCrds } from "../../../src/api/crds/index.ts";
import { leaseName, leaseNamespace } from "../../../src/api/manifests/snapshot-controller.ts";
import type { Client } from "../harness/client.ts";
import { connect } from "../harness/client.ts";
import { aBoundClaim, snapshotKindsServed, startComponent } from "../harness/components.ts";
import { proxyTo } from "../harness/fault-proxy.ts";
import type { Daemon } from "../harness/instance.ts";
import type { Scenario } from "../harness/scenario.ts";
import { type Combination, drivers, snapshotSuiteFor, type TestServer } from "../harness/snapshot-suites.ts";
import { leftovers, snapshotsOf } from "../harness/snapshots.ts";
import { until } from "../harness/until.ts";
import { callsOutside, groundOfV1beta1, snapshotGroup } from "../harness/v1beta1.ts";

/** The lease is somebody's else, so that the standby stands by. */
const withoutElection = ["--leader-election=false"];

/** A standby in v1beta1 that never leads: another holder has the lease. */
async function aStandby(place: TestServer): Promise<Daemon> {
  const spec = { holderIdentity: "somebody", leaseDurationSeconds: 3_600, renewTime: "2100-01-01T00:00:00.000000Z" };
  const lease = draftOf("Lease", { namespace: leaseNamespace, name: leaseName }, { spec });
  await place.connection.client.create("Lease", lease as never);
  const standby = await startComponent(place, "snapshot-controller", ["--leader-election"]);
  await until({ what: "it stands by" }, () => (/another replica leads/.test(standby.lastWords()) ? true : undefined));
  return standby;
}

async function replaceCrds(client: Client, phase: 2 | 3): Promise<void> {
  // Those who speak v1beta1 may go on in phase 2, and have to change to v1 in phase 3.
  for (const crd of snapshotCrds(phase, { serveV1beta1: true })) {
    const { metadata } = await client.get({ kind: "CustomResourceDefinition", name: crd.metadata.name ?? "" });
    const { resourceVersion } = metadata;
    await client.replace("CustomResourceDefinition", {
      ...crd,
      metadata: { ...crd.metadata, resourceVersion },
    } as never);
  }
}

/** A fresh pair, and a record of all it sends. */
async function startPair(place: TestServer, socket: string) {
  const { proxy, kubeconfig } = await proxyTo(place);
  const sent = proxy.record();
  const via = { ...place, kubeconfig };
  const pair = [
    await startComponent(via, "snapshot-controller", withoutElection),
    await startComponent(via, "csi-snapshotter", [`--csi-address=${socket}`]),
  ];
  return {
    sent,
    stop: async () => {
      for (const daemon of pair) await daemon.stop();
      await proxy.close();
    },
  };
}

async function play([kind]: Combination, place: TestServer): Promise<void> {
  const controller = await startComponent(place, "snapshot-controller", withoutElection);
  const stand = await snapshotSuiteFor(place, place.connection, await drivers[kind](place.instance));
  const modern = await connect(place.kubeconfig);
  try {
    for (const claim of ["old", "new"]) await aBoundClaim(stand.fixtures, claim);
    await stand.take("from-before", "old", stand.classes.delete);
    await stand.untilReady("from-before");
    const later = snapshotsOf({ ...stand.fixtures, client: modern.client });
    const standby = await aStandby(place);
    for (const daemon of [controller, stand.sidecar]) await daemon.stop();
    for (const phase of [2, 3] as const) {
      await replaceCrds(place.connection.client, phase);
      await snapshotKindsServed(modern.client);
      const pair = await startPair(place, stand.driver.socket);
      await later.take(`in-phase-${phase}`, "new", stand.classes.delete);
      await later.untilReady(`in-phase-${phase}`);
      await later.remove(`in-phase-${phase}`);
      assert.deepEqual(callsOutside("v1", pair.sent), []);
      assert.equal((await later.get("from-before")).status?.readyToUse, true);
      await pair.stop();
    }
    const released = { type: "merge", body: { spec: { holderIdentity: "" } } } as const;
    await modern.client.patch({ kind: "Lease", namespace: leaseNamespace, name: leaseName }, released);
    const sidecar = await stand.startSidecar();
    await later.take("by-the-standby", "new", stand.classes.delete);
    await later.untilReady("by-the-standby", 60_000);
    for (const name of ["by-the-standby", "from-before"]) await later.remove(name);
    assert.ok(standby.running(), standby.lastWords());
    for (const daemon of [standby, sidecar]) await daemon.stop();
    const crd = await modern.client.get({
      kind: "CustomResourceDefinition",
      name: `volumesnapshots.${snapshotGroup}`,
    });
    assert.deepEqual((crd as { status?: { storedVersions?: unknown } }).status?.storedVersions, ["v1beta1", "v1"]);
    assert.deepEqual(await leftovers({ ...stand.fixtures, client: modern.client }), []);
  } finally {
    modern.close();
    stand.fixtures.csi.close();
  }
}

/** On a cluster of its own, of the years before v1. */
export const storedversionsDroppedVersion: Scenario = {
  shows:
    "a v1beta1 cluster moves to v1 phase by phase of its CRDs and keeps its snapshots, because the stored version is never dropped",
  async play({ harness: context }) {
    const place = await groundOfV1beta1(context[1]);
    try {
      await play(context, place);
    } finally {
      place.stop();
    }
  },
};
