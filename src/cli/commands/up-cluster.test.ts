/** Every tool on the cluster that the tutorial makes, with what its reader has created by then: nothing is to be complained of. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { stringify } from "yaml";
import { startCommand } from "../../../test/command-line.ts";
import { eventually, temporaryFolder } from "../../../test/csi-sockets.ts";
import { draftOf } from "../../api/builders.ts";
import { snapshotConfigurationName } from "../../api/manifests/webhook-configurations.ts";
import { realWorld } from "../../base/world.ts";
import { createClient } from "../../kube/client.ts";
import { loadConfig } from "../../kube/config.ts";
import { createTransport } from "../../kube/transport.ts";
import { servedKinds } from "../reference.ts";

const namespace = "default";
const source = { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "monday" };
const claimSpec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };

/** A claim, its snapshot, a restore, and a restore in another namespace, by grant. */
async function startUp(t: TestContext, ...flags: readonly string[]) {
  const folder = temporaryFolder(t);
  const kubeconfig = join(folder, "kubeconfig");
  const { said, stop, code } = startCommand("up", "--tour=false", "--kubeconfig-out", kubeconfig, ...flags);
  await eventually("it says that it stays up", () => said.text.includes("Ctrl-C ends it"));
  const { handler, close } = createTransport(await loadConfig({ kubeconfig, environment: {}, world: realWorld }));
  t.after(async () => {
    close();
    stop();
    await code;
  });
  const client = createClient({ handler, world: realWorld, managedFields: "keep" });
  const restore = async (place: { readonly namespace: string; readonly name: string }, sources: object) => {
    const ref = { kind: "PersistentVolumeClaim", ...place } as const;
    await client.create(ref.kind, draftOf(ref.kind, place, { spec: { ...claimSpec, ...sources } }));
    await eventually("the claim is bound", async () => (await client.get(ref)).status?.phase === "Bound");
  };
  const spec = { source: { persistentVolumeClaimName: "data" } };
  const snapshot = { kind: "VolumeSnapshot", namespace, name: "monday" } as const;
  await client.create(snapshot.kind, draftOf(snapshot.kind, { namespace, name: "monday" }, { spec }));
  await eventually("the snapshot is ready", async () => (await client.get(snapshot)).status?.readyToUse === true);
  await restore({ namespace, name: "restored" }, { dataSource: source });
  await client.create("Namespace", draftOf("Namespace", { name: "guest" }, {}));
  const from = [{ group: "", kind: "PersistentVolumeClaim", namespace: "guest" }];
  const to = [{ group: source.apiGroup, kind: source.kind, name: source.name }];
  await client.create(
    "ReferenceGrant",
    draftOf("ReferenceGrant", { namespace, name: "lend" }, { spec: { from, to } } as never),
  );
  await restore({ namespace: "guest", name: "borrowed" }, { dataSourceRef: { ...source, namespace } });
  const run = async (...argv: readonly string[]) => {
    const { said: heard, code: ends } = startCommand(...argv, `--kubeconfig=${kubeconfig}`);
    return { code: await ends, ...heard };
  };
  return { client, run, folder };
}

test("audit, lint of all stored objects, install, access, gather and migrate are content with the tutorial's cluster", async (t) => {
  const { client, run, folder } = await startUp(t);
  const good = async (...argv: readonly string[]) => {
    const { code, text, out } = await run(...argv);
    assert.equal(code, 0, `${argv.join(" ")}: ${text}`);
    assert.doesNotMatch(text, /\berror:|\bwarning:|^[!x] |could not be read/m, argv.join(" "));
    return out;
  };
  assert.match(await good("audit"), /1 VolumeSnapshot, .*3 PersistentVolumeClaims: 0 errors, 0 warnings/);
  assert.match(await good("migrate", "--status"), /the CRDs are in phase 3/);
  for (const action of ["--diff", "--check"])
    assert.match(await good("install", action), /^snapkeep up runs the components of this cluster in its own process/);
  assert.deepEqual(JSON.parse(await good("install", "--check", "-o", "json")).drifts, []);
  assert.match(await good("access", `${namespace}/monday`), /guest/);
  const bundle = join(folder, "bundle");
  await good("gather", `--out=${bundle}`);
  assert.equal(readFileSync(join(bundle, "problems.txt"), "utf8"), "");
  assert.match(readFileSync(join(bundle, "not-served.txt"), "utf8"), /VolumeAttributesClass/);
  const objects = (await Promise.all(servedKinds.map((kind) => client.list(kind)))).flatMap((list, index) =>
    list.objects.map((object) => ({ ...object, kind: servedKinds[index] })),
  );
  assert.ok(objects.length > 20);
  const manifests = join(folder, "stored.yaml");
  writeFileSync(manifests, objects.map((object) => stringify(object)).join("---\n"));
  const lint = startCommand("lint", manifests);
  assert.equal(await lint.code, 0, lint.said.text);
  assert.match(lint.said.out, /0 errors, 0 warnings/);
});

const sourcesIn = (spec: object): string[] => Object.keys(spec).filter((name) => /^dataSource/.test(name));

test("claims of the tutorial's cluster have the fields of Kubernetes, and those of the document if that is asked for", async (t) => {
  const kubernetes = await startUp(t);
  const restored = { kind: "PersistentVolumeClaim", namespace, name: "restored" } as const;
  assert.deepEqual(sourcesIn((await kubernetes.client.get(restored)).spec ?? {}).sort(), [
    "dataSource",
    "dataSourceRef",
  ]);
  const documents = await startUp(t, "--claim-rules=documents");
  assert.deepEqual(sourcesIn((await documents.client.get(restored)).spec ?? {}).sort(), [
    "dataSource",
    "dataSourceRef",
    "dataSourceRef2",
  ]);
});

test("install --apply leaves the configuration of up alone, and with --adopt asks a Service in place of its address", async (t) => {
  const { client, run } = await startUp(t);
  const ref = { kind: "ValidatingWebhookConfiguration", name: snapshotConfigurationName } as const;
  const asked = async () => ((await client.get(ref)).webhooks ?? []).map(({ clientConfig }) => clientConfig);
  const [before] = await asked();
  const refused = await run("install", "--apply", "--components=webhook");
  assert.equal(refused.code, 1);
  assert.match(refused.text, /belongs to snapkeep up, whose process runs the components.*\[SNAP-804\]/);
  assert.deepEqual(await asked(), [before]);
  // No node runs its pods, so that they do not become ready.
  const adopted = await run("install", "--apply", "--components=webhook", "--adopt", "--timeout=1s");
  assert.match(adopted.text, /not ready/);
  const [after] = await asked();
  assert.equal(after?.url, undefined);
  assert.equal(after?.service?.name, "snapshot-validation-service");
  assert.notEqual(after?.caBundle, before?.caBundle);
});
