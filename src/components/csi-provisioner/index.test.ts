/** The whole provisioner on an API server in memory and a driver of a few lines. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { driver } from "../../../test/builders.ts";
import { claimNamed, setUpProvisioner, setUpRestores } from "../../../test/provisioner-harness.ts";
import { aPendingClaim, aStorageClass } from "../../../test/volume-plans.ts";
import { finalizers, provisioning } from "../../api/names.ts";
import { Fault } from "../../base/fault.ts";

test("a claim alone costs a write for its volume and three for its call: stored, noted before the volume is stored, removed within a second", async () => {
  const { world, start, writes, stored, nameOf, events, intents, asked } = await setUpProvisioner({
    objects: [claimNamed("new")],
  });
  const stop = start();
  await world.advance(500);
  const own = ["create Lease", "replace Lease", "replace Lease", "create PersistentVolume"];
  assert.deepEqual(writes(), own);
  assert.equal(stored()[0]?.metadata.name, nameOf("new"));
  assert.deepEqual([events, asked], [["ProvisioningSucceeded SNAP-391"], ["create"]]);
  await world.advance(1_000);
  assert.deepEqual(intents(), []);
  assert.deepEqual(writes(), [...own, "replace Lease"]);
  stop();
});

test("a restore alone costs three writes for its call, three for its volume and its source, and the reads of its content and its old claim, and the finalizer goes after the volume is stored", async () => {
  const { world, kube, start, writes } = await setUpRestores(1);
  const stop = start();
  await world.advance(10_000);
  assert.deepEqual(writes(), [
    "create Lease",
    "replace VolumeSnapshot",
    "replace Lease",
    "replace Lease",
    "create PersistentVolume",
    "replace Lease",
    "replace VolumeSnapshot",
  ]);
  assert.deepEqual(
    kube.calls.filter(({ verb }) => verb === "get").map(({ kind }) => kind),
    // The claim was there before the process, so the server has to confirm it.
    ["Lease", "VolumeSnapshotContent", "PersistentVolumeClaim"],
  );
  assert.deepEqual(kube.stored("VolumeSnapshot")[0]?.metadata.finalizers, []);
  stop();
});

test("fifty restores of one snapshot cost at most two writes each, and the snapshot is protected meanwhile", async () => {
  const unprotected: string[] = [];
  const { world, kube, start, writes, stored } = await setUpRestores(50, {
    create: async ({ name }) => {
      const [snapshot] = kube.stored("VolumeSnapshot");
      if (snapshot?.metadata.finalizers?.includes(finalizers.snapshotRestoring) !== true) unprotected.push(name);
      await world.sleep(100);
      return {};
    },
  });
  const stop = start();
  await world.advance(10_000);
  assert.equal(stored().length, 50);
  assert.ok(writes().length <= 100, `${writes().length} writes`);
  assert.deepEqual(unprotected, []);
  assert.deepEqual(kube.stored("VolumeSnapshot")[0]?.metadata.finalizers, []);
  assert.equal(kube.calls.filter(({ verb, kind }) => verb === "get" && kind === "VolumeSnapshotContent").length, 1);
  stop();
});

test("a claim deleted while CreateVolume runs leaves no volume and no finalizer", async () => {
  const { world, kube, start, volumes, stored, asked, intents } = await setUpRestores(1, {
    create: async () => {
      await world.sleep(5_000);
      return {};
    },
  });
  const stop = start();
  await world.advance(1_000);
  await kube.delete({ kind: "PersistentVolumeClaim", namespace: "team", name: "restored-0" });
  await world.advance(60_000);
  assert.deepEqual([[...volumes], stored(), intents()], [[], [], []]);
  assert.deepEqual(asked, ["create", "delete"]);
  assert.deepEqual(kube.stored("VolumeSnapshot")[0]?.metadata.finalizers, []);
  stop();
});

test("a refusal after a timeout does not count as the proof that there is no volume", async () => {
  const faults = [new Fault("DeadlineExceeded", "late"), new Fault("PermissionDenied", "no"), undefined];
  const { world, kube, start, volumes, stored } = await setUpProvisioner({
    objects: [claimNamed("new")],
    create: async ({ name }) => {
      const fault = faults.shift();
      if (fault?.code === "DeadlineExceeded") volumes.add(`vol-${name}`);
      if (fault !== undefined) throw fault;
      return {};
    },
  });
  const stop = start();
  await world.advance(5_000, () => faults.length === 1);
  await kube.delete({ kind: "PersistentVolumeClaim", namespace: "team", name: "new" });
  await world.advance(60_000);
  assert.deepEqual([[...volumes], stored()], [[], []]);
  stop();
});

test("a process that is killed while CreateVolume runs is succeeded by one that finishes, or deletes the volume", async () => {
  for (const isClaimDeleted of [false, true]) {
    const { world, kube, start, volumes, stored, intents } = await setUpProvisioner({
      objects: [claimNamed("new")],
      create: async () => {
        await world.sleep(1_000);
        return {};
      },
    });
    const kill = start();
    await world.advance(500);
    kill();
    await world.advance(5_000);
    assert.deepEqual([volumes.size, stored().length, intents().length], [1, 0, 1]);
    if (isClaimDeleted) await kube.delete({ kind: "PersistentVolumeClaim", namespace: "team", name: "new" });
    const stop = start();
    await world.advance(60_000);
    const left = isClaimDeleted ? 0 : 1;
    assert.deepEqual([volumes.size, stored().length, intents().length], [left, left, 0]);
    stop();
  }
});

test("volumes that cannot be used are deleted and asked for again, each time later", async () => {
  const { world, start, volumes, events, asked } = await setUpProvisioner({
    objects: [claimNamed("new")],
    create: async () => ({ capacityBytes: 5n }),
  });
  const stop = start();
  await world.advance(600_000);
  assert.deepEqual([...volumes], []);
  assert.deepEqual(events, ["ProvisioningFailed SNAP-342"]);
  assert.ok(asked.length >= 10 && asked.length <= 40, `${asked.length} calls in ten minutes`);
  stop();
});

test("two claims never share a volume, even if the driver says so", async () => {
  const { world, start, stored, events, asked } = await setUpProvisioner({
    objects: [claimNamed("one"), claimNamed("two")],
    create: async () => ({ volumeId: "vol-same" }),
  });
  const stop = start();
  await world.advance(60_000);
  assert.equal(stored().length, 1);
  assert.ok(events.includes("ProvisioningFailed SNAP-346"));
  assert.ok(!asked.includes("delete"), "the volume of the other claim is not deleted");
  stop();
});

test("a PersistentVolume that the server refuses is reported, and its volume goes with the claim", async () => {
  const { world, kube, start, volumes, events, asked } = await setUpProvisioner({
    objects: [claimNamed("new")],
    hook: ({ verb, kind }, when) => {
      if (verb === "create" && kind === "PersistentVolume" && when === "before")
        throw new Fault("Invalid", "spec.nodeAffinity: Invalid value");
    },
  });
  const stop = start();
  await world.advance(10_000);
  assert.deepEqual(events, ["ProvisioningFailed SNAP-345"]);
  assert.ok(asked.length > 1, "the driver may answer better next time");
  assert.equal(volumes.size, 1);
  await kube.delete({ kind: "PersistentVolumeClaim", namespace: "team", name: "new" });
  await world.advance(60_000);
  assert.equal(volumes.size, 0);
  stop();
});

test("a volume whose owner keeps it is not deleted by a successor that finds an old intent", async () => {
  const { world, kube, start, volumes, stored, intents } = await setUpProvisioner({ objects: [claimNamed("new")] });
  const kill = start();
  await world.advance(500);
  const [volume] = stored();
  assert.ok(volume !== undefined && intents().length === 1, "its removal is not written yet");
  const spec = { ...volume.spec, persistentVolumeReclaimPolicy: "Retain" };
  await kube.replace("PersistentVolume", { ...volume, spec });
  await world.advance(1_000);
  kill();
  assert.deepEqual(stored()[0]?.metadata.finalizers, [], "from now on the PersistentVolume may go");
  assert.deepEqual(intents(), []);
  await kube.delete({ kind: "PersistentVolumeClaim", namespace: "team", name: "new" });
  await kube.delete({ kind: "PersistentVolume", name: volume.metadata.name });
  const stop = start();
  await world.advance(60_000);
  assert.equal(volumes.size, 1);
  stop();
});

test("a clone starts when its source and the volume of its source are bound, in either order", async () => {
  const source = aPendingClaim({
    metadata: { name: "data", annotations: { [provisioning.storageProvisioner]: "another" } },
    spec: { volumeName: "pv-1" },
    status: { phase: "Bound" },
  });
  const { world, kube, start, stored, nameOf } = await setUpProvisioner({
    objects: [source, claimNamed("copy", { dataSource: { kind: "PersistentVolumeClaim", name: "data" } })],
  });
  const stop = start();
  await world.advance(1_000);
  const [uid] = kube.stored("PersistentVolumeClaim").map(({ metadata }) => metadata.uid);
  await kube.create("PersistentVolume", {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name: "pv-1" },
    spec: { csi: { driver, volumeHandle: "vol-1" }, claimRef: { namespace: "team", name: "data", uid } },
    status: { phase: "Bound" },
  } as never);
  await world.advance(1_000);
  assert.ok(stored().some(({ metadata }) => metadata.name === nameOf("copy")));
  await world.advance(5_000);
  const data = kube.stored("PersistentVolumeClaim").find(({ metadata }) => metadata.name === "data");
  assert.deepEqual(data?.metadata.finalizers, []);
  stop();
});

test("claims of one VolumeAttributesClass read it once, wait until it exists, and get its parameters", async () => {
  let isThere = false;
  const paths: string[] = [];
  const given: unknown[] = [];
  const named = { volumeAttributesClassName: "gold" };
  const { world, start, stored, events } = await setUpProvisioner({
    objects: [claimNamed("one", named), claimNamed("two", named)],
    attributesClass: (path) => {
      paths.push(path);
      if (!isThere) throw new Fault("NotFound", "no such class");
      return { driverName: driver, parameters: { iops: "100" } };
    },
    create: async ({ mutableParameters }) => {
      given.push(mutableParameters);
      return {};
    },
  });
  const stop = start();
  await world.advance(1_000);
  assert.deepEqual(new Set(events), new Set(["ProvisioningFailed SNAP-339"]));
  isThere = true;
  await world.advance(30_000);
  assert.deepEqual(given, [{ iops: "100" }, { iops: "100" }]);
  assert.deepEqual(
    stored().map(({ spec }) => (spec as { volumeAttributesClassName?: string }).volumeAttributesClassName),
    ["gold", "gold"],
  );
  assert.equal(paths[0], "/apis/storage.k8s.io/v1/volumeattributesclasses/gold");
  assert.ok(paths.length <= 4, `read ${paths.length} times`);
  stop();
});

test("a claim that has waited for its secret for long gets its volume soon after the secret has come", async () => {
  const parameters = {
    "csi.storage.k8s.io/provisioner-secret-name": "key",
    "csi.storage.k8s.io/provisioner-secret-namespace": "vault",
  };
  const late = aPendingClaim({ metadata: { name: "late" }, spec: { storageClassName: "secret" } });
  const storageClass = aStorageClass({ metadata: { ...aStorageClass().metadata, name: "secret" }, parameters });
  const { world, kube, start, stored, events } = await setUpProvisioner({ objects: [storageClass, late] });
  const stop = start();
  await world.advance(1_800_000);
  assert.deepEqual([stored().length, events], [0, ["ProvisioningFailed SNAP-338"]]);
  const metadata = { namespace: "vault", name: "key" };
  await kube.create("Secret", { apiVersion: "v1", kind: "Secret", metadata, data: {} } as never);
  await world.advance(16_000);
  assert.equal(stored().length, 1);
  stop();
});

test("a server that does not answer at the start is asked again, and nothing is decided before", async () => {
  let failures = 3;
  const { world, start, stored, asked } = await setUpProvisioner({
    objects: [claimNamed("new")],
    hook: ({ verb, kind }) => {
      if (verb === "get" && kind === "Lease" && failures-- > 0) throw new Fault("Unavailable", "not now");
      assert.ok(verb === "list" || verb === "watch" || failures <= 0);
    },
  });
  const stop = start();
  await world.advance(20_000);
  assert.deepEqual([stored().length, asked], [1, ["create"]]);
  stop();
});

test("a claim that is gone while its watch is silent gets no volume of its own again", async () => {
  const { world, kube, start, stored, asked } = await setUpProvisioner({ objects: [] });
  const stop = start();
  await world.advance(100);
  await kube.create("PersistentVolumeClaim", claimNamed("new"));
  await world.advance(1_000);
  assert.equal(stored().length, 1);
  // The cache has the claim, pending; its owner has retained the volume and deleted both objects.
  const [volume] = stored();
  const deleted = kube.stored("PersistentVolumeClaim")[0];
  assert.ok(volume !== undefined && deleted !== undefined);
  asked.length = 0;
  const { get } = kube;
  Object.assign(kube, {
    get: async (...args: Parameters<typeof get>) => {
      if (args[0].kind === "PersistentVolumeClaim") throw new Fault("NotFound", "it is gone");
      return get(...args);
    },
  });
  await kube.delete({ kind: "PersistentVolume", name: volume.metadata.name });
  const [left] = stored();
  if (left !== undefined)
    await kube.replace("PersistentVolume", { ...left, metadata: { ...left.metadata, finalizers: [] } });
  await world.advance(10_000);
  assert.deepEqual([stored().length, asked], [0, []]);
  stop();
});
