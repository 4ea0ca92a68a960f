/** A group of two volumes from end to end, with the directory-driver: our pair, the embedded server, real files. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { eventually, temporaryFolder } from "../../../test/csi-sockets.ts";
import { draftOf } from "../../api/builders.ts";
import { silent } from "../../base/log.ts";
import { realWorld } from "../../base/world.ts";
import { startStack } from "./stack.ts";

const namespace = "default";

async function aStack(t: TestContext) {
  const root = join(temporaryFolder(t), "root");
  const stopping = new AbortController();
  const stack = await startStack({
    world: realWorld,
    log: silent,
    version: "1.2.3",
    port: 0,
    root,
    signal: stopping.signal,
  });
  t.after(() => {
    stopping.abort();
    return stack.stopped;
  });
  const { client, driver } = stack;
  const claimRef = (name: string) => ({ kind: "PersistentVolumeClaim", namespace, name }) as const;
  const fileOf = async (claim: string): Promise<string> => {
    const { spec } = await client.get(claimRef(claim));
    const volume = driver.storage.volumes.get(spec?.volumeName ?? "") ?? assert.fail(`no volume of ${claim}`);
    return join(driver.storage.dataOf(volume), "file");
  };
  const aClaim = async (name: string, labels: Record<string, string>, source: object = {}) => {
    const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Mi" } }, ...source };
    await client.create(
      "PersistentVolumeClaim",
      draftOf("PersistentVolumeClaim", { namespace, name, labels }, { spec }),
    );
    await eventually(`${name} is bound`, async () => (await client.get(claimRef(name))).status?.phase === "Bound");
  };
  const aGroup = async (name: string, source: object, more: object = {}): Promise<void> => {
    const group = draftOf("VolumeGroupSnapshot", { namespace, name }, { spec: { source, ...more } as never });
    await client.create("VolumeGroupSnapshot", group);
  };
  const groupRef = (name: string) => ({ kind: "VolumeGroupSnapshot", namespace, name }) as const;
  const isGone = async (
    kind: "VolumeGroupSnapshot" | "VolumeSnapshot" | "VolumeSnapshotContent" | "VolumeGroupSnapshotContent",
  ) => (await client.list(kind)).objects.length === 0;
  return { ...stack, root, fileOf, aClaim, aGroup, groupRef, claimRef, isGone };
}

const app = { app: "db" };
const selector = { matchLabels: app };

test("a group of two volumes is taken, restored member by member, and deleted with everything", async (t) => {
  const { client, root, fileOf, aClaim, aGroup, groupRef, isGone, driver } = await aStack(t);
  for (const name of ["data", "log"]) {
    await aClaim(name, app);
    await writeFile(await fileOf(name), `words of ${name}`);
  }
  await aClaim("other", { app: "web" });
  await aGroup("monday", { selector });
  await eventually(
    "the group is ready",
    async () => (await client.get(groupRef("monday"))).status?.readyToUse === true,
  );
  const group = await client.get(groupRef("monday"));
  const contentName = `groupsnapcontent-${group.metadata.uid}`;
  assert.equal(group.status?.boundVolumeGroupSnapshotContentName, contentName);
  assert.equal(group.spec.volumeGroupSnapshotClassName, "directory");
  assert.ok(group.status?.creationTime);
  const content = await client.get({ kind: "VolumeGroupSnapshotContent", name: contentName });
  const handles = content.spec.source.volumeHandles ?? [];
  assert.equal(handles.length, 2);
  for (const handle of handles) {
    const digest = createHash("sha256").update(`${group.metadata.uid}${handle}`).digest("hex");
    const member = await client.get({ kind: "VolumeSnapshot", namespace, name: `snapshot-${digest}` });
    const { metadata, status } = member;
    assert.deepEqual(
      metadata.ownerReferences?.map(({ kind, name, uid }) => [kind, name, uid]),
      [["VolumeGroupSnapshot", "monday", group.metadata.uid]],
    );
    assert.equal(status?.readyToUse, true);
    assert.equal(status?.volumeGroupSnapshotName, "monday");
    assert.equal(status?.boundVolumeSnapshotContentName, `snapcontent-${digest}`);
    const own = await client.get({ kind: "VolumeSnapshotContent", name: `snapcontent-${digest}` });
    assert.equal(own.status?.volumeGroupSnapshotHandle, content.status?.volumeGroupSnapshotHandle);
    const claim = member.spec.source.persistentVolumeClaimName ?? "";
    await writeFile(await fileOf(claim), "spoiled");
    await aClaim(
      `restored-${claim}`,
      {},
      {
        dataSource: { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: metadata.name },
      },
    );
    assert.equal(await readFile(await fileOf(`restored-${claim}`), "utf8"), `words of ${claim}`);
  }
  // No snapshot was taken singly.
  assert.deepEqual(readdirSync(join(root, "snapshots")), []);
  assert.equal(driver.storage.groups.all().length, 1);
  await client.delete(groupRef("monday"));
  for (const kind of [
    "VolumeGroupSnapshot",
    "VolumeGroupSnapshotContent",
    "VolumeSnapshot",
    "VolumeSnapshotContent",
  ] as const)
    await eventually(`every ${kind} is gone`, () => isGone(kind));
  assert.deepEqual(readdirSync(join(root, "groups")), []);
});

test("with Retain the group stays at the driver, and its contents stay without members", async (t) => {
  const { client, root, aClaim, aGroup, groupRef, isGone } = await aStack(t);
  await aClaim("data", app);
  const retain = { driver: "directory.snapkeep.dev", deletionPolicy: "Retain" } as const;
  await client.create("VolumeGroupSnapshotClass", draftOf("VolumeGroupSnapshotClass", { name: "keep" }, retain));
  await aGroup("monday", { selector }, { volumeGroupSnapshotClassName: "keep" });
  await eventually(
    "the group is ready",
    async () => (await client.get(groupRef("monday"))).status?.readyToUse === true,
  );
  await client.delete(groupRef("monday"));
  for (const kind of ["VolumeGroupSnapshot", "VolumeSnapshot"] as const)
    await eventually(`every ${kind} is gone`, () => isGone(kind));
  assert.equal((await client.list("VolumeGroupSnapshotContent")).objects.length, 1);
  assert.equal((await client.list("VolumeSnapshotContent")).objects.length, 1);
  assert.equal(readdirSync(join(root, "groups")).length, 1);
  // What is kept is deleted by hand.
  const [content] = (await client.list("VolumeGroupSnapshotContent")).objects;
  await client.delete({ kind: "VolumeGroupSnapshotContent", name: content?.metadata.name ?? "" });
  await eventually("the group content is gone", () => isGone("VolumeGroupSnapshotContent"));
});

test("a member is not deleted by itself, and an ordinary snapshot beside the group is", async (t) => {
  const { client, aClaim, aGroup, groupRef, isGone } = await aStack(t);
  await aClaim("data", app);
  await aGroup("monday", { selector });
  await eventually(
    "the group is ready",
    async () => (await client.get(groupRef("monday"))).status?.readyToUse === true,
  );
  const [member] = (await client.list("VolumeSnapshot")).objects;
  const memberRef = { kind: "VolumeSnapshot", namespace, name: member?.metadata.name ?? "" } as const;
  await client.delete(memberRef);
  const ordinary = { kind: "VolumeSnapshot", namespace, name: "single" } as const;
  const source = { spec: { source: { persistentVolumeClaimName: "data" } } };
  await client.create("VolumeSnapshot", draftOf("VolumeSnapshot", { namespace, name: "single" }, source));
  await eventually("the snapshot is ready", async () => (await client.get(ordinary)).status?.readyToUse === true);
  await client.delete(ordinary);
  await eventually(
    "the ordinary snapshot is gone",
    async () => (await client.list("VolumeSnapshot")).objects.length === 1,
  );
  await eventually("the refusal is told", async () =>
    (await client.list("Event")).objects.some(({ message }) => message?.includes("[SNAP-267]") === true),
  );
  assert.ok((await client.get(memberRef)).metadata.deletionTimestamp);
  await client.delete(groupRef("monday"));
  await eventually("the member is gone with its group", () => isGone("VolumeSnapshot"));
});
