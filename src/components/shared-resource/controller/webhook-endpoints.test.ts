/** What the controller finds out about a webhook that answers with a real certificate. */
import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { createServer } from "node:tls";
import type { JsonValue } from "../../../base/json.ts";
import { silent } from "../../../base/log.ts";
import { realWorld } from "../../../base/world.ts";
import type { KubeApi, PathReader } from "../../../kube/api.ts";
import { createAuthority, type Leaf } from "../../../runtime/certificates.ts";
import { checkWebhook, type WebhookReport } from "./webhook-endpoints.ts";

const authority = createAuthority("ours", realWorld.now());
const other = createAuthority("theirs", realWorld.now());
const named: Omit<Leaf, "commonName"> = { dnsNames: ["webhook.team.svc"] };

/** The first report, and the codes of the events until then. */
async function firstReport(t: TestContext, leaf: Omit<Leaf, "commonName">, bundle: string) {
  const { certificate: cert, key } = authority.issue({ commonName: "webhook", ...leaf });
  const server = createServer({ cert, key }).on("tlsClientError", () => undefined);
  server.listen(0, "127.0.0.1");
  t.after(() => server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const clientConfig = {
    service: { namespace: "team", name: "webhook" },
    caBundle: Buffer.from(bundle).toString("base64"),
  };
  const slices: JsonValue = { items: [{ ports: [{ port }], endpoints: [{ addresses: ["127.0.0.1"] }] }] };
  const api = {
    get: async () => ({ webhooks: [{ clientConfig }, { clientConfig }] }),
    getPath: async () => slices,
  } as unknown as KubeApi & PathReader;
  const stop = new AbortController();
  const reports: WebhookReport[] = [];
  const events: string[] = [];
  const world = {
    ...realWorld,
    sleep: async () => stop.abort(),
  };
  await checkWebhook(
    {
      api,
      world,
      log: silent,
      report: (found) => void reports.push(found),
      record: (_about, { reason, message }) => void events.push(`${reason} ${/SNAP-\d+/.exec(message)?.[0]}`),
    },
    stop.signal,
  );
  assert.deepEqual(reports.at(-1), { endpoints: -1, trusted: -1 }, "whoever stops looking says so");
  return { report: reports[0], events };
}

const distrusted = ["WebhookServerFailed SNAP-754"];
const rows = [
  { given: "a certificate that fits", leaf: named, bundle: authority.certificate, trusted: 1, events: [] },
  {
    given: "two authorities in the bundle, while they are exchanged",
    leaf: named,
    bundle: other.certificate + authority.certificate,
    trusted: 1,
    events: [],
  },
  { given: "a wrong caBundle", leaf: named, bundle: other.certificate, trusted: 0, events: distrusted },
  { given: "no caBundle", leaf: named, bundle: "", trusted: 0, events: distrusted },
  { given: "a caBundle that is no certificate", leaf: named, bundle: "none", trusted: 0, events: distrusted },
  {
    given: "an expired certificate",
    leaf: { ...named, days: -1 },
    bundle: authority.certificate,
    trusted: 0,
    events: distrusted,
  },
  {
    given: "a certificate of another Service",
    leaf: { dnsNames: ["other.team.svc"] },
    bundle: authority.certificate,
    trusted: 0,
    events: distrusted,
  },
];
for (const { given, leaf, bundle, trusted, events } of rows)
  test(`R79: ${given}: ${trusted === 1 ? "trusted" : "not trusted, with an event"}`, async (t) => {
    const found = await firstReport(t, leaf, bundle);
    assert.deepEqual(found, { report: { endpoints: 1, trusted }, events });
  });
