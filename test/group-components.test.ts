/**
 * snapshot-controller and csi-snapshotter together, on the embedded server, with a driver of the test's making and a clock that it moves: what
 * a group costs, what odd answers lead to, and which definitions a cluster may have.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { draftOf } from "../src/api/builders.ts";
import { groupSnapshotCrds } from "../src/api/crds/group-snapshots.ts";
import { type CrdDraft, snapshotCrds } from "../src/api/crds/index.ts";
import type { KindName } from "../src/api/kinds.ts";
import type { HttpRequest } from "../src/base/http.ts";
import { silent } from "../src/base/log.ts";
import { start as startSidecar } from "../src/components/csi-snapshotter/start.ts";
import { start as startController } from "../src/components/snapshot-controller/start.ts";
import {
  ControllerServiceCapability_RPC_Type as Can,
  GroupControllerServiceCapability_RPC_Type as CanGroup,
  Controller,
  GroupController,
  Identity,
  PluginCapability_Service_Type as Serves,
} from "../src/csi/gen/csi_pb.js";
import { serve, unaryOf } from "../src/csi/serve.ts";
import { createClient } from "../src/kube/client.ts";
import { createLocalContext } from "../src/runtime/context.ts";
import { startApiServer } from "./api-server.ts";
import { driver } from "./builders.ts";

const namespace = "default";
const labels = { app: "db" };

interface Answer {
  readonly snapshotId: string;
  readonly sourceVolumeId: string;
  readonly readyToUse: boolean;
}
interface Stage {
  readonly definitions?: readonly CrdDraft[];
  readonly volumes?: number;
  /** What the driver answers of each volume's snapshot. */
  readonly bend?: (answers: readonly Answer[]) => readonly Answer[];
  /** Whether the group is ready, at the n-th question. */
  readonly isReady?: (asked: number) => boolean;
}

async function setUp({
  definitions = groupSnapshotCrds(),
  volumes = 2,
  bend = (all) => all,
  isReady = () => true,
}: Stage = {}) {
  const stop = new AbortController();
  const server = startApiServer({ definitions: [...snapshotCrds(3), ...definitions] });
  const { world } = server;
  const writes: string[] = [];
  const counting = (request: HttpRequest) => {
    if (request.method !== "GET" && !/selfsubject|events/.test(request.path))
      writes.push(`${request.method} ${request.path}`);
    return server.handler(request);
  };
  const api = createClient({ handler: counting, world });
  const deleted: string[][] = [];
  let asked = 0;
  let takenSingly = 0;
  let last: readonly Answer[] = [];
  const groupOf = (name: string) => {
    const readyToUse = isReady(asked++);
    const snapshots = last.map((one) => ({
      ...one,
      readyToUse: one.readyToUse && readyToUse,
      creationTime: { seconds: 1_767_225_601n },
    }));
    return {
      groupSnapshot: { groupSnapshotId: name, snapshots, readyToUse, creationTime: { seconds: 1_767_225_601n } },
    };
  };
  const calls = unaryOf([
    serve(Identity, {
      probe: () => ({}),
      getPluginInfo: () => ({ name: driver }),
      getPluginCapabilities: () => ({
        capabilities: [Serves.CONTROLLER_SERVICE, Serves.GROUP_CONTROLLER_SERVICE].map((type) => ({
          type: { case: "service" as const, value: { type } },
        })),
      }),
    }),
    serve(Controller, {
      controllerGetCapabilities: () => ({
        capabilities: [{ type: { case: "rpc", value: { type: Can.CREATE_DELETE_SNAPSHOT } } }],
      }),
      createSnapshot: ({ name, sourceVolumeId }) => {
        takenSingly += 1;
        return {
          snapshot: { snapshotId: name, sourceVolumeId, readyToUse: true, creationTime: { seconds: 1_767_225_601n } },
        };
      },
      deleteSnapshot: () => ({}),
    }),
    serve(GroupController, {
      groupControllerGetCapabilities: () => ({
        capabilities: [{ type: { case: "rpc", value: { type: CanGroup.CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT } } }],
      }),
      createVolumeGroupSnapshot: ({ name, sourceVolumeIds }) => {
        last = bend(sourceVolumeIds.map((id) => ({ snapshotId: `s-${id}`, sourceVolumeId: id, readyToUse: true })));
        return groupOf(name);
      },
      getVolumeGroupSnapshot: ({ groupSnapshotId }) => groupOf(groupSnapshotId),
      deleteVolumeGroupSnapshot: ({ snapshotIds }) => {
        deleted.push([...snapshotIds]);
        return {};
      },
    }),
  ]);
  const contextFor = (name: string) =>
    createLocalContext({
      name,
      api,
      world,
      log: silent,
      signal: stop.signal,
      workers: 4,
      backoff: { startMs: 1_000, maxMs: 60_000 },
    });
  const components = [
    await startController(contextFor("snapshot-controller"), {
      enableDistributedSnapshotting: false,
      preventVolumeModeConversion: true,
      groups: true,
    }),
    await startSidecar(
      contextFor("csi-snapshotter"),
      {
        csiAddress: "in this process",
        timeout: 60_000,
        snapshotNamePrefix: "snapshot",
        snapshotNameUuidLength: -1,
        extraCreateMetadata: false,
        nodeDeployment: false,
        nodeName: "",
        groups: { groupsnapshotNamePrefix: "groupsnapshot", groupsnapshotNameUuidLength: -1 },
      },
      { calls },
    ),
  ];
  const running = Promise.all([
    server.run(stop.signal),
    ...components.flatMap((component) => [component.watch?.(stop.signal), component.run(stop.signal)]),
  ]);
  running.catch(() => undefined);
  const client = createClient({ handler: server.handler, world });
  const run = <T>(work: Promise<T>): Promise<T> => world.run(work);
  for (let index = 0; index < volumes; index++) {
    const sized = { accessModes: ["ReadWriteOnce"], storageClassName: "" };
    const [name, place] = [`pv-${index}`, { namespace, name: `data-${index}` }];
    const volume = {
      ...sized,
      capacity: { storage: "1Mi" },
      csi: { driver, volumeHandle: `v-${index}` },
      claimRef: place,
    };
    await run(
      client.create(
        "PersistentVolume",
        draftOf("PersistentVolume", { name }, { spec: { ...volume, volumeMode: "Filesystem" } }),
      ),
    );
    const spec = { ...sized, resources: { requests: { storage: "1Mi" } }, volumeName: name };
    await run(client.create("PersistentVolumeClaim", draftOf("PersistentVolumeClaim", { ...place, labels }, { spec })));
  }
  const snapshotClass = draftOf("VolumeSnapshotClass", { name: "fast" }, { driver, deletionPolicy: "Delete" });
  await run(client.create("VolumeSnapshotClass", snapshotClass));
  await world.advance(5_000);
  const ref = { kind: "VolumeGroupSnapshot", namespace, name: "group" } as const;
  return {
    world,
    client,
    run,
    ref,
    writes,
    deleted,
    takenSingly: () => takenSingly,
    names: async (kind: KindName) => (await run(client.list(kind))).objects.map(({ metadata }) => metadata.name),
    group: () => run(client.get(ref)),
    async take(version = "v1"): Promise<void> {
      const apiVersion = `groupsnapshot.storage.k8s.io/${version}`;
      const groupClass = draftOf("VolumeGroupSnapshotClass", { name: "groups" }, { driver, deletionPolicy: "Delete" });
      await run(client.create("VolumeGroupSnapshotClass", { ...groupClass, apiVersion }));
      const spec = { source: { selector: { matchLabels: labels } }, volumeGroupSnapshotClassName: "groups" };
      await run(
        client.create("VolumeGroupSnapshot", {
          ...draftOf("VolumeGroupSnapshot", { namespace, name: "group" }, { spec }),
          apiVersion,
        }),
      );
      await world.advance(30_000);
    },
    async single(): Promise<boolean> {
      const spec = { source: { persistentVolumeClaimName: "data-0" }, volumeSnapshotClassName: "fast" };
      await run(client.create("VolumeSnapshot", draftOf("VolumeSnapshot", { namespace, name: "single" }, { spec })));
      await world.advance(30_000);
      const { status } = await run(client.get({ kind: "VolumeSnapshot", namespace, name: "single" }));
      return status?.readyToUse === true;
    },
    end: async (): Promise<void> => {
      stop.abort();
      await run(running.then(() => undefined));
    },
  };
}

test("a member costs four writes, and a group of any size no more than nine beside them", async () => {
  const writesOf = async (volumes: number): Promise<number> => {
    const stage = await setUp({ volumes });
    stage.writes.length = 0;
    await stage.take();
    assert.equal((await stage.group()).status?.readyToUse, true);
    assert.equal(stage.takenSingly(), 0);
    const count = stage.writes.length;
    await stage.end();
    return count;
  };
  const [two, twelve] = [await writesOf(2), await writesOf(12)];
  assert.equal((twelve - two) / 10, 4);
  assert.ok(two - 8 <= 9, `${two - 8} writes beside the members`);
});

test("a group that becomes ready later is asked for, and its members follow", async () => {
  const stage = await setUp({ isReady: (asked) => asked >= 3 });
  await stage.take();
  await stage.world.advance(60_000);
  assert.equal((await stage.group()).status?.readyToUse, true);
  const { objects } = await stage.run(stage.client.list("VolumeSnapshot"));
  assert.deepEqual(
    objects.map(({ status }) => status?.readyToUse),
    [true, true],
  );
  await stage.end();
});

const foreign = { snapshotId: "s-foreign", sourceVolumeId: "v-9", readyToUse: true };
for (const [what, bend] of [
  ["fewer members", (all: readonly Answer[]) => all.slice(1)],
  ["more members", (all: readonly Answer[]) => [...all, foreign]],
  ["a doubled member", (all: readonly Answer[]) => [...all, { ...(all[0] ?? foreign), snapshotId: "s-double" }]],
  ["a foreign member", (all: readonly Answer[]) => [...all.slice(1), foreign]],
] as const)
  test(`${what} in the answer: no member is made, the error has a code, and the group goes with all that was named`, async () => {
    const stage = await setUp({ bend });
    await stage.take();
    const { status } = await stage.group();
    assert.equal(status?.readyToUse, false);
    assert.match(status?.error?.message ?? "", /\[SNAP-542\]$/);
    assert.deepEqual(await stage.names("VolumeSnapshot"), []);
    await stage.run(stage.client.delete(stage.ref));
    await stage.world.advance(60_000);
    for (const kind of ["VolumeGroupSnapshot", "VolumeGroupSnapshotContent"] as const)
      assert.deepEqual(await stage.names(kind), []);
    const named = bend(["v-0", "v-1"].map((id) => ({ snapshotId: `s-${id}`, sourceVolumeId: id, readyToUse: true })));
    assert.deepEqual(
      stage.deleted.at(-1),
      named.map(({ snapshotId }) => snapshotId),
    );
    await stage.end();
  });

/** The definitions with these versions alone; v1beta1 as upstream has it, with pairs and no other list. */
const only = (...versions: readonly string[]): readonly CrdDraft[] =>
  groupSnapshotCrds(versions.at(-1)).map((crd) => {
    const kept = crd.spec.versions.filter(({ name }) => versions.includes(name));
    const text = JSON.stringify({ ...crd, spec: { ...crd.spec, versions: kept } });
    const parsed = JSON.parse(text) as CrdDraft;
    for (const { name, schema } of parsed.spec.versions) {
      const { status } = schema?.openAPIV3Schema?.properties ?? {};
      if (name === "v1beta1") delete status?.properties?.volumeSnapshotInfoList;
    }
    return parsed;
  });

for (const [what, definitions, version] of [
  ["no group kind", [], undefined],
  ["one group kind of three", only("v1").slice(0, 1), undefined],
  ["v1 alone", only("v1"), "v1"],
  ["v1beta2 alone", only("v1beta2"), "v1beta2"],
  ["v1beta1 alone, as upstream has it", only("v1beta1"), "v1beta1"],
] as const)
  test(`with ${what} ordinary snapshots work${version === undefined ? "" : ", and groups"}`, async () => {
    const stage = await setUp({ definitions });
    assert.equal(await stage.single(), true);
    if (version !== undefined) {
      await stage.take(version);
      assert.equal((await stage.group()).status?.readyToUse, true);
      const writes = stage.writes.length;
      await stage.world.advance(120_000);
      assert.equal(stage.writes.length, writes, "a settled group is written to");
      await stage.run(stage.client.delete(stage.ref));
      await stage.world.advance(60_000);
      assert.deepEqual(await stage.names("VolumeGroupSnapshotContent"), []);
      assert.deepEqual(await stage.names("VolumeSnapshot"), ["single"]);
      assert.deepEqual(stage.deleted.at(-1)?.toSorted(), ["s-v-0", "s-v-1"]);
    }
    await stage.end();
  });

test("groups are taken once their kinds are installed, and a member is deleted once they are gone", async () => {
  const stage = await setUp({ definitions: [] });
  for (const crd of groupSnapshotCrds()) await stage.run(stage.client.create("CustomResourceDefinition", crd));
  await stage.world.advance(120_000);
  await stage.take();
  assert.equal((await stage.group()).status?.readyToUse, true);
  await stage.end();
});
