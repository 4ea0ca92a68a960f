/** From options to a webhook that listens: certificate files, their renewal, and the facts that the API server tells. */
import { X509Certificate } from "node:crypto";
import type { Millis } from "../../base/brand.ts";
import { limits } from "../../base/limits.ts";
import type { Address } from "../../runtime/address.ts";
import type { Component, ProcessContext } from "../../runtime/frame.ts";
import { overHttps, type TlsIdentity, type TlsServer } from "../../runtime/serve.ts";
import type { OnRefusal } from "../../runtime/serve-refusals.ts";
import type { AllowListReader } from "../../runtime/share-allow-lists.ts";
import { followTlsFiles, readTlsFiles } from "../../runtime/tls-files.ts";
import type { ApiFacts } from "./api-facts.ts";
import { createWebhook } from "./index.ts";
import { webhookMetrics } from "./metrics.ts";

/** The API server takes objects of 3 MiB. The review of an update holds two of them; the rest is for user, groups and options. */
const reviewBytesMax = 2 * limits.requestBytesMax + 2 ** 18;
/**
 * Anybody in the cluster may connect. All that strangers can occupy (64 KiB of headers and about as much for TLS per connection, and the
 * bodies that are arriving) must fit into the memory limit of the manifests, beside the review that is being judged.
 */
const boundsOfStrangers = {
  requestBytesMax: reviewBytesMax,
  bodiesBytesMax: 64 * 2 ** 20,
  connectionsMax: 1_024,
  // An API server waits 30 s for an answer at most.
  patience: { headersMsMax: 10_000, requestMsMax: 30_000 },
} as const;

export interface ReviewOptions {
  readonly address: Address;
  readonly anyVolumeDataSource: boolean;
  readonly crossNamespaceGate: "auto" | "on" | "off";
}

/** What the webhook knows beside the request. */
export type WebhookFacts = ApiFacts & { readonly allowLists: AllowListReader };

export interface WebhookOptions extends ReviewOptions {
  readonly tlsCertFile: string;
  readonly tlsPrivateKeyFile: string;
  /** Empty: clients need no certificate. */
  readonly clientCaFile: string;
  /** How long to go on serving after the process was told to stop: until then some API server may not know that it must ask another. */
  readonly shutdownDelayDuration: Millis;
}

/** Listens when this returns. */
export async function serveReviews(
  { world, log, metrics, signal }: ProcessContext,
  options: ReviewOptions,
  facts: WebhookFacts,
  identity: TlsIdentity,
): Promise<TlsServer> {
  const instruments = metrics.instruments(webhookMetrics);
  const { crossNamespaceGate: gate, address, anyVolumeDataSource } = options;
  const handler = createWebhook({
    world,
    log,
    instruments,
    ready: () => stopping(signal),
    otherDefaults: facts.otherDefaults,
    allowLists: facts.allowLists.current,
    self: facts.self,
    gates: () => ({
      anyVolumeDataSource,
      crossNamespace: gate === "on" || (gate === "auto" && facts.keepsSourceNamespace()),
    }),
  });
  const refused: OnRefusal = ({ reason }) => instruments.refusals.add({ reason });
  const server = await overHttps(handler, identity, { address, log, world, refused, ...boundsOfStrangers });
  const showExpiry = ({ cert }: TlsIdentity): void => instruments.certificateExpiry.set({}, expiryOf(cert));
  showExpiry(identity);
  return {
    ...server,
    renew: (next) => {
      server.renew(next);
      showExpiry(next);
    },
  };
}

/** `keepsCertificates` renews the certificate until the signal aborts, where this replica is to. */
export async function start(
  context: ProcessContext,
  options: WebhookOptions,
  facts: WebhookFacts,
  keepsCertificates: (signal: AbortSignal) => Promise<void>,
): Promise<Component> {
  const { world, log, signal } = context;
  const { tlsCertFile: certFile, tlsPrivateKeyFile: keyFile, clientCaFile } = options;
  const files = { certFile, keyFile, clientCaFile };
  const current = await readTlsFiles(files);
  const server = await serveReviews(context, options, facts, current);
  log.info("serving admission reviews", { url: server.url, clientCertificates: current.clientCa !== undefined });
  return {
    ready: () => stopping(signal),
    run: async (stop) => {
      await Promise.all([
        followTlsFiles({ files, current, world, log, signal: stop, apply: server.renew }),
        facts.watch(AbortSignal.any([stop, signal])),
        facts.allowLists.read(AbortSignal.any([stop, signal])),
        keepsCertificates(AbortSignal.any([stop, signal])),
      ]);
      server.drain();
      log.info("stopping", { servesForMs: options.shutdownDelayDuration });
      await world.sleep(options.shutdownDelayDuration);
      await server.close();
    },
  };
}

const stopping = ({ aborted }: AbortSignal): string | undefined => (aborted ? "stopping" : undefined);

const expiryOf = (cert: TlsIdentity["cert"]): number => Date.parse(new X509Certificate(cert).validTo) / 1_000;
