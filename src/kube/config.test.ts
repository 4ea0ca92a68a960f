import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createAuthority } from "../../test/e2e/harness/certificates.ts";
import { createKubeconfigs } from "../../test/kubeconfigs.ts";
import { createVirtualWorld } from "../../test/virtual-world.ts";
import { loadConfig } from "./config.ts";

const { folder, authority, client, base64, file, kubeconfig, load } = createKubeconfigs();

test("inline credentials and credential files give the same result", async () => {
  const inline = await load(
    kubeconfig(
      { "certificate-authority-data": base64(authority.certificate), "tls-server-name": "kube" },
      { "client-certificate-data": base64(client.certificate), "client-key-data": base64(client.key) },
    ),
  );
  const files = await load(
    kubeconfig(
      { "certificate-authority": "ca.pem", "tls-server-name": "kube" },
      { "client-certificate": "me.pem", "client-key": "./me.key" },
    ),
  );
  for (const target of [inline, files]) {
    assert.equal(await target.authority(), authority.certificate);
    assert.deepEqual(await target.credentials.current(), {
      headers: {},
      certificate: client.certificate,
      key: client.key,
    });
    assert.equal(target.server.href, "https://127.0.0.1:6443/");
    assert.equal(target.namespace, "team");
    assert.equal(target.serverName, "kube");
    assert.equal(target.insecure, false);
  }
});

const ways: readonly { given: string; user: object; headers: object }[] = [
  { given: "a token", user: { token: "abc" }, headers: { authorization: "Bearer abc" } },
  {
    given: "a token file beside a token",
    user: { token: "abc", tokenFile: "token" },
    headers: { authorization: "Bearer filed" },
  },
  {
    given: "a name and password",
    user: { username: "me", password: "pw" },
    headers: { authorization: `Basic ${base64("me:pw")}` },
  },
  {
    given: "somebody to act as",
    user: { token: "abc", as: "jane", "as-uid": "7", "as-groups": ["a", "b"] },
    headers: {
      authorization: "Bearer abc",
      "impersonate-user": "jane",
      "impersonate-uid": "7",
      "impersonate-group": ["a", "b"],
    },
  },
];
file("token", " filed\n");
for (const { given, user, headers } of ways)
  test(`a user with ${given} sends ${Object.keys(headers).join(", ")}`, async () => {
    const target = await load(kubeconfig({ "insecure-skip-tls-verify": true }, user));
    assert.deepEqual((await target.credentials.current()).headers, headers);
    assert.equal(target.insecure, true);
  });

test("token and CA files are reloaded periodically, and at once when the server rejects the token", async () => {
  const [token, ca] = [file("rotating", "one"), file("rotating-ca", authority.certificate)];
  const world = createVirtualWorld();
  const target = await load(kubeconfig({ "certificate-authority": ca }, { tokenFile: token }), { world });
  const sent = async () => (await target.credentials.current()).headers.authorization;
  const other = createAuthority("two").certificate;
  writeFileSync(token, "two");
  writeFileSync(ca, other);
  assert.equal(await sent(), "Bearer one");
  await world.advance(10_000);
  assert.equal(await sent(), "Bearer two");
  assert.equal(await target.authority(), other);
  writeFileSync(token, "three");
  target.credentials.refused(await target.credentials.current());
  assert.equal(await sent(), "Bearer three");
});

test("a missing or empty token file keeps the last valid token", async () => {
  const world = createVirtualWorld();
  const token = file("fleeting", "one");
  const target = await load(kubeconfig({}, { tokenFile: token }), { world });
  for (const spoil of [() => writeFileSync(token, ""), () => rmSync(token)]) {
    spoil();
    await world.advance(60_000);
    assert.equal((await target.credentials.current()).headers.authorization, "Bearer one");
  }
});

test("a certificate is not used before its key exists, and both are read at each request", async () => {
  const world = createVirtualWorld();
  const [certificate, key] = [file("rotated.pem", client.certificate), file("rotated.key", client.key)];
  const target = await load(kubeconfig({}, { "client-certificate": certificate, "client-key": key }), { world });
  const next = authority.issue({ commonName: "me" });
  const shown = async () => {
    const { certificate, key } = await target.credentials.current();
    return certificate === client.certificate && key === client.key
      ? "old"
      : certificate === next.certificate && key === next.key
        ? "new"
        : "mixed";
  };
  writeFileSync(certificate, next.certificate);
  await world.advance(10_000);
  assert.equal(await shown(), "old");
  writeFileSync(key, next.key);
  assert.equal(await shown(), "new");
});

test("a certificate that the server rejected is reloaded at once", async () => {
  const [certificate, key] = [file("refused.pem", client.certificate), file("refused.key", client.key)];
  const target = await load(kubeconfig({}, { "client-certificate": certificate, "client-key": key }));
  const next = authority.issue({ commonName: "me" });
  writeFileSync(certificate, next.certificate);
  writeFileSync(key, next.key);
  const old = await target.credentials.current();
  assert.equal(old.certificate, client.certificate);
  target.credentials.refused(old);
  assert.equal((await target.credentials.current()).certificate, next.certificate);
});

test("of several kubeconfigs the first definition wins, missing files are ignored, and paths are relative to their file", async () => {
  mkdirSync(join(folder, "deep"));
  file("deep/ca.pem", authority.certificate);
  const first = file(
    "first",
    JSON.stringify({ "current-context": "b", users: [{ name: "u", user: { token: "first" } }] }),
  );
  const second = file(
    "deep/second",
    JSON.stringify({
      "current-context": "a",
      contexts: [{ name: "b", context: { cluster: "c", user: "u" } }],
      clusters: [{ name: "c", cluster: { server: "http://there", "certificate-authority": "ca.pem" } }],
      users: [{ name: "u", user: { token: "second" } }],
    }),
  );
  const target = await loadConfig({
    environment: { KUBECONFIG: [join(folder, "nowhere"), first, "", second].join(":") },
    world: createVirtualWorld(),
  });
  assert.equal((await target.credentials.current()).headers.authorization, "Bearer first");
  assert.equal(await target.authority(), authority.certificate);
  assert.equal(target.namespace, "default");
  assert.equal(target.origin.server, `clusters[0].cluster.server in ${second}`);
});

test("--context chooses another context, and --kubeconfig overrules KUBECONFIG", async () => {
  const contexts = [
    { name: "here", context: { cluster: "c", user: "u" } },
    { name: "other", context: { cluster: "c", namespace: "elsewhere" } },
  ];
  const target = await load(kubeconfig({}, { token: "abc" }, { contexts }), {
    context: "other",
    environment: { KUBECONFIG: "/nowhere" },
  });
  assert.equal(target.namespace, "elsewhere");
  assert.deepEqual(await target.credentials.current(), { headers: {} });
});

test("an empty --kubeconfig uses KUBECONFIG, ~/.kube/config and the pod as by default", async () => {
  const path = kubeconfig({ server: "https://listed" }, {});
  const listed = await load("", { environment: { KUBECONFIG: path } });
  assert.equal(listed.server.href, "https://listed/");
  const nowhere = load("", { environment: { HOME: join(folder, "nobody") }, serviceAccountFolder: folder });
  await assert.rejects(
    nowhere,
    /no API server is configured: looked for .*nobody\/\.kube\/config and the service account/,
  );
});

test("the proxy comes from the environment, unless NO_PROXY excludes the server or the cluster has proxy-url", async () => {
  const environment = { HTTPS_PROXY: "http://env:3128" };
  const proxyOf = async (cluster: object, more: object = {}) => {
    const target = await load(kubeconfig({ server: "https://kube:6443", ...cluster }, {}), {
      environment: { ...environment, ...more },
    });
    return target.proxy === undefined ? "none" : `${target.proxy.url.href} by ${target.proxy.origin.split(" ")[0]}`;
  };
  assert.equal(await proxyOf({}), "http://env:3128/ by HTTPS_PROXY");
  assert.equal(await proxyOf({}, { NO_PROXY: "kube" }), "none");
  assert.equal(
    await proxyOf({ "proxy-url": "https://own:8443" }, { NO_PROXY: "kube" }),
    "https://own:8443/ by clusters[0].cluster.proxy-url",
  );
});

test("without a kubeconfig a pod uses its service account, and its token is read again", async () => {
  const [home, pod] = [join(folder, "home"), join(folder, "pod")];
  mkdirSync(join(pod));
  file("pod/token", "of-pod\n");
  file("pod/ca.crt", authority.certificate);
  file("pod/namespace", "storage\n");
  const world = createVirtualWorld();
  const environment = { HOME: home, KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443" };
  const target = await loadConfig({ environment, world, serviceAccountFolder: pod });
  assert.equal(target.server.href, "https://[fd00::1]/");
  assert.equal(target.insecure, false);
  assert.equal(target.serverName, undefined);
  assert.equal(target.namespace, "storage");
  assert.equal(await target.authority(), authority.certificate);
  assert.equal((await target.credentials.current()).headers.authorization, "Bearer of-pod");
  const proxied = await loadConfig({
    environment: { ...environment, HTTPS_PROXY: "http://env:3128" },
    world,
    serviceAccountFolder: pod,
  });
  assert.equal(proxied.proxy?.url.host, "env:3128");
  file("pod/token", "renewed");
  target.credentials.refused(await target.credentials.current());
  assert.equal((await target.credentials.current()).headers.authorization, "Bearer renewed");

  mkdirSync(join(home, ".kube"), { recursive: true });
  file(
    "home/.kube/config",
    JSON.stringify({
      "current-context": "x",
      contexts: [{ name: "x", context: { cluster: "c" } }],
      clusters: [{ name: "c", cluster: { server: "http://home" } }],
    }),
  );
  assert.equal((await loadConfig({ environment, world, serviceAccountFolder: pod })).server.href, "http://home/");
});
