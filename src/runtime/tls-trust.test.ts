/** Handshakes with servers whose certificates are right, expired, of another name and of another authority. */
import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { createServer } from "node:tls";
import { realWorld } from "../base/world.ts";
import { createAuthority, type Leaf } from "./certificates.ts";
import { trustProblem } from "./tls-trust.ts";

const serverName = "webhook.team.svc";
const authority = createAuthority("ours", realWorld.now());
const other = createAuthority("theirs", realWorld.now());
const never = new AbortController().signal;

async function serverWith(t: TestContext, leaf: Omit<Leaf, "commonName">): Promise<number> {
  const { certificate: cert, key } = authority.issue({ commonName: "webhook", ...leaf });
  const server = createServer({ cert, key }).on("tlsClientError", () => undefined);
  server.listen(0, "127.0.0.1");
  t.after(() => server.close());
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

const rows: readonly { given: string; leaf: Omit<Leaf, "commonName">; ca?: string; problem: string | undefined }[] = [
  { given: "the right certificate", leaf: { dnsNames: [serverName] }, problem: undefined },
  { given: "an expired certificate", leaf: { dnsNames: [serverName], days: -1 }, problem: "CERT_HAS_EXPIRED" },
  {
    given: "another name",
    leaf: { dnsNames: ["other.team.svc"] },
    problem: "ERR_TLS_CERT_ALTNAME_INVALID",
  },
  {
    given: "another authority",
    leaf: { dnsNames: [serverName] },
    ca: other.certificate,
    problem: "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  },
];
for (const { given, leaf, ca = authority.certificate, problem } of rows)
  test(`${given}: ${problem ?? "trusted"}`, async (t) => {
    const port = await serverWith(t, leaf);
    const target = { host: "127.0.0.1", port, serverName, authority: ca };
    assert.equal(await trustProblem(target, { world: realWorld, signal: never, msMax: 10_000 }), problem);
  });

test("a server that is not there, and one that is stopped meanwhile, say nothing about a certificate", async (t) => {
  const port = await serverWith(t, { dnsNames: [serverName] });
  const stopped = new AbortController();
  stopped.abort(new Error("stopped"));
  const target = { host: "127.0.0.1", port, serverName, authority: authority.certificate };
  await assert.rejects(trustProblem(target, { world: realWorld, signal: stopped.signal, msMax: 10_000 }), /stopped/);
  const nobody = { ...target, port: 9 };
  await assert.rejects(trustProblem(nobody, { world: realWorld, signal: never, msMax: 10_000 }), /ECONNREFUSED/);
});

test("an address is checked as an address", async (t) => {
  const port = await serverWith(t, { ipv4: ["127.0.0.1"] });
  const target = { host: "127.0.0.1", port, serverName: "127.0.0.1", authority: authority.certificate };
  assert.equal(await trustProblem(target, { world: realWorld, signal: never, msMax: 10_000 }), undefined);
});
