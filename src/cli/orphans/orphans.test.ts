/** `snapkeep orphans` as an administrator runs it beside a driver, on the embedded API server. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { startHarness } from "../../../test/command-harness.ts";
import { startDriver, temporaryFolder } from "../../../test/csi-sockets.ts";
import { draftOf } from "../../api/builders.ts";
import { ControllerServiceCapability_RPC_Type as Capability, Controller, Identity } from "../../csi/gen/csi_pb.js";
import { serve } from "../../csi/serve.ts";

const driver = "disk.example.com";

interface Options {
  /** A page for each token; "" is the first. */
  readonly pages?: Readonly<Record<string, { readonly handles: readonly string[]; readonly next: string }>>;
  readonly can?: readonly Capability[];
}

async function setUp(t: TestContext, { pages, can = [Capability.LIST_SNAPSHOTS] }: Options) {
  const { client, start } = await startHarness(t);
  const deleted: string[] = [];
  const entry = (snapshotId: string) => ({
    snapshot: {
      snapshotId,
      sourceVolumeId: "v",
      sizeBytes: 1_048_576n,
      readyToUse: true,
      creationTime: { seconds: 1_700_000_000n, nanos: 0 },
    },
  });
  const services = [
    serve(Identity, {
      getPluginInfo: () => ({ name: driver, vendorVersion: "1" }),
      getPluginCapabilities: () => ({ capabilities: [] }),
      probe: () => ({ ready: true }),
    }),
    serve(Controller, {
      controllerGetCapabilities: () => ({
        capabilities: can.map((type) => ({ type: { case: "rpc" as const, value: { type } } })),
      }),
      listSnapshots({ startingToken, snapshotId }) {
        // Spells ids in capitals, and finds them by any spelling.
        if (snapshotId !== "") return { entries: snapshotId === "spelled" ? [entry("SPELLED")] : [], nextToken: "" };
        const page = pages?.[startingToken] ?? { handles: [], next: "" };
        return { entries: page.handles.filter((handle) => !deleted.includes(handle)).map(entry), nextToken: page.next };
      },
      listVolumes: () => ({ entries: [{ volume: { volumeId: "volume-1", capacityBytes: 5n } }], nextToken: "" }),
      deleteSnapshot({ snapshotId }) {
        deleted.push(snapshotId);
        return {};
      },
    }),
  ];
  const address = join(temporaryFolder(t), "csi.sock");
  await startDriver(t, services, { address });
  const orphans = async (...argv: readonly string[]) => {
    const { code, said } = start("orphans", `--csi-address=${address}`, ...argv);
    return { code: await code, said: said() };
  };
  return { client, orphans, deleted };
}

const content = (name: string, snapshotHandle: string) =>
  draftOf(
    "VolumeSnapshotContent",
    { name },
    {
      spec: {
        driver,
        deletionPolicy: "Retain",
        source: { snapshotHandle },
        volumeSnapshotRef: { namespace: "default", name },
      },
    },
  );

const twoPages = { "": { handles: ["known", "lost", ""], next: "2" }, "2": { handles: ["SPELLED", "lost"], next: "" } };

test("a snapshot that no content has is found on any page, once, and a handle in another spelling is known", async (t) => {
  const { client, orphans } = await setUp(t, {
    pages: twoPages,
    can: [Capability.LIST_SNAPSHOTS, Capability.LIST_VOLUMES],
  });
  for (const [name, handle] of [
    ["c-1", "known"],
    ["c-2", "spelled"],
  ] as const)
    await client.create("VolumeSnapshotContent", content(name, handle));
  const { code, said } = await orphans();
  assert.equal(code, 1, said);
  assert.match(said, /^snapshot +lost +- +1Mi +\d+d +v +the driver has it, and no VolumeSnapshotContent does$/m);
  assert.match(said, /^volume +volume-1 +- +5 +- +- +the driver has it, and no PersistentVolume does$/m);
  assert.match(said, /^2 orphans of driver disk\.example\.com$/m);
  const { items } = JSON.parse((await orphans("-o", "json", "--kinds=snapshot")).said);
  assert.deepEqual(items, [
    { kind: "snapshot", handle: "lost", bytes: 1_048_576, created: "2023-11-14T22:13:20Z", sourceVolume: "v" },
  ]);
});

test("what the driver cannot list is said, and no orphan is claimed", async (t) => {
  const { orphans } = await setUp(t, { can: [] });
  const { code, said } = await orphans();
  assert.equal(code, 0, said);
  assert.match(
    said,
    /^0 orphans .*\nnot known: driver .* cannot list snapshots.*\nnot known: driver .* cannot list volumes/,
  );
});

test("a driver whose list does not end is refused: half a list would show orphans that are none", async (t) => {
  const { orphans } = await setUp(t, {
    pages: { "": { handles: ["a"], next: "x" }, x: { handles: ["b"], next: "x" } },
  });
  const { code, said } = await orphans();
  assert.equal(code, 1);
  assert.match(said, /ListSnapshots returned the page token "x" twice: its list has no end/);
});

test("--delete deletes only as many as were typed, and only snapshots without content", async (t) => {
  const { orphans, deleted } = await setUp(t, { pages: { "": { handles: ["one", "two"], next: "" } } });
  const refused = await orphans("--delete");
  assert.equal(refused.code, 1);
  assert.match(refused.said, /2 snapshots would be deleted at the driver, and nothing was: .* --count=2/);
  assert.equal((await orphans("--delete", "--count=1")).code, 1);
  assert.deepEqual(deleted, []);
  assert.equal((await orphans("--delete", "--count=2")).code, 0);
  assert.deepEqual(deleted, ["one", "two"]);
  assert.equal((await orphans()).code, 0);
});

test("--adopt brings a snapshot back as a pre-provisioned pair, and adopting twice is harmless", async (t) => {
  const { client, orphans } = await setUp(t, { pages: { "": { handles: ["lost"], next: "" } } });
  for (const _ of [1, 2]) assert.equal((await orphans("--adopt", "-n", "default")).code, 0);
  const { objects: contents } = await client.list("VolumeSnapshotContent");
  const { objects: snapshots } = await client.list("VolumeSnapshot", { namespace: "default" });
  const [adopted] = contents;
  assert.deepEqual([contents.length, snapshots.length], [1, 1]);
  assert.deepEqual(
    [adopted?.spec.source.snapshotHandle, adopted?.spec.deletionPolicy, adopted?.spec.volumeSnapshotRef.name],
    ["lost", "Retain", snapshots[0]?.metadata.name],
  );
  assert.equal(snapshots[0]?.spec.source.volumeSnapshotContentName, adopted?.metadata.name);
  assert.match((await orphans()).said, /^0 orphans/);
});

test("mistyped kinds, and two things to do at once, are refused", async (t) => {
  const { orphans } = await setUp(t, {});
  assert.match(
    (await orphans("--kinds=snapshots")).said,
    /"snapshots" is no kind of orphan; one of snapshot, content, retained, volume/,
  );
  assert.equal((await orphans("--adopt", "--delete")).code, 2);
});
