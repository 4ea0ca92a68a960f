/** Snapshots on the real control plane: our controller and sidecar as processes, the real hostpath driver behind them. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { draftOf } from "../../src/api/builders.ts";
import { annotations, finalizers } from "../../src/api/names.ts";
import { isFault } from "../../src/base/fault.ts";
import { type Connection, connect } from "./harness/client.ts";
import {
  aBoundClaim,
  aClassFor,
  csiClientTo,
  type Furniture,
  installSnapshotCrds,
  startComponent,
} from "./harness/components.ts";
import { type ControlPlane, startControlPlane } from "./harness/control-plane.ts";
import { type Hostpath, startHostpath } from "./harness/hostpath.ts";
import { until } from "./harness/until.ts";

let plane: ControlPlane;
let connection: Connection;
let hostpath: Hostpath;
let furniture: Furniture;
const namespace = "default";

before(async () => {
  plane = await startControlPlane();
  connection = await connect(plane.kubeconfig);
  hostpath = await startHostpath(plane.instance);
  furniture = { client: connection.client, csi: csiClientTo(hostpath.socket), driver: hostpath.driver, namespace };
  await installSnapshotCrds(connection.client);
  startComponent(plane, "snapshot-controller");
  startComponent(plane, "csi-snapshotter", [`--csi-address=${hostpath.socket}`]);
  await aClassFor(furniture, "delete", "Delete");
  await aClassFor(furniture, "retain", "Retain");
});
after(() => {
  furniture?.csi.close();
  connection?.close();
  plane?.stop();
});

const refTo = (name: string) => ({ kind: "VolumeSnapshot", namespace, name }) as const;
const take = (name: string, claim: string, volumeSnapshotClassName = "delete") =>
  furniture.client.create(
    "VolumeSnapshot",
    draftOf(
      "VolumeSnapshot",
      { namespace, name },
      { spec: { source: { persistentVolumeClaimName: claim }, volumeSnapshotClassName } },
    ),
  );
const untilReady = (name: string) =>
  until({ what: `snapshot ${name} is ready` }, async () => {
    const snapshot = await furniture.client.get(refTo(name));
    return snapshot.status?.readyToUse === true ? snapshot : undefined;
  });
const contentOf = async (name: string) => {
  const { status } = await furniture.client.get(refTo(name));
  return furniture.client.get({ kind: "VolumeSnapshotContent", name: status?.boundVolumeSnapshotContentName ?? "" });
};
const isGone = (reason: unknown): boolean => isFault(reason, "NotFound");
const untilGone = (ref: Parameters<Furniture["client"]["get"]>[0]) =>
  until({ what: `${ref.kind} ${ref.name} is gone` }, () =>
    furniture.client.get(ref).then(
      () => undefined,
      (reason: unknown) => {
        if (!isGone(reason)) throw reason;
        return true as const;
      },
    ),
  );
const handles = async (): Promise<readonly string[]> =>
  (await furniture.csi.controller.listSnapshots({})).entries.map(({ snapshot }) => snapshot?.snapshotId ?? "");
const untilUnprotected = (claim: string) =>
  until({ what: `claim ${claim} is let go` }, async () => {
    const { metadata } = await furniture.client.get({ kind: "PersistentVolumeClaim", namespace, name: claim });
    return metadata.finalizers?.includes(finalizers.claimAsSource) ? undefined : true;
  });

test("a snapshot of a claim becomes ready, and goes with its content and its data", async () => {
  await aBoundClaim(furniture, "one");
  await take("first", "one");
  const { status, metadata } = await untilReady("first");
  const content = await contentOf("first");
  assert.equal(content.metadata.name, `snapcontent-${metadata.uid}`);
  assert.deepEqual(content.metadata.finalizers, [finalizers.contentBound]);
  assert.deepEqual(
    [...(metadata.finalizers ?? [])].sort(),
    [finalizers.snapshotAsSource, finalizers.snapshotBound].sort(),
  );
  assert.ok((await handles()).includes(content.status?.snapshotHandle ?? "none"));
  assert.equal(typeof content.status?.creationTime, "bigint");
  assert.ok(status?.creationTime !== undefined);
  await until({ what: "the mark is gone" }, async () =>
    (await contentOf("first")).metadata.annotations?.[annotations.beingCreated] === undefined ? true : undefined,
  );
  await untilUnprotected("one");
  await furniture.client.delete(refTo("first"));
  await untilGone(refTo("first"));
  await untilGone({ kind: "VolumeSnapshotContent", name: content.metadata.name });
  assert.ok(!(await handles()).includes(content.status?.snapshotHandle ?? "none"));
});

test("with Retain the content and the data stay, and go when an administrator deletes the content", async () => {
  await aBoundClaim(furniture, "kept");
  await take("kept", "kept", "retain");
  await untilReady("kept");
  const content = await contentOf("kept");
  await furniture.client.delete(refTo("kept"));
  await untilGone(refTo("kept"));
  const ref = { kind: "VolumeSnapshotContent", name: content.metadata.name } as const;
  assert.equal((await furniture.client.get(ref)).metadata.annotations?.[annotations.beingDeleted], "yes");
  await furniture.client.delete(ref);
  await untilGone(ref);
  assert.ok((await handles()).includes(content.status?.snapshotHandle ?? "none"));
  await furniture.csi.controller.deleteSnapshot({ snapshotId: content.status?.snapshotHandle ?? "" });
});

test("a snapshot that exists on the storage system is bound by its content", async () => {
  const sourceVolumeId = await aBoundClaim(furniture, "old");
  const { snapshot } = await furniture.csi.controller.createSnapshot({ name: "by-hand", sourceVolumeId });
  const spec = {
    deletionPolicy: "Delete" as const,
    driver: furniture.driver,
    source: { snapshotHandle: snapshot?.snapshotId ?? "" },
    volumeSnapshotRef: { namespace, name: "adopted" },
  };
  await furniture.client.create(
    "VolumeSnapshotContent",
    draftOf("VolumeSnapshotContent", { name: "by-hand" }, { spec }),
  );
  await furniture.client.create(
    "VolumeSnapshot",
    draftOf(
      "VolumeSnapshot",
      { namespace, name: "adopted" },
      { spec: { source: { volumeSnapshotContentName: "by-hand" } } },
    ),
  );
  await untilReady("adopted");
  await furniture.client.delete(refTo("adopted"));
  await untilGone(refTo("adopted"));
  await untilGone({ kind: "VolumeSnapshotContent", name: "by-hand" });
  assert.ok(!(await handles()).includes(snapshot?.snapshotId ?? "none"));
});

test("a content deleted first waits for its snapshot, and both go together", async () => {
  await aBoundClaim(furniture, "order");
  await take("order", "order");
  await untilReady("order");
  const ref = { kind: "VolumeSnapshotContent", name: (await contentOf("order")).metadata.name } as const;
  await furniture.client.delete(ref);
  assert.equal((await furniture.client.get(refTo("order"))).status?.readyToUse, true);
  await furniture.client.delete(refTo("order"));
  await untilGone(refTo("order"));
  await untilGone(ref);
});

test("class and claim may go before the snapshot does", async () => {
  await aBoundClaim(furniture, "early");
  await aClassFor(furniture, "passing", "Delete");
  await take("early", "early", "passing");
  await untilReady("early");
  await untilUnprotected("early");
  await furniture.client.delete({ kind: "VolumeSnapshotClass", name: "passing" });
  await furniture.client.delete({ kind: "PersistentVolumeClaim", namespace, name: "early" });
  await untilGone({ kind: "PersistentVolumeClaim", namespace, name: "early" });
  await furniture.client.delete(refTo("early"));
  await untilGone(refTo("early"));
});

test("a snapshot that cannot be taken says why, and is taken once that is mended", async () => {
  await take("patient", "later");
  const told = await until(
    { what: "the snapshot says why" },
    async () => (await furniture.client.get(refTo("patient"))).status?.error?.message,
  );
  assert.match(told, /claim default\/later not found: create it/);
  await aBoundClaim(furniture, "later");
  assert.equal((await untilReady("patient")).status?.error, undefined);
  await furniture.client.delete(refTo("patient"));
  await untilGone(refTo("patient"));
});

const writes = new Set(["create", "update", "patch", "delete"]);
const isOurs = (agent: string | undefined): boolean => /^(snapshot-controller|csi-snapshotter)\//.test(agent ?? "");

test("a lone snapshot costs at most eight writes and no reads until it is ready, and four to go", async () => {
  await aBoundClaim(furniture, "counted");
  const before = plane.auditMark();
  await take("counted", "counted");
  await untilReady("counted");
  await untilUnprotected("counted");
  await until({ what: "the mark is gone" }, async () =>
    (await contentOf("counted")).metadata.annotations?.[annotations.beingCreated] === undefined ? true : undefined,
  );
  const between = plane.auditMark();
  await furniture.client.delete(refTo("counted"));
  await untilGone(refTo("counted"));
  const ours = (from: number) =>
    plane
      .auditLog(from)
      .filter(
        ({ userAgent, objectRef }) =>
          isOurs(userAgent) && objectRef?.resource !== "leases" && objectRef?.resource !== "events",
      );
  const all = ours(before);
  const deletion = ours(between);
  const creation = all.slice(0, all.length - deletion.length);
  const told = (entries: typeof all): string =>
    entries.map(({ verb, requestURI }) => `${verb} ${requestURI}`).join("\n");
  assert.deepEqual(
    creation.filter(({ verb }) => verb === "get" || verb === "list"),
    [],
    told(creation),
  );
  assert.ok(creation.filter(({ verb }) => writes.has(verb)).length <= 8, told(creation));
  assert.ok(deletion.filter(({ verb }) => writes.has(verb)).length <= 4, told(deletion));
});
