/** Webhooks over real HTTPS, as in production: a certificate is believed only when its authority is in the caBundle. */
import assert from "node:assert/strict";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { startApiServer } from "../../../test/api-server.ts";
import { type JsonObject, print } from "../../base/json.ts";
import { realWorld } from "../../base/world.ts";
import { createAuthority } from "../../runtime/certificates.ts";

const maps = "/api/v1/namespaces/default/configmaps";
const configurations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
const authority = createAuthority("hooks", realWorld.now());

async function denyingHook(t: TestContext): Promise<string> {
  const { certificate, key } = authority.issue({ commonName: "hook", ipv4: ["127.0.0.1"] });
  const server = createServer({ cert: certificate, key }, (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => void chunks.push(chunk));
    incoming.on("end", () => {
      const review = JSON.parse(Buffer.concat(chunks).toString("utf8")) as JsonObject;
      const { uid = "" } = review.request as JsonObject;
      outgoing.end(print({ ...review, response: { uid, allowed: false, status: { message: "over the wire" } } }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}/check`;
}

const configuration = (url: string, certificate: string): JsonObject => ({
  metadata: { name: "check" },
  webhooks: [
    {
      name: "check.example.com",
      clientConfig: { url, caBundle: Buffer.from(certificate).toString("base64") },
      rules: [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] }],
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
    },
  ],
});

test("a webhook is called over HTTPS, and its response is applied", async (t) => {
  const server = startApiServer({ world: realWorld });
  await server.ask("POST", configurations, configuration(await denyingHook(t), authority.certificate));
  const { status, body } = await server.ask("POST", maps, { metadata: { name: "m" } });
  assert.equal(status, 400);
  assert.equal(body.message, 'admission webhook "check.example.com" denied the request: over the wire');
});

test("a webhook with a certificate of another authority is rejected", async (t) => {
  const server = startApiServer({ world: realWorld });
  const other = createAuthority("other", realWorld.now());
  await server.ask("POST", configurations, configuration(await denyingHook(t), other.certificate));
  const { status, body } = await server.ask("POST", maps, { metadata: { name: "m" } });
  assert.equal(status, 500);
  assert.match(String(body.message), /^Internal error occurred: failed calling webhook "check.example.com": /);
});
