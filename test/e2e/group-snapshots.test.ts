/** A group of two volumes with our pair, upstream's, and both mixed ones: the same script, and the same end. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { draftOf } from "../../src/api/builders.ts";
import { groupSnapshotCrds } from "../../src/api/crds/group-snapshots.ts";
import type { KindName } from "../../src/api/kinds.ts";
import { type Connection, connect } from "./harness/client.ts";
import { aBoundClaim, csiClientTo, type Fixtures, installSnapshotCrds, startComponent } from "./harness/components.ts";
import { type ControlPlane, startControlPlane } from "./harness/control-plane.ts";
import { installCrds } from "./harness/crds.ts";
import { type DirectoryDriverProcess, startDirectoryDriver } from "./harness/directory-driver.ts";
import { until } from "./harness/until.ts";
import { startUpstream, unthrottled } from "./harness/upstream.ts";

type Maker = "ours" | "upstream";
const pairs: readonly (readonly [controller: Maker, sidecar: Maker])[] = [
  ["ours", "ours"],
  ["ours", "upstream"],
  ["upstream", "ours"],
  ["upstream", "upstream"],
];
const kinds = [
  "VolumeGroupSnapshot",
  "VolumeGroupSnapshotContent",
  "VolumeSnapshot",
  "VolumeSnapshotContent",
] as const satisfies readonly KindName[];
const labels = { app: "db" };
/** Upstream looks again at a group that was not ready only now and then. */
const looksAgain = ["--resync-period=5s", "--retry-interval-max=2s"];

describe("group snapshots on a real control plane", () => {
  const namespace = "default";
  let plane: ControlPlane;
  let connection: Connection;
  let driver: DirectoryDriverProcess;
  let fixtures: Fixtures;

  before(async () => {
    plane = await startControlPlane();
    connection = await connect(plane.kubeconfig);
    const { client } = connection;
    await installSnapshotCrds(client);
    await installCrds(client, groupSnapshotCrds());
    await until({ what: "groups are served" }, () =>
      client.list("VolumeGroupSnapshotClass").then(
        () => true as const,
        () => undefined,
      ),
    );
    driver = await startDirectoryDriver(plane.instance);
    fixtures = { client, csi: csiClientTo(driver.socket), driver: driver.driver, namespace };
    const policy = { driver: driver.driver, deletionPolicy: "Delete" } as const;
    await client.create("VolumeGroupSnapshotClass", draftOf("VolumeGroupSnapshotClass", { name: "groups" }, policy));
    for (const name of ["data", "log"]) {
      await aBoundClaim(fixtures, name);
      const ref = { kind: "PersistentVolumeClaim", namespace, name } as const;
      await client.patch(ref, { type: "merge", body: { metadata: { labels } } });
    }
  });
  after(() => {
    fixtures?.csi.close();
    connection?.close();
    plane?.stop();
  });

  const start = (maker: Maker, component: "snapshot-controller" | "csi-snapshotter") => {
    const socket = component === "csi-snapshotter" ? [`--csi-address=${driver.socket}`] : [];
    if (maker === "ours") return startComponent(plane, component, socket);
    const gate = "--feature-gates=CSIVolumeGroupSnapshot=true";
    return startUpstream(plane, component, [...unthrottled, ...looksAgain, gate, ...socket]);
  };

  for (const [controller, sidecar] of pairs)
    test(`${controller === "ours" ? "our" : "upstream's"} controller and ${sidecar === "ours" ? "our" : "upstream's"} sidecar take a group and delete it`, async () => {
      const { client } = fixtures;
      const daemons = [await start(controller, "snapshot-controller"), await start(sidecar, "csi-snapshotter")];
      const ref = { kind: "VolumeGroupSnapshot", namespace, name: `group-${controller}-${sidecar}` } as const;
      const spec = { source: { selector: { matchLabels: labels } }, volumeGroupSnapshotClassName: "groups" };
      await client.create(
        "VolumeGroupSnapshot",
        draftOf("VolumeGroupSnapshot", { namespace, name: ref.name }, { spec }),
      );
      const group = await until({ what: "the group and its members are ready", msMax: 60_000 }, async () => {
        const seen = await client.get(ref);
        const { objects } = await client.list("VolumeSnapshot", { namespace });
        const isReady = objects.length === 2 && objects.every(({ status }) => status?.readyToUse === true);
        return seen.status?.readyToUse === true && isReady ? seen : undefined;
      });
      const content = await client.get({
        kind: "VolumeGroupSnapshotContent",
        name: `groupsnapcontent-${group.metadata.uid}`,
      });
      const handles = content.spec.source.volumeHandles ?? [];
      assert.equal(handles.length, 2);
      for (const handle of handles) {
        const digest = createHash("sha256").update(`${group.metadata.uid}${handle}`).digest("hex");
        const member = await client.get({ kind: "VolumeSnapshot", namespace, name: `snapshot-${digest}` });
        const own = await client.get({ kind: "VolumeSnapshotContent", name: `snapcontent-${digest}` });
        assert.equal(member.metadata.ownerReferences?.[0]?.uid, group.metadata.uid);
        assert.equal(member.status?.boundVolumeSnapshotContentName, own.metadata.name);
        assert.equal(member.status?.volumeGroupSnapshotName, ref.name);
        assert.equal(own.spec.volumeSnapshotRef.uid, member.metadata.uid);
        assert.equal(own.status?.volumeGroupSnapshotHandle, content.status?.volumeGroupSnapshotHandle);
      }
      // Members of the group and nothing else: no CreateSnapshot was sent.
      const listed = (await fixtures.csi.controller.listSnapshots({})).entries;
      assert.deepEqual(
        listed.map(({ snapshot }) => snapshot?.groupSnapshotId !== ""),
        [true, true],
      );
      await client.delete(ref);
      for (const kind of kinds)
        await until({ what: `every ${kind} is gone`, msMax: 60_000 }, async () =>
          (await client.list(kind)).objects.length === 0 ? true : undefined,
        );
      assert.deepEqual((await fixtures.csi.controller.listSnapshots({})).entries, []);
      await Promise.all(daemons.map((daemon) => daemon.stop()));
    });
});
