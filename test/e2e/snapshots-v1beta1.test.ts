/** A cluster of the years before v1: CRDs that serve v1beta1 alone and do not check what later ones do. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { draftOf } from "../../src/api/builders.ts";
import { snapshotCrds } from "../../src/api/crds/index.ts";
import { type Connection, connect } from "./harness/client.ts";
import { aBoundClaim, snapshotKindsServed, startComponent } from "./harness/components.ts";
import { type ControlPlane, startControlPlane } from "./harness/control-plane.ts";
import type { Daemon } from "./harness/instance.ts";
import { leftovers, snapshotsOf } from "./harness/snapshots.ts";
import { drivers, type Stand, standFor } from "./harness/stands.ts";
import { until } from "./harness/until.ts";

const namespace = "default";
const group = "snapshot.storage.k8s.io";
/** Told apart in the audit log by its token. */
const bystander = "bystander";
const crdPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

describe("a cluster that serves v1beta1 alone", () => {
  let plane: ControlPlane;
  let connection: Connection;
  let stand: Stand;
  let controller: Daemon;
  before(async () => {
    plane = await startControlPlane({ tokens: [{ token: "its-token", user: bystander, groups: ["system:masters"] }] });
    connection = await connect(plane.kubeconfig, { versions: { [group]: "v1beta1" } });
    for (const crd of snapshotCrds(1)) await connection.client.create("CustomResourceDefinition", crd);
    await snapshotKindsServed(connection.client);
    controller = startComponent(plane, "snapshot-controller");
    stand = await standFor(plane, connection, await drivers["directory-driver"](plane.instance));
    await aBoundClaim(stand.furniture, "data");
  });
  after(() => {
    stand?.furniture.csi.close();
    connection?.close();
    plane?.stop();
  });

  test("is found out by discovery, and snapshots come and go in its own version", async () => {
    await stand.take("old", "data", stand.classes.delete);
    await stand.untilReady("old");
    await stand.remove("old");
    assert.deepEqual(callsOutside("v1beta1"), []);
  });

  const unclear = {
    both: { persistentVolumeClaimName: "data", volumeSnapshotContentName: "any" },
    neither: {},
  };
  for (const [which, source] of Object.entries(unclear))
    test(`a snapshot with ${which} of the two sources is told so, is cut once one is left, and never stops the others`, async () => {
      const spec = { source, volumeSnapshotClassName: stand.classes.delete };
      await connection.client.create("VolumeSnapshot", draftOf("VolumeSnapshot", { namespace, name: which }, { spec }));
      const told = /Exactly one of PersistentVolumeClaimName and VolumeSnapshotContentName should be specified/;
      await stand.untilTold(which, told);
      await until({ what: "there is an event" }, async () =>
        (await connection.client.list("Event", { namespace })).objects.some(
          ({ reason, involvedObject }) => reason === "SnapshotValidationError" && involvedObject.name === which,
        )
          ? true
          : undefined,
      );
      await stand.take("bystander", "data", stand.classes.delete);
      await stand.untilReady("bystander");
      await stand.remove("bystander");
      const one = { persistentVolumeClaimName: "data", volumeSnapshotContentName: null };
      await connection.client.patch(stand.ref(which), { type: "merge", body: { spec: { source: one } } });
      assert.equal((await stand.untilReady(which)).status?.error, undefined);
      await stand.remove(which);
    });

  test("a snapshot with no source can be deleted as it is", async () => {
    const spec = { source: {} };
    await connection.client.create(
      "VolumeSnapshot",
      draftOf("VolumeSnapshot", { namespace, name: "hopeless" }, { spec }),
    );
    await stand.untilTold("hopeless", /Exactly one/);
    await stand.remove("hopeless");
  });

  test("a content whose handle is empty is told so, as is its snapshot, and both are served once it is given", async () => {
    await stand.take("original", "data", stand.classes.retain);
    await stand.untilReady("original");
    const { snapshotHandle } = (await stand.contentOf("original")).status ?? {};
    const ref = { kind: "VolumeSnapshotContent", name: "by-hand" } as const;
    const volumeSnapshotRef = { namespace, name: "adopted" };
    const source = { snapshotHandle: "" };
    const spec = { driver: stand.furniture.driver, deletionPolicy: "Delete" as const, source, volumeSnapshotRef };
    await connection.client.create("VolumeSnapshotContent", draftOf("VolumeSnapshotContent", ref, { spec }));
    const adopting = { source: { volumeSnapshotContentName: ref.name } };
    await connection.client.create(
      "VolumeSnapshot",
      draftOf("VolumeSnapshot", { namespace, name: "adopted" }, { spec: adopting }),
    );
    await stand.untilTold(
      "adopted",
      /of VolumeSnapshotContent by-hand has neither \(an empty handle is none\); give one/,
    );
    await connection.client.patch(ref, { type: "merge", body: { spec: { source: { snapshotHandle } } } });
    assert.equal((await stand.untilReady("adopted")).status?.error, undefined);
    assert.equal((await connection.client.get(ref)).status?.error, undefined);
    await stand.remove("original");
    await stand.remove("adopted");
    const left = (await connection.client.list("VolumeSnapshotContent")).objects;
    for (const { metadata } of left) await connection.client.delete({ kind: ref.kind, name: metadata.name });
    for (const { metadata } of left) await stand.untilGone({ kind: ref.kind, name: metadata.name });
    assert.deepEqual(await stand.handles(), []);
  });

  const told =
    /^Exactly one of VolumeHandle and SnapshotHandle should be specified: .* has (both; leave|neither .*; give) one/;
  const twoOrNone = { both: { volumeHandle: "v", snapshotHandle: "s" }, neither: {} };
  for (const [which, source] of Object.entries(twoOrNone))
    test(`a content with ${which} of the two handles is told so, is never brought before the driver, and can be deleted`, async () => {
      const volumeSnapshotRef = { namespace, name: "nobody", uid: "0d1f4c52-5b6e-4f0c-9f0e-1f2d3c4b5a69" };
      const spec = { driver: stand.furniture.driver, deletionPolicy: "Delete" as const, source, volumeSnapshotRef };
      const ref = { kind: "VolumeSnapshotContent", name: `content-with-${which}` } as const;
      await connection.client.create("VolumeSnapshotContent", draftOf("VolumeSnapshotContent", ref, { spec }));
      await until({ what: "there is an event" }, async () =>
        (await connection.client.list("Event")).objects.some(
          ({ reason, message, involvedObject }) =>
            reason === "ContentValidationError" && involvedObject.name === ref.name && told.test(message ?? ""),
        )
          ? true
          : undefined,
      );
      const { status } = await connection.client.get(ref);
      assert.match(status?.error?.message ?? "", told);
      assert.deepEqual([status?.readyToUse, status?.snapshotHandle], [false, undefined]);
      await connection.client.delete(ref);
      await stand.untilGone(ref);
    });

  test("vs-without-class-without-pvc: neither class nor claim is told, and crashes nobody (CVE-2020-8569)", async () => {
    await stand.take("nothing", "missing");
    await stand.untilTold("nothing", /claim default\/missing not found: create it/);
    await stand.remove("nothing");
    for (const daemon of [controller, stand.sidecar]) assert.ok(daemon.running(), daemon.lastWords());
    assert.deepEqual(await leftovers(stand.furniture), []);
  });

  test("storedversions-dropped-version: goes on in v1 once its CRDs do, phase by phase, with the snapshots it had, for the version they were stored in is never dropped", async () => {
    await stand.take("from-before", "data", stand.classes.delete);
    await stand.untilReady("from-before");
    const modern = await connect(plane.kubeconfig);
    const later = snapshotsOf({ ...stand.furniture, client: modern.client });
    let running: readonly Daemon[] = [controller, stand.sidecar];
    const standby = await aStandby();
    for (const phase of [2, 3] as const) {
      for (const crd of snapshotCrds(phase)) await replaceCrd(crd);
      await snapshotKindsServed(modern.client);
      for (const daemon of running) await daemon.stop();
      const from = plane.auditMark();
      running = [
        startComponent(plane, "snapshot-controller"),
        startComponent(plane, "csi-snapshotter", [`--csi-address=${stand.driver.socket}`]),
      ];
      await later.take(`in-phase-${phase}`, "data", stand.classes.delete);
      await later.untilReady(`in-phase-${phase}`);
      await later.remove(`in-phase-${phase}`);
      assert.deepEqual(callsOutside("v1", from), []);
      assert.equal((await later.get("from-before")).status?.readyToUse, true);
      if (phase === 2) assert.ok(standby.running(), standby.lastWords());
    }
    await standby.ended;
    assert.match(
      standby.lastWords(),
      new RegExp(`no longer serves ${group}/v1beta1, but v1; ending so that a fresh start`),
    );
    const { text } = await plane.request("GET", `${crdPath}/volumesnapshots.${group}`);
    assert.deepEqual(JSON.parse(text).status.storedVersions, ["v1beta1", "v1"]);
    await later.remove("from-before");
    assert.deepEqual(await leftovers({ ...stand.furniture, client: modern.client }), []);
    modern.close();
  });

  /** One that follows in v1beta1 and never leads: somebody else holds the lease. */
  async function aStandby(): Promise<Daemon> {
    const spec = { holderIdentity: "somebody", leaseDurationSeconds: 3_600, renewTime: "2100-01-01T00:00:00.000000Z" };
    const lease = draftOf("Lease", { namespace, name: "snapshot-controller-leader" }, { spec });
    await connection.client.create("Lease", lease as never);
    const place = { instance: plane.instance, kubeconfig: plane.kubeconfigFor(bystander, "its-token") };
    const standby = startComponent(place, "snapshot-controller", ["--leader-election"]);
    await until({ what: "it stands by" }, () => (/another one leads/.test(standby.lastWords()) ? true : undefined));
    return standby;
  }

  /**
   * What our components asked the group for in another version than this. Watches aside: they are recorded when they end, which may
   * be after their process was stopped; and nobody watches who has not listed before.
   */
  function callsOutside(version: string, from = 0): readonly string[] {
    const calls = plane
      .auditLog(from)
      .filter(
        ({ verb, user, userAgent, requestURI }) =>
          verb !== "watch" &&
          user.username !== bystander &&
          /snapkeep-/.test(userAgent ?? "") &&
          requestURI.includes(`/${group}/`),
      );
    assert.ok(calls.length > 0);
    return calls.map(({ requestURI }) => requestURI).filter((uri) => !uri.startsWith(`/apis/${group}/${version}/`));
  }

  async function replaceCrd(crd: ReturnType<typeof snapshotCrds>[number]): Promise<void> {
    const path = `${crdPath}/${crd.metadata.name}`;
    const { metadata } = JSON.parse((await plane.request("GET", path)).text);
    const { resourceVersion } = metadata;
    const { status, text } = await plane.request("PUT", path, {
      ...crd,
      metadata: { ...crd.metadata, resourceVersion },
    });
    assert.equal(status, 200, text);
  }
});
