/** The two programs as a person starts them, on the embedded API server and a driver that cannot list: what their flags lead to. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createClaim, createSnapshot, policy, startHarness } from "../../../test/command-harness.ts";
import { eventually, inTime } from "../../../test/csi-sockets.ts";
import { draftOf } from "../../api/builders.ts";
import { Fault } from "../../base/fault.ts";
import {
  ControllerServiceCapability_RPC_Type as Capability,
  PluginCapability_Service_Type as Service,
} from "../../csi/gen/csi_pb.js";

test("the sidecar exits with 1 and a remedy if the driver does not support snapshots", async (t) => {
  const { socket, start } = await startHarness(t, { capabilities: [Capability.LIST_VOLUMES] });
  const { code, said } = start("csi-snapshotter", `--csi-address=${socket}`);
  assert.equal(await inTime("the sidecar ends beside a driver that cannot serve it", code), 1);
  assert.match(said(), /driver plain\.example\.com at .* does not take snapshots .*: do not run a csi-snapshotter/);
});

test("controller capabilities decide: an unannounced controller service works, and a failing group service is ignored", async (t) => {
  for (const announces of [[], [Service.CONTROLLER_SERVICE, Service.GROUP_CONTROLLER_SERVICE]]) {
    const { socket, start } = await startHarness(t, { announces });
    const { said } = start("csi-snapshotter", `--csi-address=${socket}`);
    await eventually("the sidecar has started", () => / started version=|does not take|UNIMPLEMENTED/.test(said()));
    assert.match(said(), / started version=/);
  }
});

test("a driver's error is shown on content and snapshot with upstream's message prefix", async (t) => {
  const refuse = () => Promise.reject(new Fault("FailedPrecondition", "the pool is frozen"));
  const { client, socket, start } = await startHarness(t, { beforeCreateSnapshot: refuse });
  await createClaim(client);
  const snapshot = await createSnapshot(client, "monday");
  start("snapshot-controller");
  start("csi-snapshotter", `--csi-address=${socket}`);
  const reported = async () => (await client.get(snapshot)).status?.error?.message;
  await eventually("the refusal is told", async () => (await reported()) !== undefined);
  assert.equal(
    await reported(),
    'Failed to create snapshot: failed to take snapshot of the volume v-1: "rpc error: code = FailedPrecondition desc = the pool is frozen" [SNAP-501]',
  );
});

test("--retry-crd-interval-max below 1s means 1s", async (t) => {
  let refusals = 1;
  const { start } = await startHarness(t, {
    beforeRequest: () => (refusals-- > 0 ? Promise.reject(new Error("not yet")) : undefined),
  });
  const { said } = start("snapshot-controller", "--retry-crd-interval-max=0s");
  await eventually("the controller has started, or ended", () => / started version=|^snapkeep /m.test(said()));
  assert.match(said(), /waiting for the API server.* started version=/s);
});

test("flags take effect: lease names and labels, volume mode, event source, drivers without ListSnapshots", async (t) => {
  const { client, socket, start } = await startHarness(t);
  const elects = [
    "--leader-election",
    "--leader-election-namespace=kube-system",
    "--leader-election-labels=team:storage",
  ];
  start("snapshot-controller", ...elects, "--prevent-volume-mode-conversion=false");
  start("csi-snapshotter", ...elects, `--csi-address=${socket}`);
  await createClaim(client);
  const snapshot = await createSnapshot(client, "monday");
  const given = { ...policy, source: { snapshotHandle: "old" }, volumeSnapshotRef: { ...snapshot, name: "adopted" } };
  await client.create("VolumeSnapshotContent", draftOf("VolumeSnapshotContent", { name: "by-hand" }, { spec: given }));
  const contentOf = async (name: string) => client.get({ kind: "VolumeSnapshotContent", name });
  await eventually("the snapshot is ready", async () => (await client.get(snapshot)).status?.readyToUse === true);
  await eventually(
    "the handle of a driver that cannot list is trusted",
    async () => (await contentOf("by-hand")).status?.readyToUse === true,
  );
  const bound = await contentOf((await client.get(snapshot)).status?.boundVolumeSnapshotContentName ?? "");
  assert.equal(bound.spec.sourceVolumeMode, undefined);
  const classless = { ...given, source: { volumeHandle: "v-2" }, volumeSnapshotClassName: "nobody-made-this" };
  const spec = { ...classless, volumeSnapshotRef: { ...snapshot, name: "other", uid: "u" } };
  await client.create("VolumeSnapshotContent", draftOf("VolumeSnapshotContent", { name: "classless" }, { spec }));
  const sources = async () =>
    (await client.list("Event", {})).objects
      .filter(({ reason }) => reason !== "LeaderElection")
      .map((event) => (event as { source?: { component?: string } }).source?.component);
  await eventually("both programs have told of something", async () => new Set(await sources()).size === 2);
  assert.deepEqual([...new Set(await sources())].sort(), ["csi-snapshotter plain.example.com", "snapshot-controller"]);
  const leases = await client.list("Lease", { namespace: "kube-system" });
  for (const { metadata } of leases.objects) assert.deepEqual(metadata.labels, { team: "storage" });
  assert.deepEqual(leases.objects.map(({ metadata }) => metadata.name).sort(), [
    "external-snapshotter-leader-plain-example-com",
    "snapshot-controller-leader",
  ]);
});
