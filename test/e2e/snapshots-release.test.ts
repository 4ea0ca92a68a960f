/**
 * Ours in place of the release's images, with nothing else of its deploy folder changed: the arguments of its manifests, its
 * CRDs, and tokens that may do exactly what its RBAC files allow.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { draftOf } from "../../src/api/builders.ts";
import { referenceGrantCrd } from "../../src/api/crds/reference-grant.ts";
import { type Connection, connect } from "./harness/client.ts";
import {
  aBoundClaim,
  aClassFor,
  csiClientTo,
  type Fixtures,
  grantsServed,
  startComponent,
} from "./harness/components.ts";
import { type ControlPlane, startControlPlane } from "./harness/control-plane.ts";
import { installCrds } from "./harness/crds.ts";
import { startDirectoryDriver } from "./harness/directory-driver.ts";
import {
  accounts,
  components,
  deniedCalls,
  eventsWritten,
  installRelease,
  placeOf,
  releaseTokens,
  startAsReleased,
} from "./harness/release.ts";
import { leftovers, type Snapshots, snapshotsOf } from "./harness/snapshots.ts";
import { until } from "./harness/until.ts";

describe("with the release's own manifests, CRDs and RBAC", () => {
  const namespace = "default";
  let plane: ControlPlane;
  let connection: Connection;
  let fixtures: Fixtures;
  let snapshots: Snapshots;

  before(async () => {
    plane = await startControlPlane({ tokens: releaseTokens });
    connection = await connect(plane.kubeconfig);
    await installRelease(plane, connection.client, "as shipped");
    await installCrds(connection.client, [referenceGrantCrd()]);
    await grantsServed(connection.client);
    const driver = await startDirectoryDriver(plane.instance);
    fixtures = { client: connection.client, csi: csiClientTo(driver.socket), driver: driver.driver, namespace };
    snapshots = snapshotsOf(fixtures);
    await startAsReleased(plane, "snapshot-controller");
    await startAsReleased(plane, "csi-snapshotter", { ADDRESS: driver.socket });
    await aClassFor(fixtures, "delete", "Delete");
    await aClassFor(fixtures, "retain", "Retain");
  });
  after(() => {
    fixtures?.csi.close();
    connection?.close();
    plane?.stop();
  });

  test("the tokens have exactly the rights of the RBAC files", async () => {
    const claim = `/api/v1/namespaces/${namespace}/persistentvolumeclaims/any`;
    for (const component of components) {
      const { token } = accounts[component];
      assert.equal((await plane.request("DELETE", claim, undefined, token)).status, 403, component);
    }
  });

  test("the whole lifecycle of a snapshot works without one denied request", async () => {
    const from = plane.auditPosition();
    await aBoundClaim(fixtures, "data");
    await snapshots.take("gone", "data", "delete");
    await snapshots.take("kept", "data", "retain");
    await snapshots.untilReady("gone");
    await snapshots.untilReady("kept");
    const kept = await snapshots.contentOf("kept");
    await snapshots.remove("gone");
    await snapshots.remove("kept");
    await fixtures.client.delete({ kind: "VolumeSnapshotContent", name: kept.metadata.name });
    await snapshots.untilGone({ kind: "VolumeSnapshotContent", name: kept.metadata.name });
    await adoptAndRemove(kept.status?.snapshotHandle ?? "");
    await snapshots.take("wrong", "missing", "delete");
    await snapshots.untilReported("wrong", /missing/);
    await snapshots.remove("wrong");
    await snapshots.untilUnprotected("data");
    assert.deepEqual(await leftovers(fixtures), []);

    // Events are never in the way: they may come after everything else.
    await until({ what: "an event was written with these tokens" }, () =>
      eventsWritten(plane, from) > 0 ? true : undefined,
    );
    const ofLeases = await fixtures.client.list("Event", { fieldSelector: "reason=LeaderElection" });
    assert.match(ofLeases.objects.map(({ message }) => message).join("\n"), /became leader/);
    assert.deepEqual(
      deniedCalls(plane).filter((call) => !call.endsWith("/any")),
      [],
    );
  });

  test("ReferenceGrants, which the RBAC files do not allow to read, are never read", () => {
    const about = plane.auditLog(0).filter(({ userAgent }) => userAgent?.startsWith("snapshot-controller/"));
    const asked = about.filter(({ objectRef }) => objectRef?.resource === "selfsubjectaccessreviews");
    assert.deepEqual(
      [asked.length > 0, asked.filter(({ responseStatus }) => responseStatus?.code !== 201)],
      [true, []],
    );
    assert.deepEqual(
      about.filter(({ objectRef }) => objectRef?.resource === "referencegrants"),
      [],
    );
  });

  async function adoptAndRemove(snapshotHandle: string): Promise<void> {
    const spec = {
      deletionPolicy: "Delete" as const,
      driver: fixtures.driver,
      source: { snapshotHandle },
      volumeSnapshotRef: { namespace, name: "adopted" },
    };
    const content = draftOf("VolumeSnapshotContent", { name: "adopted" }, { spec });
    await fixtures.client.create("VolumeSnapshotContent", content);
    const source = { volumeSnapshotContentName: "adopted" };
    const snapshot = draftOf("VolumeSnapshot", { namespace, name: "adopted" }, { spec: { source } });
    await fixtures.client.create("VolumeSnapshot", snapshot);
    await snapshots.untilReady("adopted");
    await snapshots.remove("adopted");
  }

  test("the lease has the name and place that upstream's replicas look for", async () => {
    const name = "snapshot-controller-leader";
    const lease = await fixtures.client.get({ kind: "Lease", namespace: "kube-system", name });
    assert.ok(lease.spec?.holderIdentity);
  });

  test("with distributed snapshotting and these rules the controller does not start, and names the missing rule", async () => {
    const flags = ["--enable-distributed-snapshotting", "--retry-crd-interval-max=1s"];
    const place = placeOf(plane, "snapshot-controller");
    const controller = await startComponent(place, "snapshot-controller", flags, { as: "release" });
    await controller.ended;
    assert.match(controller.lastWords(), /nodes is forbidden: User ".*" cannot list resource "nodes"/);
  });
});
