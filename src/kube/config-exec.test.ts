import assert from "node:assert/strict";
import { chmodSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { createKubeconfigs } from "../../test/kubeconfigs.ts";
import { createVirtualWorld } from "../../test/virtual-world.ts";
import { isFault } from "../base/fault.ts";
import { realWorld } from "../base/world.ts";

const { client, file, kubeconfig, load, numbered } = createKubeconfigs();

const secret = "s3cr3t-t0k3n";
const execVersion = "client.authentication.k8s.io/v1";
/** A plugin in JavaScript. */
function plugin(script: string, more: object = {}): object {
  const path = numbered("plugin", script, ".cjs");
  return { apiVersion: execVersion, command: process.execPath, args: [path], interactiveMode: "IfAvailable", ...more };
}
const printing = (status: object): string =>
  `console.log(JSON.stringify({apiVersion:"${execVersion}",kind:"ExecCredential",status:${JSON.stringify(status)}}))`;

test("an exec plugin gets its input, runs once for all waiting requests, and again when its token expires or is rejected", async () => {
  const world = createVirtualWorld();
  const runs = file("runs", "");
  const expires = new Date(world.now() + 600_000).toISOString();
  const exec = plugin(
    `const fs = require("node:fs"); fs.appendFileSync(${JSON.stringify(runs)}, "x");
     const {spec} = JSON.parse(process.env.KUBERNETES_EXEC_INFO);
     const token = [process.env.REGION, process.env.OUTER, spec.interactive, spec.cluster.server, spec.cluster["proxy-url"], spec.cluster.config.audience, fs.readFileSync(${JSON.stringify(runs)}, "utf8").length].join("|");
     const status = {token, expirationTimestamp: ${JSON.stringify(expires)}};
     console.log(JSON.stringify({apiVersion: "${execVersion}", kind: "ExecCredential", status}))`,
    { provideClusterInfo: true, env: [{ name: "REGION", value: "north" }] },
  );
  const extensions = [{ name: "client.authentication.k8s.io/exec", extension: { audience: "me" } }];
  const target = await load(kubeconfig({ extensions, "proxy-url": "http://proxy" }, { exec }), {
    world,
    environment: { OUTER: "seen" },
  });
  const token = async () => (await target.credentials.current()).headers.authorization;
  const first = "Bearer north|seen|false|https://127.0.0.1:6443|http://proxy|me|";
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
    given: "prints another kind",
    exec: plugin(printing({ token: secret }).replace("ExecCredential", "Secret")),
    says: /printed JSON that is no ExecCredential with a status/,
  },
  {
    given: "prints a token of two lines",
    exec: plugin(printing({ token: `${secret}\nx-other: header` })),
    says: /: holds more than one word/,
  },
  {
    given: "prints a certificate that is none",
    exec: plugin(printing({ clientCertificateData: secret, clientKeyData: client.key })),
    says: /: holds no PEM certificate/,
  },
  {
    given: "prints a key that is none",
    exec: plugin(printing({ clientCertificateData: client.certificate, clientKeyData: secret })),
    says: /: holds no private key that can be read/,
  },
  {
    given: "prints more than a credential can be",
    exec: plugin(`process.stdout.write("${secret} ".repeat(100_000))`),
    says: /printed more than 1048576 bytes; run it by hand/,
    code: "Unavailable",
  },
  {
    given: "fails with a long story",
    exec: plugin(`console.error("word ".repeat(100)); process.exit(1)`),
    says: /saying: (word ){40}; run it by hand to see why$/,
    code: "Unavailable",
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
  test(`a plugin that ${given} is one error line without its output`, async () => {
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

test("a plugin that hangs and ignores signals is killed after a minute, and the next run is tried", async () => {
  const world = createVirtualWorld();
  const state = file("state", "");
  const exec = plugin(
    `const fs = require("node:fs");
     if (fs.readFileSync(${JSON.stringify(state)}, "utf8") === "deaf") {
       ${printing({ token: "second" })};
     } else {
       process.on("SIGTERM", () => undefined);
       setTimeout(() => process.exit(0), 5_000);
       fs.writeFileSync(${JSON.stringify(state)}, "deaf");
     }`,
  );
  const target = await load(kubeconfig({}, { exec }), { world });
  const first = assert.rejects(target.credentials.current(), /was ended after 60 s/);
  while (readFileSync(state, "utf8") !== "deaf") await realWorld.sleep(10);
  await world.advance(60_000);
  await first;
  assert.equal((await target.credentials.current()).headers.authorization, "Bearer second");
});

test("errors distinguish a plugin that is not executable from a missing one", async () => {
  chmodSync(file("not-executable", "#!/bin/sh\n"), 0o644);
  const target = await load(kubeconfig({}, { exec: { apiVersion: execVersion, command: "./not-executable" } }));
  await assert.rejects(
    target.credentials.current(),
    (reason) => isFault(reason) && /may not be executed; make the file executable/.test(reason.message),
  );
});
