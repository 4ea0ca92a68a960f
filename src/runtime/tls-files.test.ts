import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { createAuthority } from "../../test/e2e/harness/certificates.ts";
import { silent } from "../base/log.ts";
import type { TlsIdentity } from "./serve.ts";
import { followTlsFiles, readTlsFiles } from "./tls-files.ts";

const folder = mkdtempSync(join(tmpdir(), "tls-"));
after(() => rmSync(folder, { recursive: true }));
const authority = createAuthority("test");
const files = { certFile: join(folder, "tls.crt"), keyFile: join(folder, "tls.key") };
const write = ({ cert, key }: { cert?: string; key?: string }): void => {
  if (cert !== undefined) writeFileSync(files.certFile, cert);
  if (key !== undefined) writeFileSync(files.keyFile, key);
};
const aPair = (): { cert: string; key: string } => {
  const { certificate: cert, key } = authority.issue({ commonName: "webhook.test", dnsNames: ["webhook.test"] });
  return { cert, key };
};

test("an error names a missing certificate file and the remedy", () =>
  assert.rejects(readTlsFiles({ ...files, certFile: "/nowhere/tls.crt" }), {
    message: "the certificate /nowhere/tls.crt cannot be read (ENOENT); mount it or correct the path",
  }));

test("a key that does not match the certificate is rejected, and the error names both files", async () => {
  write({ cert: aPair().cert, key: aPair().key });
  await assert.rejects(readTlsFiles(files), {
    message: /tls\.crt and .*tls\.key are not a certificate and its key \(.*\); give a matching pair in PEM$/,
  });
});

test("a renewed certificate and key are loaded, and an incomplete pair is retried", async () => {
  const [first, second] = [aPair(), aPair()];
  write(first);
  const applied: TlsIdentity[] = [];
  const warnings: string[] = [];
  const stop = new AbortController();
  /** What happens before each look. */
  const script = [
    () => undefined,
    () => write({ cert: second.cert }),
    () => undefined,
    () => write({ key: second.key }),
    () => undefined,
    () => stop.abort(),
  ];
  const world = {
    sleep: async () => {
      script.shift()?.();
      if (stop.signal.aborted) throw stop.signal.reason;
    },
  };
  const log = { ...silent, warn: (message: string) => void warnings.push(message) };
  await followTlsFiles({
    files,
    current: first,
    world,
    log,
    signal: stop.signal,
    apply: (identity) => void applied.push(identity),
  });
  assert.deepEqual(applied, [second]);
  assert.deepEqual(warnings, ["certificate cannot be renewed, the old one stays"]);
});

test("a renewed authority of clients is loaded, and one that is missing or damaged is not", async () => {
  const clientCaFile = join(folder, "client-ca.crt");
  const withCa = { ...files, clientCaFile };
  const [first, second] = ["first", "second"].map((name) => createAuthority(name).certificate);
  assert.ok(first !== undefined && second !== undefined);
  write(aPair());
  await assert.rejects(readTlsFiles(withCa), {
    message: `--client-ca-file ${clientCaFile} cannot be read (ENOENT); mount it or correct the path`,
  });
  for (const damaged of ["", "no certificate", second.slice(0, 200), second.replaceAll("A", "B")]) {
    writeFileSync(clientCaFile, damaged);
    await assert.rejects(readTlsFiles(withCa), {
      message: /holds no certificate; give the authority's certificate in PEM$/,
    });
  }
  writeFileSync(clientCaFile, first);
  const current = await readTlsFiles(withCa);
  assert.equal(current.clientCa, first);
  const applied: TlsIdentity[] = [];
  const stop = new AbortController();
  const script = [
    () => writeFileSync(clientCaFile, second.slice(0, 200)),
    () => rmSync(clientCaFile),
    () => writeFileSync(clientCaFile, second),
    () => undefined,
    () => stop.abort(),
  ];
  const world = {
    sleep: async () => {
      script.shift()?.();
      if (stop.signal.aborted) throw stop.signal.reason;
    },
  };
  const apply = (identity: TlsIdentity) => void applied.push(identity);
  await followTlsFiles({ files: withCa, current, world, log: silent, signal: stop.signal, apply });
  assert.deepEqual(applied, [{ ...current, clientCa: second }]);
});
