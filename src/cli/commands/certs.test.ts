import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { startHarness } from "../../../test/command-harness.ts";
import { startCommand } from "../../../test/command-line.ts";
import { temporaryFolder } from "../../../test/csi-sockets.ts";
import {
  snapshotConfiguration,
  snapshotConfigurationName,
  type WebhookPlace,
} from "../../api/manifests/webhook-configurations.ts";
import type { Draft } from "../../api/types.ts";
import { readTlsFiles } from "../../runtime/tls-files.ts";

const certs = async (...argv: readonly string[]) => {
  const { said, code } = startCommand("certs", ...argv);
  return { code: await code, ...said };
};
const certificateIn = (folder: string, name: string) => new X509Certificate(readFileSync(join(folder, name)));

test("certs --out writes a certificate of the authority for the Service's DNS names", async (t) => {
  const folder = join(temporaryFolder(t), "new");
  assert.equal((await certs(`--out=${folder}`, "--service=hook", "--namespace=team", "--dns=hook.example")).code, 0);
  const [authority, serving] = [certificateIn(folder, "ca.crt"), certificateIn(folder, "tls.crt")];
  assert.equal(serving.verify(authority.publicKey), true);
  assert.equal(serving.ca, false);
  for (const name of ["hook.team.svc", "hook.team.svc.cluster.local", "hook.example"])
    assert.notEqual(serving.checkHost(name), undefined, name);
  assert.equal(serving.checkHost("hook.other.svc"), undefined);
  await readTlsFiles({ certFile: join(folder, "tls.crt"), keyFile: join(folder, "tls.key") });
  assert.equal(statSync(join(folder, "tls.key")).mode & 0o777, 0o600);
});

test("certs --out keeps valid certificates and renews expiring ones with the same authority", async (t) => {
  const folder = temporaryFolder(t);
  await certs(`--out=${folder}`);
  const [authority, serving] = [certificateIn(folder, "ca.crt"), certificateIn(folder, "tls.crt")];
  assert.match((await certs(`--out=${folder}`)).out, /^the certificates are good for a while/);
  assert.equal(certificateIn(folder, "tls.crt").fingerprint256, serving.fingerprint256);
  assert.match(
    (await certs(`--out=${folder}`, "--renew-before=9000h")).out,
    /^a new serving certificate is made: it expires on/,
  );
  assert.equal(certificateIn(folder, "ca.crt").fingerprint256, authority.fingerprint256);
  assert.notEqual(certificateIn(folder, "tls.crt").fingerprint256, serving.fingerprint256);
  assert.match((await certs(`--out=${folder}`, "--service=other")).out, /it is not for other\.default\.svc/);
});

test("--out and --apply exclude each other, and one of them is required", async () => {
  assert.equal((await certs()).code, 2);
  assert.equal((await certs("--out=x", "--apply")).code, 2);
});

const place: WebhookPlace = {
  client: { service: { namespace: "default", name: "snapshot-validation-service" } },
  authority: undefined,
  serviceAccount: { namespace: "default", name: "webhook" },
};

test("certs --apply writes the Secret and the caBundle, and keeps the old authority in the caBundle", async (t) => {
  const { client, start } = await startHarness(t);
  await client.create("ValidatingWebhookConfiguration", snapshotConfiguration(place) as unknown as Draft);
  const secret = { kind: "Secret", namespace: "default", name: "snapshot-validation-secret" } as const;
  const read = async (entry: string) =>
    Buffer.from((await client.get(secret)).data?.[entry] ?? "", "base64").toString("utf8");
  const bundle = async () => {
    const found = await client.get({ kind: "ValidatingWebhookConfiguration", name: snapshotConfigurationName });
    return Buffer.from(found.webhooks?.[0]?.clientConfig.caBundle ?? "", "base64").toString("utf8");
  };

  assert.equal(await start("certs", "--apply").code, 0);
  assert.equal((await client.get(secret)).type, "kubernetes.io/tls");
  assert.equal(await read("cert.pem"), await read("tls.crt"));
  const old = await read("ca.crt");
  assert.equal(await bundle(), old);
  const again = start("certs", "--apply");
  assert.equal(await again.code, 0);
  assert.match(again.said(), /^the certificates are good for a while; nothing to do\n$/);

  assert.equal(await start("certs", "--apply", "--force").code, 0);
  assert.notEqual(await read("ca.crt"), old);
  assert.equal(await bundle(), `${await read("ca.crt")}${old}`);
});
