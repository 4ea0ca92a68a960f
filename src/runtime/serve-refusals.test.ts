import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { duplexPair } from "node:stream";
import { type TestContext, test } from "node:test";
import { type ConnectionOptions, connect as tlsConnect } from "node:tls";
import { eventually } from "../../test/csi-sockets.ts";
import { createAuthority } from "../../test/e2e/harness/certificates.ts";
import { type Fields, silent } from "../base/log.ts";
import { realWorld } from "../base/world.ts";
import { overHttps } from "./serve.ts";
import type { Refusal } from "./serve-refusals.ts";

const authority = createAuthority("server");
const people = createAuthority("people");
const { certificate: cert, key } = authority.issue({ commonName: "s", ipv4: ["127.0.0.1"] });

async function served(t: TestContext, clientCa?: string) {
  const refusals: Refusal[] = [];
  const logged: Fields[] = [];
  let now = 0;
  const server = await overHttps(
    async () => ({ status: 200, headers: {}, body: "ok" }),
    { cert, key, clientCa },
    {
      address: { host: "127.0.0.1", port: 0 },
      log: { ...silent, warn: (message, fields = {}) => void logged.push({ message, ...fields }) },
      world: { sleep: realWorld.sleep, elapsed: () => now },
      patience: { handshakeMsMax: 200, headersMsMax: 60_000, requestMsMax: 60_000 },
      refused: (refusal) => refusals.push(refusal),
    },
  );
  t.after(() => server.close(0));
  const at = { port: server.address.port, host: "127.0.0.1" };
  return {
    refusals,
    logged,
    later: (ms: number) => {
      now += ms;
    },
    /** A connection without TLS, which sends this. */
    raw: (text: string | Buffer) => {
      const socket = connect(at, () => socket.write(text)).on("error", () => undefined);
      return socket;
    },
    secure: async (more: ConnectionOptions = {}) => {
      const socket = tlsConnect({ ...at, ca: authority.certificate, ...more }).on("error", () => undefined);
      // With TLS 1.3 a client has finished before it hears that its certificate is refused.
      socket.on("secureConnect", () => socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n"));
      socket.resume();
      await new Promise((resolve) => socket.once("close", resolve));
    },
  };
}

const refusalAfter = async (refusals: readonly Refusal[]): Promise<Refusal | undefined> => {
  await eventually("a refusal is reported", () => refusals.length > 0);
  return refusals[0];
};

test("a handshake that is not complete in time is refused, and its connection closed", async (t) => {
  const { raw, refusals } = await served(t);
  const socket = raw("");
  await once(socket, "close");
  assert.deepEqual(await refusalAfter(refusals), {
    reason: "timeout",
    from: "127.0.0.1",
    detail: "ERR_TLS_HANDSHAKE_TIMEOUT",
  });
});

test("plain HTTP at a TLS port is refused", async (t) => {
  const { raw, refusals } = await served(t);
  await once(raw("GET / HTTP/1.1\r\n\r\n"), "close");
  assert.equal((await refusalAfter(refusals))?.reason, "protocol");
});

test("a client that goes before TLS is counted, and not logged", async (t) => {
  const { raw, refusals, logged } = await served(t);
  const socket = raw("");
  socket.once("connect", () => socket.destroy());
  assert.equal((await refusalAfter(refusals))?.reason, "disconnected");
  assert.deepEqual(logged, []);
});

for (const [alert, number] of [
  ["bad_certificate", 42],
  ["unknown_ca", 48],
] as const)
  test(`a client that answers our certificate with the alert ${alert} is told apart`, async (t) => {
    const { raw, refusals } = await served(t);
    // The first message of a real client, and then the alert, which TLS 1.2 does not encrypt yet.
    const [inner, outer] = duplexPair();
    const client = tlsConnect({ socket: inner, maxVersion: "TLSv1.2" }).on("error", () => undefined);
    const [hello] = (await once(outer, "data")) as [Buffer];
    const socket = raw(hello);
    await once(socket, "data");
    socket.end(Buffer.from([21, 3, 3, 0, 2, 2, number]));
    assert.equal((await refusalAfter(refusals))?.reason, "certificate");
    client.destroy();
  });

for (const [given, identity] of [
  ["no certificate", {}],
  ["a certificate of another authority", createAuthority("strangers").issue({ commonName: "me" })],
  ["an expired certificate", people.issue({ commonName: "me", days: -1 })],
] as const)
  for (const maxVersion of ["TLSv1.2", "TLSv1.3"] as const)
    test(`with a client CA, ${given} over ${maxVersion} is refused with its own reason`, async (t) => {
      const { secure, refusals, logged } = await served(t, people.certificate);
      const { certificate, key: clientKey } = identity as { certificate?: string; key?: string };
      await secure({ maxVersion, cert: certificate, key: clientKey });
      assert.equal((await refusalAfter(refusals))?.reason, "client-certificate");
      assert.equal(logged.length, 1);
      assert.equal(logged[0]?.reason, "client-certificate");
    });

test("each reason is logged once a minute, with how many were not logged", async (t) => {
  const { raw, refusals, logged, later } = await served(t);
  const plain = async (count: number): Promise<void> => {
    const before = refusals.length;
    for (let index = 0; index < count; index++) raw("GET / HTTP/1.1\r\n\r\n");
    await eventually("all are refused", () => refusals.length === before + count);
  };
  await plain(5);
  const silentOne = raw("");
  await once(silentOne, "close");
  later(60_000);
  await plain(1);
  assert.deepEqual(
    logged.map(({ message, reason, unsaid }) => [message, reason, unsaid]),
    [
      ["connection refused", "protocol", 0],
      ["connection refused", "timeout", 0],
      ["connection refused", "protocol", 4],
    ],
  );
});
