import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createClaim, createSnapshot, startHarness } from "../../../test/command-harness.ts";
import { startCommand } from "../../../test/command-line.ts";
import { temporaryFolder } from "../../../test/csi-sockets.ts";
import { now } from "../../../test/explain/cluster.ts";

test("a snapshot that nobody has looked at is stuck because no snapshot-controller runs, and the exit code says so", async (t) => {
  const { client, start } = await startHarness(t);
  await createClaim(client);
  await createSnapshot(client, "monday");
  const { code, said } = start("explain", "vs/monday");
  assert.equal(await code, 1, said());
  assert.match(
    said(),
    /^VolumeSnapshot default\/monday is stuck: ComponentDown at VolumeSnapshot default\/monday\n {2}no snapshot-controller runs/,
  );
  assert.match(said(), /^ {6}snapkeep install --apply$/m);
});

test("explain reads the object and what it names by their names, and lists no kind of which a cluster has many", async (t) => {
  const asked: string[] = [];
  const { client, start } = await startHarness(t, {
    beforeRequest: async ({ method, path }) => void asked.push(`${method} ${path}`),
  });
  await createClaim(client);
  await createSnapshot(client, "monday");
  const { code, said } = start("explain", "vs/monday");
  await code;
  const lists = asked.filter((request) =>
    /\/(volumesnapshots|volumesnapshotcontents|persistentvolume(claim)?s)(\?|$)/.test(request),
  );
  assert.deepEqual(lists, [], said());
  assert.deepEqual(
    asked.filter((request) => !request.startsWith("GET")),
    [],
  );
});

test("-o json has the cause with its object and actor, the chain and the next steps", async (t) => {
  const { client, start } = await startHarness(t);
  await createClaim(client);
  await client.delete({ kind: "PersistentVolumeClaim", namespace: "default", name: "data" });
  await createSnapshot(client, "monday");
  const { code, said } = start("explain", "volumesnapshot", "monday", "-n", "default", "-o", "json");
  assert.equal(await code, 1, said());
  const { kind, object, verdict, cause, chain, next, notRead } = JSON.parse(said());
  assert.deepEqual(
    { kind, object, verdict, notRead },
    {
      kind: "Explanation",
      object: { kind: "VolumeSnapshot", namespace: "default", name: "monday" },
      verdict: "stuck",
      notRead: [],
    },
  );
  assert.deepEqual(
    [cause.code, cause.at, cause.actor],
    ["ClaimNotFound", { kind: "PersistentVolumeClaim", namespace: "default", name: "data" }, "user"],
  );
  assert.equal(chain[0].phase, "invalid");
  assert.ok(next.length > 0);
});

test("-f explains objects of a file without a cluster", async (t) => {
  const file = join(temporaryFolder(t), "objects.yaml");
  writeFileSync(
    file,
    `apiVersion: v1
kind: List
items:
  - apiVersion: snapshot.storage.k8s.io/v1
    kind: VolumeSnapshot
    metadata: {namespace: team, name: monday, uid: u, resourceVersion: "1", creationTimestamp: "${now}"}
    spec: {source: {persistentVolumeClaimName: data}, volumeSnapshotClassName: fast}
  - apiVersion: snapshot.storage.k8s.io/v1
    kind: VolumeSnapshotClass
    metadata: {name: fast, uid: c, resourceVersion: "1"}
    driver: disk.example.com
    deletionPolicy: Delete
`,
  );
  const { code, said } = startCommand("explain", "vs/monday", "-n", "team", "-f", file);
  assert.equal(await code, 1, said.text);
  assert.match(said.text, /ClaimNotFound at PersistentVolumeClaim team\/data/);
});

test("an object that does not exist, and a kind that is not explained, are one line each", async (t) => {
  const { start } = await startHarness(t);
  const missing = start("explain", "vs/nothing");
  assert.equal(await missing.code, 1);
  assert.equal(
    missing.said(),
    "snapkeep explain: there is no VolumeSnapshot default/nothing; give --namespace of the object\n",
  );
  const unknown = start("explain", "volumesnapshut/x");
  assert.equal(await unknown.code, 2);
  assert.match(
    unknown.said(),
    /"volumesnapshut" is no kind that can be explained; did you mean volumesnapshot\? Kinds: /,
  );
});

test("names of objects cannot command a terminal", async (t) => {
  const file = join(temporaryFolder(t), "objects.yaml");
  const metadata = { namespace: "team", name: "monday", uid: "u", resourceVersion: "1", creationTimestamp: now };
  const spec = { source: { persistentVolumeClaimName: "a\u001b[2Jb" } };
  writeFileSync(
    file,
    JSON.stringify({ apiVersion: "snapshot.storage.k8s.io/v1", kind: "VolumeSnapshot", metadata, spec }),
  );
  const { code, said } = startCommand("explain", "vs/monday", "-n", "team", "-f", file);
  await code;
  assert.equal(said.text.includes("\u001b"), false);
});
