/** Who the client is, and whom it believes. */
import assert from "node:assert/strict";
import type { RequestListener } from "node:http";
import { test } from "node:test";
import { createAuthority } from "../../test/e2e/harness/certificates.ts";
import { authority, between, echo, fixedCredentials, serve, targetAt, tls } from "../../test/http-server.ts";
import { isFault } from "../base/fault.ts";
import type { Credential, Target } from "./target.ts";
import { createTransport } from "./transport.ts";
import { isSameTrust } from "./transport-pool.ts";

test("a rejected token is renewed and the request sent again, once", async () => {
  const tokens: (string | undefined)[] = [];
  const listener: RequestListener = (request, response) => {
    tokens.push(request.headers.authorization);
    response.statusCode = request.headers.authorization === "Bearer new" ? 200 : 401;
    response.end("body");
  };
  const withTokens = (...names: readonly string[]) => ({
    target: {
      credentials: fixedCredentials(...names.map((name) => ({ headers: { authorization: `Bearer ${name}` } }))),
    },
  });
  await between(
    listener,
    async (send) => assert.equal((await send({ method: "POST", body: "{}" })).status, 200),
    withTokens("old", "new"),
  );
  assert.deepEqual(tokens.splice(0), ["Bearer old", "Bearer new"]);

  for (const [names, asked] of [
    [["old"], 1],
    [["old", "older"], 2],
  ] as const) {
    await between(
      listener,
      (send) =>
        assert.rejects(send(), (reason) => {
          assert.ok(isFault(reason, "Unauthenticated"));
          assert.match(
            reason.message,
            /^http:\/\/127\.0\.0\.1:\d+ does not accept the credentials \(users\[0\]\.user\.token in config\): they are wrong or have expired; renew them$/,
          );
          return true;
        }),
      withTokens(...names),
    );
    assert.equal(tokens.splice(0).length, asked);
  }
});

test("a rejected client certificate is renewed and the request sent again, like a rejected token", async () => {
  const [old, renewed] = ["old", "new"].map((commonName) => authority.issue({ commonName }));
  assert.ok(old !== undefined && renewed !== undefined);
  const credentials = [old, renewed].map(({ certificate, key }) => ({ headers: {}, certificate, key }));
  await between(
    (request, response) => {
      const shown = request.socket as unknown as { getPeerCertificate(): { subject?: { CN?: string } } };
      response.statusCode = shown.getPeerCertificate().subject?.CN === "new" ? 200 : 401;
      response.end();
    },
    async (send) => assert.equal((await send({ method: "POST", body: "{}" })).status, 200),
    {
      tls: { ...tls, ca: authority.certificate, requestCert: true },
      target: { credentials: fixedCredentials(...credentials) },
    },
  );
});

test("a new authority or client certificate is used for the next request", async () => {
  const me = authority.issue({ commonName: "me" });
  const trusted: (string | undefined)[] = [createAuthority("other").certificate, authority.certificate];
  let credential: Credential = { headers: {} };
  await between(
    (request, response) => {
      const shown = request.socket as unknown as { getPeerCertificate(): { subject?: { CN?: string } } };
      response.end(shown.getPeerCertificate().subject?.CN ?? "nobody");
    },
    async (send, served) => {
      await assert.rejects(send(), (reason) => isFault(reason, "Unavailable"));
      trusted.shift();
      assert.equal((await send()).text, "nobody");
      credential = { headers: {}, certificate: me.certificate, key: me.key };
      assert.equal((await send()).text, "me");
      assert.equal(served.accepted >= 2, true);
    },
    {
      tls: { ...tls, ca: authority.certificate, requestCert: true, rejectUnauthorized: false },
      target: {
        authority: async () => trusted[0],
        credentials: { current: async () => credential, refused: () => undefined, origin: "here" },
      },
    },
  );
});

test("after a rotation old connections close: idle ones at once, busy ones after their request", async () => {
  const trusted = [authority.certificate, `${authority.certificate}\n`];
  const gate = Promise.withResolvers<void>();
  await between(
    (request, response) => void (request.url === "/slow" ? gate.promise : Promise.resolve()).then(() => response.end()),
    async (send, served) => {
      served.server.keepAliveTimeout = 0; // Or the server would do what the client should.
      const slow = send({ path: "/slow" });
      await send();
      const [before] = [[...served.sockets]];
      assert.equal(before.length, 2);
      trusted.shift();
      await send();
      while (before.filter(({ destroyed }) => destroyed).length < 1) await new Promise((next) => setImmediate(next));
      gate.resolve();
      await slow;
      while (!before.every(({ destroyed }) => destroyed)) await new Promise((next) => setImmediate(next));
      assert.equal(served.accepted, 3);
    },
    { tls, target: { authority: async () => trusted[0] } },
  );
});

test("a change of authority, certificate or key needs new connections, and nothing else does", () => {
  const trust = { authority: "a", certificate: "c", key: "k" };
  assert.equal(isSameTrust(trust, { ...trust }), true);
  for (const name of ["authority", "certificate", "key"])
    assert.equal(isSameTrust(trust, { ...trust, [name]: "x" }), false);
});

test("SNI is sent if the server address is a name", async () => {
  const names: unknown[] = [];
  const served = await serve((request, response) => {
    names.push((request.socket as unknown as { servername: unknown }).servername);
    response.end();
  }, tls);
  for (const [host, serverName] of [
    ["localhost", undefined],
    ["127.0.0.1", undefined],
    ["127.0.0.1", "kube"],
  ] as const) {
    const { handler, close } = createTransport(targetAt(`https://${host}:${served.port}`, { serverName }));
    await handler({ method: "GET", path: "/", headers: {} });
    close();
  }
  assert.deepEqual(names, ["localhost", false, "kube"]);
  served.server.close();
});

test("a certificate with a wrong key fails only its own request, and the old connection stays in use", async () => {
  const [me, other] = [authority.issue({ commonName: "me" }), authority.issue({ commonName: "other" })];
  const good: Credential = { headers: {}, certificate: me.certificate, key: me.key };
  let credential = good;
  await between(
    echo,
    async (send, served) => {
      await send();
      credential = { ...good, key: other.key };
      await assert.rejects(send());
      credential = good;
      for (let count = 0; count < 3; count++) await send();
      assert.equal(served.accepted, 1);
    },
    {
      tls: { ...tls, ca: authority.certificate, requestCert: true, rejectUnauthorized: false },
      target: { credentials: { current: async () => credential, refused: () => undefined, origin: "here" } },
    },
  );
});

const expired = authority.issue({ commonName: "old", ipv4: ["127.0.0.1"], days: -1 });
const misnamed = authority.issue({ commonName: "other", dnsNames: ["elsewhere"] });
const distrust: readonly { given: string; tls?: object; target?: Partial<Target>; says: RegExp }[] = [
  {
    given: "an unknown authority",
    tls,
    target: { authority: async () => createAuthority("other").certificate },
    says: /shows a certificate that the authority \(clusters\[0\]\.cluster\.certificate-authority in config\) has not signed; give the authority/,
  },
  {
    given: "an expired certificate",
    tls: { cert: expired.certificate, key: expired.key },
    says: /the certificate of https:\/\/127\.0\.0\.1:\d+ has expired; renew it/,
  },
  {
    given: "a certificate for another name",
    tls: { cert: misnamed.certificate, key: misnamed.key },
    says: /is for other names than 127\.0\.0\.1; correct clusters\[0\]\.cluster\.server in config, or set tls-server-name/,
  },
  {
    given: "another name than tls-server-name",
    tls,
    target: { serverName: "nobody" },
    says: /is for other names than nobody/,
  },
];
for (const { given, tls, target, says } of distrust)
  test(`a server with ${given} is rejected with one error line`, () =>
    between(
      echo,
      (send) =>
        assert.rejects(send(), (reason) => {
          assert.ok(isFault(reason, "Unavailable"), String(reason));
          assert.match(reason.message, says);
          return true;
        }),
      { ...(tls === undefined ? {} : { tls }), ...(target === undefined ? {} : { target }) },
    ));

test("tls-server-name and insecure-skip-tls-verify relax the verification", async () => {
  const misnamedTls = { cert: misnamed.certificate, key: misnamed.key };
  for (const [served, target] of [
    [misnamedTls, { serverName: "elsewhere" }],
    [misnamedTls, { insecure: true, authority: async () => undefined }],
  ] as const)
    await between(echo, async (send) => assert.equal((await send()).status, 200), { tls: served, target });
});

test("an unreachable server or one without TLS is one error line with a remedy", async () => {
  const served = await serve(echo);
  const { port } = served;
  const fails = async (server: string, says: RegExp) => {
    const { handler, close } = createTransport(targetAt(server));
    await assert.rejects(handler({ method: "GET", path: "/x", headers: {} }), (reason) => {
      assert.ok(isFault(reason, "Unavailable"), String(reason));
      assert.match(reason.message, says);
      return true;
    });
    close();
  };
  await fails(
    `https://127.0.0.1:${port}`,
    /does not speak TLS; correct clusters\[0\]\.cluster\.server in config to http/,
  );
  served.server.close();
  await fails(
    `https://127.0.0.1:${port}`,
    /^nothing answers at https:\/\/127\.0\.0\.1:\d+ \(clusters\[0\]\.cluster\.server in config\); start the API server or correct the address$/,
  );
  await fails(`https://localhost:${port}`, /^nothing answers at https:\/\/localhost:\d+ /);
});
