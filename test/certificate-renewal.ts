/** The webhook's Secret and configurations on the embedded API server, with a record of what is written. */
import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { draftOf } from "../src/api/builders.ts";
import {
  claimConfiguration,
  claimConfigurationName,
  snapshotConfiguration,
  snapshotConfigurationName,
} from "../src/api/manifests/webhook-configurations.ts";
import { type CertificateOptions, createRenewal } from "../src/components/webhook/certificates/renewal.ts";
import { createClient } from "../src/kube/client.ts";
import { startApiServer } from "./api-server.ts";

export const dayMs = 86_400_000;
export const options: CertificateOptions = {
  namespace: "storage",
  service: "hook",
  secret: "hook-tls",
  dns: [],
  validity: 365 * dayMs,
  authorityValidity: 3_650 * dayMs,
  renewBefore: 30 * dayMs,
  settleTime: 15_000,
};
export const secret = { kind: "Secret", namespace: options.namespace, name: options.secret } as const;
export const snapshots = { kind: "ValidatingWebhookConfiguration", name: snapshotConfigurationName } as const;
export const claims = { kind: "MutatingWebhookConfiguration", name: claimConfigurationName } as const;
export const place = { client: { service: { namespace: options.namespace, name: options.service } } };
const decoded = (text = ""): string => Buffer.from(text, "base64").toString("utf8");

export async function setUp() {
  const { handler, world } = startApiServer();
  const writes: string[] = [];
  const api = createClient({
    world,
    handler: (request) => {
      if (request.method !== "GET") writes.push(`${request.method} ${request.path.split("?")[0]?.split("/").at(-1)}`);
      return handler(request);
    },
  });
  await api.create("Namespace", draftOf("Namespace", { name: options.namespace }, {}));
  await api.create(snapshots.kind, snapshotConfiguration(place) as never);
  await api.create(claims.kind, claimConfiguration(place) as never);
  writes.length = 0;
  const signal = new AbortController().signal;
  const start = (isForced = false, more: Partial<CertificateOptions> = {}) =>
    createRenewal({ api, world, options: { ...options, ...more }, isForced, say: () => undefined });
  const bundles = async (): Promise<readonly string[]> => {
    const found = await Promise.all(
      [snapshots, claims].map((ref) => api.get(ref as typeof snapshots).catch(() => undefined)),
    );
    return found.flatMap((one) => (one?.webhooks ?? []).map(({ clientConfig }) => decoded(clientConfig.caBundle)));
  };
  const entries = async (): Promise<Readonly<Record<string, string>>> =>
    Object.fromEntries(Object.entries((await api.get(secret)).data ?? {}).map(([name, text]) => [name, decoded(text)]));
  /** Steps until nothing is left to do; the clock goes on while it waits. Returns the steps. */
  const finish = async (renewal = start()): Promise<readonly string[]> => {
    const kinds: string[] = [];
    for (;;) {
      const step = await renewal.advance(signal);
      kinds.push(step.kind);
      if (step.kind === "good") return kinds;
      if (step.kind === "wait") await world.advance(step.ms);
      assert.ok(kinds.length < 20, kinds.join(" "));
    }
  };
  return { api, world, writes, signal, start, bundles, entries, finish };
}

export const trusts = (bundle: string, certificate: string): boolean =>
  (bundle.match(/-----BEGIN[^-]*-----[^-]*-----END[^-]*-----/g) ?? []).some((authority) =>
    new X509Certificate(certificate).verify(new X509Certificate(authority).publicKey),
  );
