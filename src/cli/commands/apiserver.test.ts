import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { startCommand } from "../../../test/command-line.ts";
import { eventually, temporaryFolder } from "../../../test/csi-sockets.ts";
import { freePort } from "../../../test/e2e/harness/ports.ts";
import { draftOf } from "../../api/builders.ts";
import { realWorld } from "../../base/world.ts";
import { createClient } from "../../kube/client.ts";
import { loadConfig } from "../../kube/config.ts";
import { createTransport } from "../../kube/transport.ts";

function start(t: TestContext, ...args: readonly string[]) {
  const server = startCommand("apiserver", "--port=0", ...args);
  t.after(server.stop);
  return server;
}

async function clientOf(t: TestContext, kubeconfig: string) {
  const { handler, close } = createTransport(await loadConfig({ kubeconfig, environment: {}, world: realWorld }));
  t.after(close);
  return createClient({ handler, world: realWorld });
}

test("apiserver prints its address and its kubeconfig, which only the owner can read", async (t) => {
  const file = join(temporaryFolder(t), "kubeconfig");
  const server = start(t, "--kubeconfig-out", file);
  await eventually("the server says where its kubeconfig is", () => server.said.text.includes(file));
  assert.match(
    server.said.text,
    /^Kubernetes API at https:\/\/127\.0\.0\.1:\d+\n\n {2}kubectl --context snapkeep --kubeconfig .*kubeconfig get namespaces\n\n$/,
  );
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const client = await clientOf(t, file);
  assert.equal((await client.get({ kind: "Namespace", name: "default" })).status?.phase, "Active");
  const made = draftOf("ConfigMap", { namespace: "default", name: "a" }, { data: { x: "1" } });
  assert.equal((await client.create("ConfigMap", made)).data?.x, "1");
  server.stop();
  assert.equal(await server.code, 0, server.said.text);
});

test("a token of --token-auth-file is authenticated, without rights", async (t) => {
  const folder = temporaryFolder(t);
  const [file, tokens] = [join(folder, "kubeconfig"), join(folder, "tokens.csv")];
  writeFileSync(tokens, "janes,jane,7\n");
  const server = start(t, "--kubeconfig-out", file, "--token-auth-file", tokens);
  await eventually("the server says where its kubeconfig is", () => server.said.text.includes(file));
  const [url = ""] = /https:\S+/.exec(server.said.text) ?? [];
  const config = {
    "current-context": "c",
    contexts: [{ name: "c", context: { cluster: "k", user: "u" } }],
    clusters: [{ name: "k", cluster: { server: url, "insecure-skip-tls-verify": true } }],
    users: [{ name: "u", user: { token: "janes" } }],
  };
  writeFileSync(join(folder, "jane"), JSON.stringify(config));
  const jane = await clientOf(t, join(folder, "jane"));
  await assert.rejects(jane.get({ kind: "Namespace", name: "default" }), /User "jane" cannot get resource/);
  server.stop();
  assert.equal(await server.code, 0, server.said.text);
});

test("an unreadable or unwritable file is an error with its path, and nothing is left behind", async (t) => {
  const folder = temporaryFolder(t);
  const missing = join(folder, "missing", "file");
  for (const [flag, path, trouble] of [
    ["--kubeconfig-out", missing, "there is no such file or folder"],
    ["--kubeconfig-out", folder, "there is a folder of that name"],
    ["--token-auth-file", missing, "there is no such file or folder"],
  ] as const) {
    const { said, code } = start(t, flag, path);
    assert.equal(await code, 1);
    assert.ok(said.text.includes(path) && said.text.includes(`: ${trouble}; `) && said.text.includes(flag), said.text);
    assert.doesNotMatch(said.text, /E[A-Z]{4}|draft/);
  }
  assert.deepEqual(readdirSync(folder), []);
  assert.ok(!existsSync(`${folder}.draft`));
});

test("the gate of restores across namespaces has two names, and with either a claim keeps the namespace of its source", async (t) => {
  for (const [gate, kept] of [
    ["CrossNamespaceSourceProvisioning=true", "team"],
    ["CrossNamespaceVolumeDataSource=true", "team"],
    ["CrossNamespaceSourceProvisioning=false", undefined],
  ] as const) {
    const file = join(temporaryFolder(t), "kubeconfig");
    const server = start(t, "--kubeconfig-out", file, `--feature-gates=${gate}`);
    await eventually("the server says where its kubeconfig is", () => server.said.text.includes(file));
    const client = await clientOf(t, file);
    const dataSourceRef = {
      apiGroup: "snapshot.storage.k8s.io",
      kind: "VolumeSnapshot",
      name: "monday",
      namespace: "team",
    };
    const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Mi" } }, dataSourceRef };
    const claim = draftOf("PersistentVolumeClaim", { namespace: "default", name: "restored" }, { spec });
    const stored = await client.create("PersistentVolumeClaim", claim);
    assert.equal(stored.spec?.dataSourceRef?.namespace, kept, gate);
    server.stop();
    assert.equal(await server.code, 0, server.said.text);
  }
});

test("an unknown feature gate or an invalid port is one error line and exit code 2", async (t) => {
  for (const flag of ["--feature-gates=Nothing=true", "--port=70000"]) {
    const { said, code } = start(t, flag);
    assert.equal(await code, 2);
    assert.match(said.text.trim(), /^[^\n]+$/);
  }
});

test("without --kubeconfig-out the kubeconfig is in a temporary folder that is removed with the server", async (t) => {
  const server = start(t);
  await eventually("the server says where its kubeconfig is", () => server.said.text.includes("--kubeconfig"));
  const [, file = ""] = /--kubeconfig (\S+)/.exec(server.said.text) ?? [];
  assert.match(file, /\/snapkeep-\w{6}\/kubeconfig$/);
  const token: string = JSON.parse(readFileSync(file, "utf8")).users[0].user.token;
  assert.equal(token.length, 32);
  assert.equal(file.includes(token.slice(0, 8)), false, file);
  assert.deepEqual([statSync(dirname(file)).mode & 0o777, statSync(file).mode & 0o777], [0o700, 0o600]);
  server.stop();
  assert.equal(await server.code, 0);
  assert.equal(existsSync(dirname(file)), false, "it goes with the server");
});

test("a server that cannot write its kubeconfig fails with an error and frees its port", async (t) => {
  const port = `--port=${await freePort()}`;
  const file = join(temporaryFolder(t), "kubeconfig");
  const first = startCommand("apiserver", port, "--kubeconfig-out", "/no/such/folder/kubeconfig");
  assert.equal(await first.code, 1);
  assert.match(first.said.error, /no such file or folder/);
  const second = start(t, port, "--kubeconfig-out", file);
  await eventually("the next server is up", () => second.said.text.includes(file));
});
