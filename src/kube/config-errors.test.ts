import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createKubeconfigs } from "../../test/kubeconfigs.ts";
import { createVirtualWorld } from "../../test/virtual-world.ts";
import { isFault } from "../base/fault.ts";
import { type ConfigOptions, loadConfig } from "./config.ts";

const { folder, authority, stranger, base64, file, kubeconfig, load, numbered } = createKubeconfigs();

const secret = "s3cr3t-t0k3n";
file("token", secret);
const broken = (text: string): string => numbered("config", text);
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
    given: "a user in the server's address",
    path: kubeconfig({ server: "https://me@host" }, {}),
    says: /server: carries a user or password/,
  },
  {
    given: "a password without a user in the server's address",
    path: kubeconfig({ server: `https://:${secret}@host` }, {}),
    says: /server: carries a user or password/,
  },
  {
    given: "a proxy of another kind",
    path: kubeconfig({ "proxy-url": "socks5://proxy" }, {}),
    says: /: clusters\[0\]\.cluster\.proxy-url: proxies of socks5:\/\/ are not supported; name one that is spoken to by http:\/\/ or https:\/\//,
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
    given: "more of the user to act as than can be sent",
    path: kubeconfig({}, { as: "jane", "as-user-extra": { team: ["a"] } }),
    says: /users\[0\]\.user\.as-user-extra: is not supported; remove it/,
  },
  ...["token", "tokenFile", "client-certificate", "client-certificate-data", "password"].map((name) => ({
    given: `a plugin beside a ${name}`,
    path: kubeconfig({}, { [name]: secret, exec: { command: "x" } }),
    says: new RegExp(`users\\[0\\]\\.user\\.exec: stands beside ${name}; keep one of them`),
  })),
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
  test(`a kubeconfig with ${given} is one error line without secrets`, async () => {
    await assert.rejects(load(path, options), (reason) => {
      assert.ok(isFault(reason, "InvalidArgument"), String(reason));
      assert.match(reason.message, says);
      assert.ok(reason.message.startsWith(path), reason.message);
      assert.equal(/\n/.test(reason.message) || reason.message.includes(secret), false, reason.message);
      return true;
    });
  });

test("errors say whether the pod's token or authority is unusable", async () => {
  const environment = { KUBERNETES_SERVICE_HOST: "10.0.0.1", KUBERNETES_SERVICE_PORT: "443" };
  mkdirSync(join(folder, "pod"));
  for (const [token, ca, says] of [
    ["", authority.certificate, /pod\/token: holds no token/],
    [secret, secret, /pod\/ca\.crt: holds no PEM certificate/],
    [secret, authority.certificate.replace(/MII./, "AAAA"), /pod\/ca\.crt: holds a certificate that cannot be read/],
  ] as const) {
    file("pod/token", token);
    file("pod/ca.crt", ca);
    await assert.rejects(
      loadConfig({ environment, world: createVirtualWorld(), serviceAccountFolder: join(folder, "pod") }),
      (reason) => isFault(reason, "InvalidArgument") && says.test(reason.message) && !reason.message.includes(secret),
    );
  }
});

test("without any configuration the error names the searched locations", async () => {
  for (const [environment, says] of [
    [{ HOME: "/nowhere" }, /looked for \/nowhere\/\.kube\/config and the service account of a pod; give --kubeconfig/],
    [{ HOME: "/nowhere", KUBECONFIG: "/no/file" }, /looked for \/no\/file and the service account/],
    [{ KUBERNETES_SERVICE_HOST: "10.0.0.1", KUBERNETES_SERVICE_PORT: "" }, /^no API server is configured/],
    [{ KUBERNETES_SERVICE_HOST: "10.0.0.1" }, /^no API server is configured/],
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
