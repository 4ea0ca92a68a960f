import "reflect-metadata";
import assert from "node:assert/strict";
import { webcrypto, X509Certificate } from "node:crypto";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { BasicConstraintsExtension, cryptoProvider, X509CertificateGenerator } from "@peculiar/x509";
import { startHarness } from "../../../test/command-harness.ts";
import { startCommand } from "../../../test/command-line.ts";
import { eventually, temporaryFolder } from "../../../test/csi-sockets.ts";
import { draftOf } from "../../api/builders.ts";
import {
  snapshotConfiguration,
  snapshotConfigurationName,
  type WebhookPlace,
} from "../../api/manifests/webhook-configurations.ts";
import type { Draft } from "../../api/types.ts";
import { readTlsFiles } from "../../runtime/tls-files.ts";

cryptoProvider.set(webcrypto as never);

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
  assert.match((await certs(`--out=${folder}`, "--service=other")).out, /it is not for other\.snapkeep\.svc/);
});

test("--out and --apply exclude each other, and one of them is required", async () => {
  assert.equal((await certs()).code, 2);
  assert.equal((await certs("--out=x", "--apply")).code, 2);
});

const placeIn = (namespace: string): WebhookPlace => ({
  client: { service: { namespace, name: "snapshot-validation-service" } },
  authority: undefined,
});

/** As Helm's genCA makes one. */
async function rsaAuthority() {
  const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256", modulusLength: 2_048 };
  const keys = await webcrypto.subtle.generateKey({ ...algorithm, publicExponent: new Uint8Array([1, 0, 1]) }, true, [
    "sign",
    "verify",
  ]);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: "CN=snapkeep webhook authority",
    notBefore: new Date("2020-01-01T00:00:00Z"),
    notAfter: new Date("2099-01-01T00:00:00Z"),
    signingAlgorithm: algorithm,
    keys: keys as never,
    extensions: [new BasicConstraintsExtension(true, undefined, true)],
  });
  const key = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey)).toString("base64");
  return {
    certificate: `${certificate.toString("pem")}\n`,
    key: `-----BEGIN PRIVATE KEY-----\n${key.replace(/.{64}(?=.)/g, "$&\n")}\n-----END PRIVATE KEY-----\n`,
  };
}

/** A cluster with the webhook configuration of snapshots, which asks the Service in its namespace. */
async function webhookIn(t: TestContext, namespace = "snapkeep") {
  const { client, start } = await startHarness(t);
  await client.create("Namespace", draftOf("Namespace", { name: namespace }, {}));
  const ref = { kind: "ValidatingWebhookConfiguration", name: snapshotConfigurationName } as const;
  await client.create(ref.kind, snapshotConfiguration(placeIn(namespace)) as unknown as Draft);
  const secret = { kind: "Secret", namespace: "snapkeep", name: "snapshot-validation-secret" } as const;
  return {
    client,
    ref,
    secret,
    run: async (...argv: readonly string[]) => {
      const { code, said } = start("certs", "--apply", "--settle-time=0s", ...argv);
      return { code: await code, said: said() };
    },
    read: async (entry: string) =>
      Buffer.from((await client.get(secret)).data?.[entry] ?? "", "base64").toString("utf8"),
    bundles: async () =>
      ((await client.get(ref)).webhooks ?? []).map(({ clientConfig }) =>
        Buffer.from(clientConfig.caBundle ?? "", "base64").toString("utf8"),
      ),
  };
}

test("certs --apply writes the Secret and the caBundle, and keeps the old authority in the caBundle", async (t) => {
  const { client, secret, run, read, bundles } = await webhookIn(t);
  assert.equal((await run()).code, 0);
  assert.equal((await client.get(secret)).type, "kubernetes.io/tls");
  assert.equal(await read("cert.pem"), await read("tls.crt"));
  const old = await read("ca.crt");
  assert.deepEqual(await bundles(), [old]);
  assert.match((await run()).said, /^the certificates are good for a while; nothing to do\n$/);

  assert.equal((await run("--force")).code, 0);
  assert.notEqual(await read("ca.crt"), old);
  assert.deepEqual(await bundles(), [`${await read("ca.crt")}${old}`]);
});

test("authorities that have not expired stay trusted after two --force and after a lost Secret", async (t) => {
  const { client, secret, run, read, bundles } = await webhookIn(t);
  const authorities: string[] = [];
  for (const flags of [[], ["--force"], ["--force"]]) {
    assert.equal((await run(...flags)).code, 0);
    authorities.push(await read("ca.crt"));
  }
  await client.delete(secret);
  assert.equal((await run()).code, 0);
  authorities.push(await read("ca.crt"));
  const [bundle = ""] = await bundles();
  assert.equal(new Set(authorities).size, 4);
  assert.ok(bundle.startsWith(authorities[3] ?? "none"));
  for (const authority of authorities) assert.ok(bundle.includes(authority));
});

test("certs --apply in another namespace than the Service's is refused, and nothing is written", async (t) => {
  const { client, secret, run, bundles } = await webhookIn(t, "storage");
  const { code, said } = await run();
  assert.equal(code, 1);
  assert.match(
    said,
    /no webhook configuration asks Service snapkeep\/snapshot-validation-service: \S+ asks Service storage\/snapshot-validation-service; nothing was changed; .*\[SNAP-807\]/,
  );
  assert.deepEqual(await bundles(), [""]);
  await assert.rejects(client.get(secret), /not found/);
});

test("certs --apply --force serves the new certificate only after every API server could read the caBundle", async (t) => {
  const { run, read, bundles } = await webhookIn(t);
  await run();
  const [served, authority] = [await read("tls.crt"), await read("ca.crt")];
  const forced = run("--force", "--settle-time=2s");
  await eventually("the new authority is trusted", async () => (await bundles())[0] !== authority);
  assert.ok((await bundles())[0]?.endsWith(authority), "the old one is trusted as well");
  assert.equal(await read("tls.crt"), served);
  const { code, said } = await forced;
  assert.equal(code, 0, said);
  assert.match(
    said,
    /^a new authority is made: --force\nset caBundle of \S+\nwaiting \d s, until every API server has read the caBundle\na new serving certificate is made: .*\nwrote Secret snapkeep\/snapshot-validation-secret\n$/,
  );
  assert.notEqual(await read("tls.crt"), served);
});

test("certs --apply renews a serving certificate with the RSA authority of the Helm chart", async (t) => {
  const { client, run, read } = await webhookIn(t);
  const authority = await rsaAuthority();
  const data = { "ca.crt": authority.certificate, "ca.key": authority.key, "tls.crt": "", "tls.key": "" };
  const encoded = Object.entries(data).map(([name, text]) => [name, Buffer.from(text).toString("base64")]);
  const place = { namespace: "snapkeep", name: "snapshot-validation-secret" };
  const body = { type: "kubernetes.io/tls", data: Object.fromEntries(encoded) };
  await client.create("Secret", draftOf("Secret", place, body));
  const { code, said } = await run();
  assert.equal(code, 0, said);
  assert.equal(await read("ca.crt"), authority.certificate);
  const signer = new X509Certificate(authority.certificate).publicKey;
  assert.equal(new X509Certificate(await read("tls.crt")).verify(signer), true);
});

test("certs --apply refuses a --renew-before for which each certificate would be due when it is made", async (t) => {
  const { run } = await webhookIn(t);
  const { code, said } = await run("--renew-before=8760h");
  assert.deepEqual([code, /--renew-before is not shorter than --validity/.test(said)], [2, true]);
});

test("certs --apply leaves webhooks alone that ask another Service or an address", async (t) => {
  const { client, ref, run, read, bundles } = await webhookIn(t);
  const { webhooks = [], ...found } = await client.get(ref);
  const [own] = webhooks;
  const elsewhere = [
    { service: { namespace: "other", name: "snapshot-validation-service" } },
    { url: "https://hook.example.com/judge" },
  ].map((clientConfig, index) => ({ ...own, name: `w${index}.example.com`, clientConfig }));
  await client.replace(ref.kind, { ...found, webhooks: [...webhooks, ...elsewhere] } as typeof found);
  assert.equal((await run()).code, 0);
  assert.deepEqual(await bundles(), [await read("ca.crt"), "", ""]);
  assert.equal((await run("--dns=hook.example.com")).code, 0);
  assert.deepEqual(await bundles(), [await read("ca.crt"), "", await read("ca.crt")]);
});

test("a folder that cannot be made or read is one line that names it, without a stack", {
  timeout: 30_000,
}, async (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, "file"), "");
  mkdirSync(join(folder, "odd", "ca.crt"), { recursive: true });
  for (const out of ["/proc/x", join(folder, "file"), join(folder, "file", "below"), join(folder, "odd")]) {
    const { code, error } = await certs(`--out=${out}`);
    assert.equal(code, 1, out);
    assert.equal(error.trim().split("\n").length, 1, error);
    assert.ok(error.includes(out) && /cannot be (read|written): .*; name another folder/.test(error), error);
  }
});
