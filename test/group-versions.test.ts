/**
 * The version table of the group snapshot kinds: three stored versions × three versions of clients, on our CRDs. Nothing that one client
 * writes is lost by another one's replace, also not by one that only knows the fields of its version.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { groupSnapshotCrds } from "../src/api/crds/group-snapshots.ts";
import { annotations } from "../src/api/names.ts";
import type { VolumeGroupSnapshotContent } from "../src/api/types.ts";
import { isObject, type JsonObject } from "../src/base/json.ts";
import { membersOf, noteOfMembers } from "../src/rules/group-members.ts";
import { startApiServer, type TestServer } from "./api-server.ts";

const versions = ["v1", "v1beta2", "v1beta1"] as const;
const pathIn = (version: string): string => `/apis/groupsnapshot.storage.k8s.io/${version}/volumegroupsnapshotcontents`;
/** More than a double can hold: a nanosecond is lost if anybody reads it as one. */
const creationTime = 1_700_000_000_123_456_789n;
const members = ["a", "b"].map((name) => ({
  volumeHandle: `volume-${name}`,
  snapshotHandle: `snapshot-${name}`,
  creationTime,
  readyToUse: true,
  restoreSize: 1_073_741_824,
}));
const status = { volumeGroupSnapshotHandle: "group-1", readyToUse: true, volumeSnapshotInfoList: members };
const spec = {
  deletionPolicy: "Delete",
  driver: "d",
  source: { volumeHandles: ["volume-a", "volume-b"] },
  volumeGroupSnapshotRef: { namespace: "test", name: "g", uid: "u" },
};

async function taken(server: TestServer, version: string): Promise<void> {
  const metadata = { name: "g", annotations: { [annotations.groupMembers]: noteOfMembers(members) } };
  const apiVersion = `groupsnapshot.storage.k8s.io/${version}`;
  const object = { apiVersion, kind: "VolumeGroupSnapshotContent", metadata, spec };
  const created = await server.ask("POST", pathIn(version), object as unknown as JsonObject);
  assert.equal(created.status, 201, created.text);
  const patched = await server.ask("PATCH", `${pathIn(version)}/g/status`, { status } as unknown as JsonObject, {
    type: "merge",
  });
  assert.equal(patched.status, 200, patched.text);
}

const contentAt = async (server: TestServer, version: string): Promise<VolumeGroupSnapshotContent> =>
  (await server.ask("GET", `${pathIn(version)}/g`)).body as unknown as VolumeGroupSnapshotContent;

/** What the Go types of v1beta1 have in a status: another field, and not ours. */
const known: Readonly<Record<(typeof versions)[number], readonly string[]>> = {
  v1: ["volumeGroupSnapshotHandle", "creationTime", "readyToUse", "error", "volumeSnapshotInfoList"],
  v1beta2: ["volumeGroupSnapshotHandle", "creationTime", "readyToUse", "error", "volumeSnapshotInfoList"],
  v1beta1: ["volumeGroupSnapshotHandle", "creationTime", "readyToUse", "error", "volumeSnapshotHandlePairList"],
};

for (const stored of versions)
  for (const version of versions) {
    test(`stored at ${stored}: what a v1 client writes is read whole at ${version}`, async () => {
      const server = startApiServer({ definitions: groupSnapshotCrds(stored) });
      await taken(server, "v1");
      const content = await contentAt(server, version);
      assert.deepEqual(content.status?.volumeSnapshotInfoList, members);
      assert.deepEqual(content.spec, spec);
    });

    test(`stored at ${stored}: a typed ${version} client replaces object and status, and no member is lost`, async () => {
      const server = startApiServer({ definitions: groupSnapshotCrds(stored) });
      await taken(server, "v1");
      const read = (await server.ask("GET", `${pathIn(version)}/g`)).body;
      const seen = isObject(read.status) ? read.status : {};
      const typed = Object.fromEntries(Object.entries(seen).filter(([name]) => known[version].includes(name)));
      const replaced = await server.ask("PUT", `${pathIn(version)}/g/status`, { ...read, status: typed });
      assert.equal(replaced.status, 200, replaced.text);
      const whole = await server.ask("PUT", `${pathIn(version)}/g`, { ...replaced.body, status: typed });
      assert.equal(whole.status, 200, whole.text);
      for (const reader of versions) assert.deepEqual(membersOf(await contentAt(server, reader)), members);
      const after = await contentAt(server, "v1");
      assert.equal(after.status?.volumeSnapshotInfoList === undefined, version === "v1beta1");
    });
  }

test("the handle pairs that a v1beta1 client wrote are members at every version", async () => {
  const server = startApiServer({ definitions: groupSnapshotCrds() });
  const pairs = members.map(({ volumeHandle, snapshotHandle }) => ({ volumeHandle, snapshotHandle }));
  const object = {
    apiVersion: "groupsnapshot.storage.k8s.io/v1beta1",
    kind: "VolumeGroupSnapshotContent",
    metadata: { name: "g" },
    spec,
  };
  await server.ask("POST", pathIn("v1beta1"), object);
  await server.ask(
    "PATCH",
    `${pathIn("v1beta1")}/g/status`,
    { status: { volumeGroupSnapshotHandle: "group-1", volumeSnapshotHandlePairList: pairs } },
    { type: "merge" },
  );
  for (const version of versions) assert.deepEqual(membersOf(await contentAt(server, version)), pairs);
});

test("the strict versions keep the list of volumes as it was first written, v1beta1 does not", async () => {
  const server = startApiServer({ definitions: groupSnapshotCrds() });
  await taken(server, "v1");
  const change = { spec: { source: { volumeHandles: ["volume-c"] } } };
  for (const version of ["v1", "v1beta2"]) {
    const { status, text } = await server.ask("PATCH", `${pathIn(version)}/g`, change, { type: "merge" });
    assert.equal(status, 422);
    assert.match(text, /volumeHandles is immutable/);
  }
  const loose = await server.ask("PATCH", `${pathIn("v1beta1")}/g`, change, { type: "merge" });
  assert.equal(loose.status, 200, loose.text);
});

test("an annotation that is no list of members counts as none", () => {
  for (const text of ["", "{}", "7", "[7]", '[{"volumeHandle":"v"}]', '[{"volumeHandle":"v","snapshotHandle":7}]']) {
    const metadata = { name: "g", uid: "1", resourceVersion: "1", annotations: { [annotations.groupMembers]: text } };
    const content = { apiVersion: "", kind: "VolumeGroupSnapshotContent", metadata, spec } as const;
    assert.deepEqual(membersOf(content as unknown as VolumeGroupSnapshotContent), []);
  }
});
