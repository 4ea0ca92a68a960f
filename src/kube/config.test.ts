import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { createAuthority } from "../../test/e2e/harness/certificates.ts";
import { createVirtualWorld } from "../../test/virtual-world.ts";
import { isFault } from "../base/fault.ts";
import { type ConfigOptions, loadConfig } from "./config.ts";

const folder = mkdtempSync(join(tmpdir(), "kc-"));
after(() => rmSync(folder, { recursive: true }));

const authority = createAuthority("one");
const client = authority.issue({ commonName: "me" });
const stranger = authority.issue({ commonName: "stranger" });
const base64 = (text: string): string => Buffer.from(text).toString("base64");
const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
file("ca.pem", authority.certificate);
file("me.pem", client.certificate);
file("me.key", client.key);

let count = 0;
/** A kubeconfig of one context, one cluster and one user; JSON is YAML. */
function kubeconfig(cluster: object, user: object, more: object = {}): string {
  count += 1;
  return file(
    `config-${count}`,
    JSON.stringify({
      "current-context": "here",
      contexts: [{ name: "here", context: { cluster: "c", user: "u", namespace: "team" } }],
      clusters: [{ name: "c", cluster: { server: "https://127.0.0.1:6443", ...cluster } }],
      users: [{ name: "u", user }],
      ...more,
    }),
  );
}
const load = (path: string, more: Partial<ConfigOptions> = {}) =>
  loadConfig({ kubeconfig: path, environment: {}, world: createVirtualWorld(), ...more });

test("inline credentials and files beside the kubeconfig give the same", async () => {
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

test("a token file and an authority are read again after a while, and at once when the server refused the token", async () => {
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

test("a token file that vanishes or empties leaves the last good token in place", async () => {
  const world = createVirtualWorld();
  const token = file("fleeting", "one");
  const target = await load(kubeconfig({}, { tokenFile: token }), { world });
  for (const spoil of [() => writeFileSync(token, ""), () => rmSync(token)]) {
    spoil();
    await world.advance(60_000);
    assert.equal((await target.credentials.current()).headers.authorization, "Bearer one");
  }
});

test("of several files the first to name a thing wins, missing ones are passed over, and paths are relative to their own file", async () => {
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
  assert.equal(target.namespace, "storage");
  assert.equal(await target.authority(), authority.certificate);
  assert.equal((await target.credentials.current()).headers.authorization, "Bearer of-pod");
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

const secret = "s3cr3t-t0k3n";
const broken = (text: string): string => {
  count += 1;
  return file(`config-${count}`, text);
};
const mistakes: readonly { given: string; path: string; says: RegExp; options?: Partial<ConfigOptions> }[] = [
  {
    given: "no such file",
    path: join(folder, "nowhere"),
    says: /^\/.*nowhere: no such file; correct --kubeconfig or KUBECONFIG$/,
  },
  { given: "a folder", path: folder, says: /a folder, not a file/ },
  {
    given: "bad YAML",
    path: broken(`a: b\nusers:\n  - token: "${secret}\n`),
    says: /: line 4, column 1: not valid YAML \(.*\); correct that line$/,
  },
  { given: "a list at the top", path: broken("[1]"), says: /is not a mapping/ },
  {
    given: "an empty file",
    path: broken(""),
    says: /: current-context: is not set; set it or give --context; the file has no contexts$/,
  },
  { given: "clusters that are no list", path: kubeconfig({}, {}, { clusters: {} }), says: /: clusters: is not a list/ },
  {
    given: "a cluster without a name",
    path: kubeconfig({}, {}, { clusters: [{ cluster: {} }] }),
    says: /: clusters\[0\]\.name: is missing/,
  },
  {
    given: "an unknown current context",
    path: kubeconfig({}, {}, { "current-context": "gone" }),
    says: /: current-context: no context "gone"; known contexts: here$/,
  },
  {
    given: "an unknown --context",
    path: kubeconfig({}, {}),
    options: { context: "gone" },
    says: /: contexts: no context "gone"; known contexts: here$/,
  },
  {
    given: "a context without a cluster",
    path: kubeconfig({}, {}, { contexts: [{ name: "here", context: {} }] }),
    says: /: contexts\[0\]\.context\.cluster: is missing; .*known clusters: c$/,
  },
  {
    given: "a context with an unknown cluster",
    path: kubeconfig({}, {}, { clusters: [] }),
    says: /: contexts\[0\]\.context\.cluster: no cluster "c" in clusters; the file has no clusters$/,
  },
  {
    given: "a context with an unknown user",
    path: kubeconfig({}, {}, { users: [{ name: "x" }] }),
    says: /: contexts\[0\]\.context\.user: no user "u" in users; known users: x$/,
  },
  {
    given: "no server",
    path: kubeconfig({ server: "" }, {}),
    says: /: clusters\[0\]\.cluster\.server: is missing; write it as https:/,
  },
  {
    given: "a server without a scheme",
    path: kubeconfig({ server: "localhost:6443" }, {}),
    says: /clusters\[0\]\.cluster\.server: "localhost:6443" is no http or https address/,
  },
  {
    given: "a password in the server's address",
    path: kubeconfig({ server: `https://me:${secret}@host` }, {}),
    says: /server: carries a user or password/,
  },
  {
    given: "a proxy",
    path: kubeconfig({ "proxy-url": "http://proxy" }, {}),
    says: /: clusters\[0\]\.cluster\.proxy-url: proxies are not supported/,
  },
  {
    given: "an authority that shall not be checked",
    path: kubeconfig({ "insecure-skip-tls-verify": true, "certificate-authority": "ca.pem" }, {}),
    says: /insecure-skip-tls-verify: contradicts/,
  },
  {
    given: "a flag that is no flag",
    path: kubeconfig({ "insecure-skip-tls-verify": "yes" }, {}),
    says: /insecure-skip-tls-verify: is not true or false/,
  },
  {
    given: "a missing authority file",
    path: kubeconfig({ "certificate-authority": "gone.pem" }, {}),
    says: /: clusters\[0\]\.cluster\.certificate-authority: \/.*gone\.pem: no such file/,
  },
  {
    given: "an authority that is no certificate",
    path: kubeconfig({ "certificate-authority": "token" }, {}),
    says: /certificate-authority: holds no PEM certificate/,
  },
  {
    given: "a damaged authority",
    path: kubeconfig({ "certificate-authority-data": base64(authority.certificate.replace("MII", "AII")) }, {}),
    says: /certificate-authority-data: holds a certificate that cannot be read/,
  },
  {
    given: "bad base64",
    path: kubeconfig({}, { "client-certificate-data": `${secret}!`, "client-key-data": "x" }),
    says: /: users\[0\]\.user\.client-certificate-data: is not base64/,
  },
  {
    given: "a certificate without a key",
    path: kubeconfig({}, { "client-certificate": "me.pem" }),
    says: /users\[0\]\.user\.client-key: is missing beside client-certificate/,
  },
  {
    given: "a key without a certificate",
    path: kubeconfig({}, { "client-key": "me.key" }),
    says: /users\[0\]\.user\.client-certificate: is missing beside client-key/,
  },
  {
    given: "a key that is no key",
    path: kubeconfig({}, { "client-certificate": "me.pem", "client-key-data": base64(secret) }),
    says: /client-key-data: holds no private key that can be read/,
  },
  {
    given: "the key of another certificate",
    path: kubeconfig({}, { "client-certificate": "me.pem", "client-key-data": base64(stranger.key) }),
    says: /client-key-data: belongs to another certificate/,
  },
  {
    given: "a missing token file",
    path: kubeconfig({}, { tokenFile: "gone" }),
    says: /users\[0\]\.user\.tokenFile: \/.*gone: no such file/,
  },
  {
    given: "an empty token file",
    path: kubeconfig({}, { tokenFile: file("empty", "\n") }),
    says: /tokenFile: holds no token/,
  },
  {
    given: "a token of two words",
    path: kubeconfig({}, { token: `${secret} ${secret}` }),
    says: /users\[0\]\.user\.token: holds more than one word/,
  },
  {
    given: "a name without a password",
    path: kubeconfig({}, { username: "me" }),
    says: /users\[0\]\.user\.password: is missing/,
  },
  {
    given: "an auth provider",
    path: kubeconfig({}, { "auth-provider": { name: "gcp" } }),
    says: /users\[0\]\.user\.auth-provider: .*use exec/,
  },
  {
    given: "groups without a user to act as",
    path: kubeconfig({}, { "as-groups": ["a"] }),
    says: /users\[0\]\.user\.as: is missing/,
  },
  {
    given: "a plugin beside a token",
    path: kubeconfig({}, { token: secret, exec: { command: "x" } }),
    says: /users\[0\]\.user\.exec: stands beside token/,
  },
  {
    given: "a plugin without a command",
    path: kubeconfig({}, { exec: {} }),
    says: /users\[0\]\.user\.exec\.command: is missing/,
  },
  {
    given: "a plugin of an old version",
    path: kubeconfig({}, { exec: { command: "x", apiVersion: "client.authentication.k8s.io/v1alpha1" } }),
    says: /users\[0\]\.user\.exec\.apiVersion: is client.authentication.k8s.io\/v1alpha1; write /,
  },
  {
    given: "a plugin that needs a terminal",
    path: kubeconfig(
      {},
      { exec: { command: "x", apiVersion: "client.authentication.k8s.io/v1", interactiveMode: "Always" } },
    ),
    says: /exec\.interactiveMode: Always needs a terminal/,
  },
];
for (const { given, path, says, options } of mistakes)
  test(`a kubeconfig with ${given} is one clear line without secrets`, async () => {
    await assert.rejects(load(path, options), (reason) => {
      assert.ok(isFault(reason, "InvalidArgument"), String(reason));
      assert.match(reason.message, says);
      assert.ok(reason.message.startsWith(path), reason.message);
      assert.equal(/\n/.test(reason.message) || reason.message.includes(secret), false, reason.message);
      return true;
    });
  });

test("with nothing to be found, the places that were looked at are named", async () => {
  for (const [environment, says] of [
    [{ HOME: "/nowhere" }, /looked for \/nowhere\/\.kube\/config and the service account of a pod; give --kubeconfig/],
    [{ HOME: "/nowhere", KUBECONFIG: "/no/file" }, /looked for \/no\/file and the service account/],
    [
      { KUBERNETES_SERVICE_HOST: "10.0.0.1", KUBERNETES_SERVICE_PORT: "443" },
      /^\/nowhere\/(token|ca\.crt): no such file; /,
    ],
    [
      { KUBERNETES_SERVICE_HOST: "a b", KUBERNETES_SERVICE_PORT: "443" },
      /KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT: a b:443 is no address/,
    ],
  ] as const)
    await assert.rejects(
      loadConfig({ environment, world: createVirtualWorld(), serviceAccountFolder: "/nowhere" }),
      (reason) => isFault(reason, "InvalidArgument") && says.test(reason.message),
    );
});

const execVersion = "client.authentication.k8s.io/v1";
/** A plugin in JavaScript. */
function plugin(script: string, more: object = {}): object {
  count += 1;
  const path = file(`plugin-${count}.cjs`, script);
  return { apiVersion: execVersion, command: process.execPath, args: [path], interactiveMode: "IfAvailable", ...more };
}
const printing = (status: object): string =>
  `console.log(JSON.stringify({apiVersion:"${execVersion}",kind:"ExecCredential",status:${JSON.stringify(status)}}))`;

test("a plugin is told what it may know, runs once for all who wait, and again when its token expires or is refused", async () => {
  const world = createVirtualWorld();
  const runs = file("runs", "");
  const expires = new Date(world.now() + 600_000).toISOString();
  const exec = plugin(
    `const fs = require("node:fs"); fs.appendFileSync(${JSON.stringify(runs)}, "x");
     const {spec} = JSON.parse(process.env.KUBERNETES_EXEC_INFO);
     const token = [process.env.REGION, process.env.OUTER, spec.interactive, spec.cluster.server, spec.cluster.config.audience, fs.readFileSync(${JSON.stringify(runs)}, "utf8").length].join("|");
     const status = {token, expirationTimestamp: ${JSON.stringify(expires)}};
     console.log(JSON.stringify({apiVersion: "${execVersion}", kind: "ExecCredential", status}))`,
    { provideClusterInfo: true, env: [{ name: "REGION", value: "north" }] },
  );
  const extensions = [{ name: "client.authentication.k8s.io/exec", extension: { audience: "me" } }];
  const target = await load(kubeconfig({ extensions }, { exec }), { world, environment: { OUTER: "seen" } });
  const token = async () => (await target.credentials.current()).headers.authorization;
  const first = "Bearer north|seen|false|https://127.0.0.1:6443|me|";
  assert.deepEqual(await Promise.all([token(), token()]), [`${first}1`, `${first}1`]);
  const refused = await target.credentials.current();
  target.credentials.refused(refused);
  assert.equal(await token(), `${first}2`);
  target.credentials.refused(refused);
  assert.equal(await token(), `${first}2`);
  await world.advance(595_000);
  assert.equal(await token(), `${first}3`);
});

test("a plugin may give a certificate instead of a token", async () => {
  const exec = plugin(printing({ clientCertificateData: client.certificate, clientKeyData: client.key }));
  const target = await load(kubeconfig({}, { exec }));
  assert.deepEqual(await target.credentials.current(), {
    headers: {},
    certificate: client.certificate,
    key: client.key,
  });
});

const execMistakes: readonly { given: string; exec: object; says: RegExp; code?: "Unavailable" }[] = [
  {
    given: "is not installed",
    exec: { apiVersion: execVersion, command: "no-such-plugin", installHint: "get it from example.org\n" },
    says: /users\[0\]\.user\.exec\.command: the plugin "no-such-plugin" is not installed; get it from example\.org$/,
  },
  {
    given: "lies beside the kubeconfig and is not there",
    exec: { apiVersion: execVersion, command: "./gone" },
    says: /the plugin "\/.*\/gone" is not installed; install it or correct the command/,
  },
  {
    given: "fails",
    exec: plugin(
      `console.log("${secret}"); console.error("noise\\nlogin first: eyJhbGciOiJSUzI1NiIsImtpZCI6IjEyMzQ1Njc4OTAifQ.x"); process.exit(3)`,
    ),
    says: /failed with exit code 3 saying: login first: …; run it by hand to see why$/,
    code: "Unavailable",
  },
  {
    given: "prints no JSON",
    exec: plugin(`console.log("${secret}")`),
    says: /printed something that is no JSON; run it by hand/,
  },
  {
    given: "prints other JSON",
    exec: plugin(`console.log('{"token":"${secret}"}')`),
    says: /printed JSON that is no ExecCredential with a status/,
  },
  {
    given: "prints another version",
    exec: plugin(printing({ token: secret }).replace("k8s.io/v1", "k8s.io/v1beta1")),
    says: /another apiVersion than client\.authentication\.k8s\.io\/v1/,
  },
  {
    given: "prints no credential",
    exec: plugin(printing({})),
    says: /without status\.token and status\.clientCertificateData/,
  },
  {
    given: "prints half a certificate",
    exec: plugin(printing({ clientCertificateData: client.certificate })),
    says: /only one of status\.clientCertificateData and status\.clientKeyData/,
  },
  {
    given: "prints an odd date",
    exec: plugin(printing({ token: secret, expirationTimestamp: "soon" })),
    says: /expirationTimestamp that is no date/,
  },
];
for (const { given, exec, says, code } of execMistakes)
  test(`a plugin that ${given} is one clear line without its output`, async () => {
    const path = kubeconfig({}, { exec });
    const target = await load(path);
    await assert.rejects(target.credentials.current(), (reason) => {
      assert.ok(isFault(reason, code ?? "InvalidArgument"), String(reason));
      assert.match(reason.message, says);
      assert.ok(reason.message.startsWith(`${path}: users[0].user.exec`), reason.message);
      assert.equal(/\n/.test(reason.message) || reason.message.includes(secret), false, reason.message);
      return true;
    });
  });

test("a plugin file that may not be executed is told apart from a missing one", async () => {
  chmodSync(file("not-executable", "#!/bin/sh\n"), 0o644);
  const target = await load(kubeconfig({}, { exec: { apiVersion: execVersion, command: "./not-executable" } }));
  await assert.rejects(
    target.credentials.current(),
    (reason) => isFault(reason) && /may not be executed; make the file executable/.test(reason.message),
  );
});
