/**
 * With the rules that the release's RBAC files hold in comments, and no others: secrets for the driver, and snapshots that are
 * taken node by node, each by the sidecar beside the driver of that node.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { draftOf } from "../../src/api/builders.ts";
import { annotations, labels, parameters } from "../../src/api/names.ts";
import { type Connection, connect } from "./harness/client.ts";
import { aBoundClaim, aClassFor, csiClientTo, type Fixtures, onlyOn, startComponent } from "./harness/components.ts";
import { type ControlPlane, startControlPlane } from "./harness/control-plane.ts";
import { type OddDriver, startOddDriver } from "./harness/odd-driver.ts";
import { deniedCalls, installRelease, placeOf, releaseTokens } from "./harness/release.ts";
import { type Snapshots, snapshotsOf } from "./harness/snapshots.ts";

const namespace = "default";
const nodes = ["near", "far"] as const;
type NodeName = (typeof nodes)[number];

describe("with the optional rules of the release's RBAC", () => {
  let plane: ControlPlane;
  let connection: Connection;
  /** One driver on two nodes: the same name, each with volumes of its own. */
  let driverOn: Record<NodeName, OddDriver>;
  let on: Record<NodeName, Fixtures & Snapshots>;
  before(async () => {
    plane = await startControlPlane({ tokens: releaseTokens });
    connection = await connect(plane.kubeconfig);
    const { client } = connection;
    await installRelease(plane, client, "optional ones too");
    const start = (node: NodeName) => startOddDriver(join(plane.folder, node));
    driverOn = { near: await start("near"), far: await start("far") };
    const furnish = (node: NodeName) => {
      const { driver, socket } = driverOn[node];
      const fixtures = { client, csi: csiClientTo(socket), driver, namespace };
      return { ...fixtures, ...snapshotsOf(fixtures) };
    };
    on = { near: furnish("near"), far: furnish("far") };
    const released = { as: "release" } as const;
    const distributed = ["--enable-distributed-snapshotting"];
    await startComponent(placeOf(plane, "snapshot-controller"), "snapshot-controller", distributed, released);
    for (const node of nodes) {
      const name = { name: node, labels: { "kubernetes.io/hostname": node } };
      await client.create("Node", draftOf("Node", name, {} as never));
      const flags = ["--node-deployment", `--csi-address=${driverOn[node].socket}`, ...retries];
      const environment = { NODE_NAME: node };
      await startComponent(placeOf(plane, "csi-snapshotter"), "csi-snapshotter", flags, { ...released, environment });
      await aBoundClaim(on[node], node, onlyOn(node));
    }
    await aClassFor(on.near, "plain", "Delete");
  });
  after(async () => {
    for (const { csi } of Object.values(on ?? {})) csi.close();
    for (const driver of Object.values(driverOn ?? {})) await driver.close();
    connection?.close();
    plane?.stop();
  });
  const retries = ["--retry-interval-start=200ms", "--retry-interval-max=1s"];

  test("each snapshot is taken and deleted by the driver of its volume's node, and by no other", async () => {
    for (const node of nodes) {
      await on[node].take(`on-${node}`, node, "plain");
      await on[node].untilReady(`on-${node}`);
      const content = await on[node].contentOf(`on-${node}`);
      assert.equal(content.metadata.labels?.[labels.managedBy], node);
      assert.deepEqual(await on[node].handles(), [content.status?.snapshotHandle]);
    }
    for (const node of nodes) await on[node].remove(`on-${node}`);
    for (const node of nodes) {
      const { asked, askedToDelete } = driverOn[node];
      assert.deepEqual([...new Set(asked.map(({ sourceVolumeId }) => sourceVolumeId))], [`${namespace}-${node}`]);
      assert.equal(askedToDelete.length, 1);
      assert.deepEqual(await on[node].handles(), []);
    }
  });

  test("a pre-provisioned content is served by the node in its label", async () => {
    const { snapshot } = await on.far.csi.controller.createSnapshot({ name: "old", sourceVolumeId: "any" });
    await aContent("labelled", snapshot?.snapshotId ?? "", { metadata: { labels: { [labels.managedBy]: "far" } } });
    await on.far.untilReady("labelled");
    await on.far.remove("labelled");
    assert.deepEqual(await on.far.handles(), []);
    assert.equal(driverOn.near.askedToList.filter(({ snapshotId }) => snapshotId !== "").length, 0);
  });

  test("the secrets of a class reach the driver with CreateSnapshot, DeleteSnapshot and ListSnapshots", async () => {
    const key = (name: string): string => `${parameters.prefix}snapshotter-${name}`;
    await aClassFor(on.near, "secretive", "Delete", {
      [key("secret-name")]: "to-cut",
      [key("secret-namespace")]: `\${volumesnapshot.namespace}`,
      [key("list-secret-name")]: `to-list-\${volumesnapshotcontent.name}`,
      [key("list-secret-namespace")]: namespace,
    });
    await aSecret("to-cut", "scissors");
    await on.near.take("guarded", "near", "secretive");
    await on.near.untilReady("guarded");
    const content = await on.near.contentOf("guarded");
    assert.equal(content.metadata.annotations?.[annotations.deletionSecretName], "to-cut");
    assert.equal(content.metadata.annotations?.[annotations.deletionSecretNamespace], namespace);
    await connection.client.patch(contentRef(content.metadata.name), {
      type: "merge",
      body: { spec: { deletionPolicy: "Retain" } },
    });
    await on.near.remove("guarded");
    await connection.client.delete(contentRef(content.metadata.name));
    const { asked, askedToDelete, askedToList } = driverOn.near;
    assert.deepEqual(asked.at(-1)?.secrets, { token: "scissors" });

    // The kept data comes back by hand: the annotations say how to delete it, the class how to look for it.
    const metadata = {
      labels: { [labels.managedBy]: "near" },
      annotations: {
        [annotations.deletionSecretName]: "to-cut",
        [annotations.deletionSecretNamespace]: namespace,
      },
    };
    const handle = content.status?.snapshotHandle ?? "";
    await aContent("back", handle, { metadata, spec: { volumeSnapshotClassName: "secretive" } });
    await on.near.untilReported("back", /secret default\/to-list-back cannot be read: .*; create it/);
    await aSecret("to-list-back", "looking-glass");
    await on.near.untilReady("back");
    assert.deepEqual(askedToList.at(-1)?.secrets, { token: "looking-glass" });
    assert.equal(askedToList.at(-1)?.snapshotId, handle);
    await on.near.remove("back");
    assert.deepEqual(askedToDelete.at(-1)?.secrets, { token: "scissors" });
    assert.deepEqual(await on.near.handles(), []);
  });

  test("no request was denied", () => assert.deepEqual(deniedCalls(plane), []));

  const contentRef = (name: string) => ({ kind: "VolumeSnapshotContent", name }) as const;

  /** A content for a snapshot that exists, and the VolumeSnapshot of the same name that takes it. */
  async function aContent(name: string, snapshotHandle: string, more: { metadata: object; spec?: object }) {
    const spec = {
      deletionPolicy: "Delete" as const,
      driver: on.near.driver,
      source: { snapshotHandle },
      volumeSnapshotRef: { namespace, name },
      ...more.spec,
    };
    const content = draftOf("VolumeSnapshotContent", { name, ...more.metadata }, { spec });
    await connection.client.create("VolumeSnapshotContent", content);
    const source = { volumeSnapshotContentName: name };
    const snapshot = draftOf("VolumeSnapshot", { namespace, name }, { spec: { source } });
    await connection.client.create("VolumeSnapshot", snapshot);
  }

  const aSecret = (name: string, token: string) =>
    connection.client.create("Secret", {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { namespace, name },
      data: { token: Buffer.from(token).toString("base64") },
    } as never);
});
