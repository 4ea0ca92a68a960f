/** take, restore, delete and get as a person runs them, on the cluster of `snapkeep up`. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { parse } from "yaml";
import { startCommand } from "../../../test/command-line.ts";
import { eventually, temporaryFolder } from "../../../test/csi-sockets.ts";
import { draftOf } from "../../api/builders.ts";
import { silent } from "../../base/log.ts";
import { realWorld } from "../../base/world.ts";
import { startStack } from "../up/stack.ts";

async function setUp(t: TestContext) {
  const folder = temporaryFolder(t);
  const stopping = new AbortController();
  const { signal } = stopping;
  const root = join(folder, "root");
  const stack = await startStack({ world: realWorld, log: silent, version: "1.2.3", port: 0, root, signal });
  t.after(() => {
    stopping.abort();
    return stack.stopped;
  });
  const kubeconfig = join(folder, "config");
  writeFileSync(kubeconfig, stack.api.kubeconfig);
  const start = (...argv: readonly string[]) => startCommand(...argv, `--kubeconfig=${kubeconfig}`);
  const run = async (...argv: readonly string[]) => {
    const { said, code } = start(...argv);
    return { code: await code, ...said };
  };
  const { client } = stack;
  const createClaim = (name: string, spec: object = {}) =>
    client.create(
      "PersistentVolumeClaim",
      draftOf(
        "PersistentVolumeClaim",
        { namespace: "default", name },
        { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Mi" } }, ...spec } },
      ),
    );
  const namesOf = async (kind: "VolumeSnapshot" | "PersistentVolumeClaim" | "ReferenceGrant") =>
    (await client.list(kind)).objects.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`).sort();
  return { client, start, run, createClaim, namesOf };
}

test("take, restore and delete do what they say, each with one line for what was done and one for what was waited for", async (t) => {
  const { client, run, createClaim, namesOf } = await setUp(t);
  await createClaim("data");

  const taken = await run("take", "data", "--name=monday", "--wait");
  assert.equal(taken.code, 0, taken.text);
  assert.match(
    taken.out,
    /^volumesnapshot\.snapshot\.storage\.k8s\.io\/monday created\nvolumesnapshot\.snapshot\.storage\.k8s\.io\/monday ready, 1Mi after \d+\.\d s\n$/,
  );

  const restored = await run("restore", "monday", "--to=again", "--wait");
  assert.equal(restored.code, 0, restored.text);
  assert.match(
    restored.out,
    /^persistentvolumeclaim\/again created\npersistentvolumeclaim\/again bound to volume pvc-\S+ after \d+\.\d s\n$/,
  );
  const claim = await client.get({ kind: "PersistentVolumeClaim", namespace: "default", name: "again" });
  assert.deepEqual(claim.spec?.accessModes, ["ReadWriteOnce"]);
  assert.equal(claim.spec?.resources?.requests?.storage, "1Mi");
  assert.equal(claim.spec?.dataSourceRef?.name, "monday");

  const dry = await run("delete", "vs/monday", "--dry-run=client");
  assert.equal(dry.code, 0, dry.text);
  assert.match(dry.out, /monday deleted \(dry run\)\n {2}snapshot \S+ of driver \S+ is deleted with it/);
  assert.deepEqual(await namesOf("VolumeSnapshot"), ["default/monday"]);

  const deleted = await run("delete", "monday");
  assert.equal(deleted.code, 0, deleted.text);
  assert.match(deleted.out, /monday deleted\n.*\n\S+\/monday gone after \d+\.\d s\n$/);
  assert.deepEqual(await namesOf("VolumeSnapshot"), []);
});

test("-o name, json and yaml print the object and nothing else, with --wait as it is at the end", async (t) => {
  const { run, createClaim } = await setUp(t);
  await createClaim("data");
  const named = await run("take", "data", "--wait", "-o", "name");
  const [, name = ""] = /^volumesnapshot\.snapshot\.storage\.k8s\.io\/(data-\d{8}-\d{6})\n$/.exec(named.out) ?? [];
  assert.notEqual(name, "", named.text);
  const json = await run("take", "pvc/data", "--name=one", "--wait", "-o", "json");
  assert.equal(JSON.parse(json.out).status.readyToUse, true);
  const yaml = await run("restore", name, "--to=copy", "--dry-run=server", "-o", "yaml");
  assert.equal(parse(yaml.out).spec.dataSource.name, name);
});

test("--dry-run=client sends nothing, and --dry-run=server stores nothing", async (t) => {
  const { run, createClaim, namesOf } = await setUp(t);
  await createClaim("data");
  const client = await run("take", "data", "--name=one", "--dry-run=client");
  assert.match(client.out, /\/one created \(dry run\)\n$/);
  const server = await run("take", "data", "--name=one", "--dry-run=server", "--wait");
  assert.match(server.out, /\/one created \(server dry run\)\n$/);
  assert.deepEqual(await namesOf("VolumeSnapshot"), []);
});

test("what cannot be taken or restored is refused with its code, and nothing is created", async (t) => {
  const { run, createClaim, namesOf } = await setUp(t);
  await createClaim("data");
  assert.equal((await run("take", "data", "--name=monday", "--wait")).code, 0);
  const refusals: readonly (readonly [readonly string[], RegExp])[] = [
    [["take", "nothing"], /default\/nothing does not exist; .*\[SNAP-872\]/],
    [["restore", "tuesday", "--to=again"], /default\/tuesday does not exist; .*\[SNAP-873\]/],
    [["restore", "monday", "--to=again", "--size=1Ki"], /--size=1Ki is less; ask for 1Mi or more.*\[SNAP-876\]/],
    [["restore", "monday", "--to=data"], /already exists/],
    [["restore", "monday"], /name the claim to create with --to/],
    [["restore", "monday", "--to=a", "--size=much"], /much/],
    [["take"], /give one claim; for example snapkeep take data/],
    [["delete", "tuesday"], /tuesday/],
  ];
  for (const [argv, expected] of refusals) {
    const { code, error } = await run(...argv);
    assert.notEqual(code, 0, argv.join(" "));
    assert.match(error, expected, argv.join(" "));
  }
  assert.deepEqual(await namesOf("PersistentVolumeClaim"), ["default/data"]);
});

test("a restore into another namespace shows the grant that it needs, and creates it only if that is wished", async (t) => {
  const { client, run, createClaim, namesOf } = await setUp(t);
  await createClaim("data");
  assert.equal((await run("take", "data", "--name=monday", "--wait")).code, 0);
  await client.create("Namespace", draftOf("Namespace", { name: "staging" }, {}));

  const refused = await run("restore", "monday", "--to=staging/again");
  assert.equal(refused.code, 1, refused.text);
  assert.match(refused.error, /no ReferenceGrant in namespace default allows it; .*\[SNAP-875\]/);
  assert.deepEqual(parse(refused.error.slice(refused.error.indexOf("\napiVersion"))).spec, {
    from: [{ group: "", kind: "PersistentVolumeClaim", namespace: "staging" }],
    to: [{ group: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "monday" }],
  });
  assert.deepEqual(await namesOf("ReferenceGrant"), []);

  const granted = await run("restore", "monday", "--to=staging/again", "--create-grant", "--wait");
  assert.equal(granted.code, 0, granted.text);
  assert.match(granted.error, /referencegrant\S*\/monday-to-staging created in namespace default/);
  assert.deepEqual(await namesOf("ReferenceGrant"), ["default/monday-to-staging"]);
  assert.deepEqual(await namesOf("PersistentVolumeClaim"), ["default/data", "staging/again"]);
});

test("a wait ends at once when the snapshot is blocked, or when the time is over, and says why", async (t) => {
  const { client, run, createClaim } = await setUp(t);
  await createClaim("data");
  const blocked = await run("take", "data", "--name=one", "--class=nowhere", "--wait", "--timeout=60s");
  assert.equal(blocked.code, 3, blocked.text);
  assert.match(blocked.error, /VolumeSnapshot default\/one is not ready; .*\[SNAP-871\]/);
  assert.match(blocked.error, /VolumeSnapshotClass\s+nowhere/);
  assert.match(blocked.error, /^waiting: .*nowhere/m);
  const storageClass = { provisioner: "directory.snapkeep.dev", volumeBindingMode: "WaitForFirstConsumer" } as const;
  await client.create("StorageClass", draftOf("StorageClass", { name: "late" }, storageClass));
  assert.equal((await run("take", "data", "--name=two", "--wait")).code, 0);
  const late = await run("restore", "two", "--to=again", "--storage-class=late", "--wait", "--timeout=1s");
  assert.equal(late.code, 4, late.text);
  assert.match(late.error, /PersistentVolumeClaim default\/again is Pending after 1 s; .*\[SNAP-861\]/);
  assert.match(late.error, /no pod uses the claim/);
});

test("get shows phase, age, size and source of each snapshot, and what blocks it", async (t) => {
  const { run, createClaim } = await setUp(t);
  await createClaim("data");
  assert.equal((await run("get")).out, "no snapshots\n");
  assert.equal((await run("take", "data", "--name=monday", "--wait")).code, 0);
  await run("take", "data", "--name=tuesday", "--class=nowhere");
  const { code, out, error } = await run("get");
  assert.equal(code, 0, error);
  const [head = "", ...rows] = out.trimEnd().split("\n");
  assert.match(head, /^NAME +PHASE +AGE +SIZE +SOURCE +BLOCKED BY$/);
  assert.match(rows[0] ?? "", /^monday +ready +\d+s +1Mi +data +-$/);
  assert.match(rows[1] ?? "", /^tuesday +invalid +\d+s +- +data +ClassNotFound at VolumeSnapshotClass nowhere$/);
  assert.match((await run("get", "-A", "-l", "app=none")).out, /^no snapshots\n$/);
  assert.equal((await run("get", "monday", "-o", "name")).out, "volumesnapshot.snapshot.storage.k8s.io/monday\n");
  const { items } = JSON.parse((await run("get", "-A", "-o", "json")).out);
  assert.deepEqual(
    items.map((item: { name: string; verdict: string }) => [item.name, item.verdict]),
    [
      ["monday", "good"],
      ["tuesday", "stuck"],
    ],
  );
  const absent = await run("get", "friday");
  assert.equal(absent.code, 1);
  assert.match(absent.error, /there is no VolumeSnapshot friday in namespace default/);
  assert.equal((await run("get", "monday", "-A")).code, 2);
});

test("get -w prints a row again when it has changed, and no other", async (t) => {
  const { run, createClaim, start } = await setUp(t);
  await createClaim("data");
  assert.equal((await run("take", "data", "--name=monday", "--wait")).code, 0);
  const { said, stop, code } = start("get", "-w");
  await eventually("the first rows", async () => said.out.includes("monday"));
  assert.equal((await run("take", "data", "--name=tuesday", "--wait")).code, 0);
  await eventually("the new row", async () => /^tuesday +ready/m.test(said.out));
  stop();
  assert.equal(await code, 0, said.error);
  assert.equal(said.out.match(/^monday/gm)?.length, 1);
});
