import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
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
    /^VolumeSnapshot default\/monday is stuck: ComponentDown at VolumeSnapshot\s+default\/monday\n {2}no snapshot-controller runs/,
  );
  assert.match(said(), /^ {6}snapkeep install --apply$/m);
});

test("explain reads one of 10,000 snapshots and what it names by their names, and lists no kind of which a cluster has many", async (t) => {
  const asked: string[] = [];
  const { client, start } = await startHarness(t, {
    beforeRequest: async ({ method, path }) => void asked.push(`${method} ${path}`),
  });
  await createClaim(client);
  for (let index = 0; index < 10_000; index += 1) await createSnapshot(client, `s-${index}`);
  const { code, said } = start("explain", "vs/s-5000");
  await code;
  const lists = asked.filter((request) =>
    /\/(volumesnapshots|volumesnapshotcontents|persistentvolume(claim)?s)(\?|$)/.test(request),
  );
  assert.deepEqual(lists, [], said());
  assert.deepEqual(
    asked.filter((request) => !request.startsWith("GET")),
    [],
  );
  const objects = asked.filter((request) => /namespaces|storage|leases|pods/.test(request));
  assert.ok(objects.length <= 20, objects.join("\n"));
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

const snapshotYaml = `
  - apiVersion: snapshot.storage.k8s.io/v1
    kind: VolumeSnapshot
    metadata: {namespace: team, name: monday, uid: u, resourceVersion: "1", creationTimestamp: "${now}"}
    spec: {source: {persistentVolumeClaimName: data}, volumeSnapshotClassName: fast}`;
const classYaml = `
  - apiVersion: snapshot.storage.k8s.io/v1
    kind: VolumeSnapshotClass
    metadata: {name: fast, uid: c, resourceVersion: "1"}
    driver: disk.example.com
    deletionPolicy: Delete`;
const claimYaml = (name: string): string => `
  - apiVersion: v1
    kind: PersistentVolumeClaim
    metadata: {namespace: team, name: ${name}, uid: p, resourceVersion: "1"}
    spec: {}`;

async function explainedFrom(t: TestContext, items: string, ...more: readonly string[]) {
  const file = join(temporaryFolder(t), "objects.yaml");
  writeFileSync(file, `apiVersion: v1\nkind: List\nitems:${items}\n`);
  const { code, said } = startCommand("explain", "vs/monday", "-n", "team", "-f", file, ...more);
  return { code: await code, text: said.text };
}

test("-f explains objects of a file without a cluster", async (t) => {
  const { code, text } = await explainedFrom(t, snapshotYaml + classYaml + claimYaml("other"));
  assert.equal(code, 1, text);
  assert.match(text, /ClaimNotFound at PersistentVolumeClaim\s+team\/data/);
});

test("what files do not list is not said to be missing: the command that adds it is printed", async (t) => {
  const { code, text } = await explainedFrom(t, snapshotYaml + classYaml);
  assert.equal(code, 1, text);
  assert.match(
    text,
    /^VolumeSnapshot team\/monday cannot be judged: NotReadable at\s+PersistentVolumeClaim team\/data/,
  );
  assert.match(text, /^ {6}kubectl get persistentvolumeclaim data -n team -o yaml$/m);
});

test("files are judged as of their newest date", async (t) => {
  const { text } = await explainedFrom(t, snapshotYaml + classYaml + claimYaml("other"), "-o", "yaml");
  assert.match(text, new RegExp(`^time: ${now}$`, "m"));
});

test("a bundle of gather gives the answer that the cluster gives", async (t) => {
  const { client, start } = await startHarness(t);
  const folder = join(temporaryFolder(t), "bundle");
  await createClaim(client);
  await createSnapshot(client, "monday");
  const live = start("explain", "vs/monday", "-n", "default", "-o", "json");
  await live.code;
  assert.equal(await start("gather", `--out=${folder}`, "--namespace=default").code, 0);
  const offline = startCommand("explain", "vs/monday", "-n", "default", "-f", folder, "-o", "json");
  await offline.code;
  const [{ time: _, ...fromCluster }, { time: __, ...fromBundle }] = [
    JSON.parse(live.said()),
    JSON.parse(offline.said.out),
  ];
  assert.deepEqual(fromBundle, fromCluster);
  assert.equal(fromCluster.cause.code, "ComponentDown");
});

test("a command that is printed is safe to copy, whatever the names in it", async (t) => {
  const evil = snapshotYaml.replace("persistentVolumeClaimName: data", `persistentVolumeClaimName: "a'; rm -rf ~; '"`);
  const { text } = await explainedFrom(t, evil + classYaml + claimYaml("other"), "-o", "json");
  const commands = (JSON.parse(text).next as { command?: string }[]).map(({ command = "" }) => command).join("\n");
  assert.doesNotMatch(commands.replaceAll(/'(?:[^']|'\\'')*'/g, "WORD"), /rm -rf/);
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

const many = `${snapshotYaml}${snapshotYaml.replace("name: monday", "labels: {app: db}, name: tuesday")}${classYaml}`;
async function explainedAll(t: TestContext, ...more: readonly string[]) {
  const file = join(temporaryFolder(t), "objects.yaml");
  writeFileSync(file, `apiVersion: v1\nkind: List\nitems:${many}${claimYaml("other")}\n`);
  const { code, said } = startCommand("explain", "vs", "-f", file, ...more);
  return { code: await code, text: said.text };
}

test("a kind without a name explains each of its objects in a line, of a namespace, of all or with a label", async (t) => {
  const both = /^VolumeSnapshot team\/monday is stuck: .*\n(.+\n)*VolumeSnapshot team\/tuesday is stuck: /;
  assert.match((await explainedAll(t, "-n", "team")).text, both);
  assert.match((await explainedAll(t, "-A", "-o", "wide")).text, /Next: /);
  const labelled = await explainedAll(t, "-A", "-l", "app=db", "-o", "json");
  assert.equal(labelled.code, 1);
  const { kind, items } = JSON.parse(labelled.text);
  assert.deepEqual([kind, items.length, items[0].object.name], ["ExplanationList", 1, "tuesday"]);
  assert.equal((await explainedAll(t, "-A", "-l", "app=none")).text, "There are none.\n");
});

test("a name and a choice among many, and a namespace and all of them, exclude each other", async () => {
  for (const [argv, words] of [
    [["vs/monday", "-A"], /leave out the name/],
    [["vs", "-A", "-n=team"], /exclude each other/],
    [["vs", "-l", "a=("], /--selector: /],
  ] as const) {
    const { code, said } = startCommand("explain", ...argv);
    assert.equal(await code, 2);
    assert.match(said.error, words);
  }
});

test("Ctrl-C before there is an answer ends with 130, and prints nothing", async (t) => {
  const isAsked = Promise.withResolvers<void>();
  const never = new Promise<never>(() => undefined);
  const { start, stop } = await startHarness(t, {
    beforeRequest: () => {
      isAsked.resolve();
      return never;
    },
  });
  const { code, said } = start("explain", "vs/monday");
  await isAsked.promise;
  stop();
  assert.equal(await code, 130);
  assert.equal(said(), "");
});

test("a reader that stops early, as head does, is no failure", async (t) => {
  const file = join(temporaryFolder(t), "objects.yaml");
  writeFileSync(file, `apiVersion: v1\nkind: List\nitems:${many}${claimYaml("other")}\n`);
  const line = `"${process.execPath}" src/main.ts explain vs -A -o wide -f "${file}" | head -n 1 ; echo "\${PIPESTATUS[0]}"`;
  const { stdout, stderr } = await promisify(execFile)("bash", ["-c", line]);
  assert.match(stdout, /^VolumeSnapshot team\/monday is stuck: ClaimNotFound at PersistentVolumeClaim\n[01]\n$/);
  assert.equal(stderr, "");
});
