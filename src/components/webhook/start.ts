/** From options to a webhook that listens: certificate files, their renewal, and the facts that the API server tells. */
import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Millis } from "../../base/brand.ts";
import { Fault } from "../../base/fault.ts";
import type { Address } from "../../runtime/address.ts";
import type { Component, ProcessContext } from "../../runtime/frame.ts";
import { overHttps, type TlsIdentity, type TlsServer } from "../../runtime/serve.ts";
import type { AllowListReader } from "../../runtime/share-allow-lists.ts";
import { followTlsFiles, readTlsFiles } from "../../runtime/tls-files.ts";
import type { ApiFacts } from "./api-facts.ts";
import { createWebhook } from "./index.ts";
import { webhookMetrics } from "./metrics.ts";

/** The API server takes objects of 3 MiB, and the review of an update holds two of them. */
const reviewBytesMax = 8 * 2 ** 20;

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
    gates: () => ({
      anyVolumeDataSource,
      crossNamespace: gate === "on" || (gate === "auto" && facts.keepsSourceNamespace()),
    }),
  });
  const server = await overHttps(handler, identity, { address, log, world, requestBytesMax: reviewBytesMax });
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

export async function start(context: ProcessContext, options: WebhookOptions, facts: WebhookFacts): Promise<Component> {
  const { world, log, signal } = context;
  const files = { certFile: options.tlsCertFile, keyFile: options.tlsPrivateKeyFile };
  const clientCa = await clientCaIn(options.clientCaFile);
  const current = { ...(await readTlsFiles(files)), clientCa };
  const server = await serveReviews(context, options, facts, current);
  log.info("serving admission reviews", { url: server.url, clientCertificates: clientCa !== undefined });
  const apply = (identity: TlsIdentity): void => server.renew({ ...identity, clientCa });
  return {
    ready: () => stopping(signal),
    run: async (stop) => {
      await Promise.all([
        followTlsFiles({ files, current, world, log, signal: stop, apply }),
        facts.watch(AbortSignal.any([stop, signal])),
        facts.allowLists.read(AbortSignal.any([stop, signal])),
      ]);
      server.drain();
      log.info("stopping", { servesForMs: options.shutdownDelayDuration });
      await world.sleep(options.shutdownDelayDuration);
      await server.close();
    },
  };
}

const stopping = ({ aborted }: AbortSignal): string | undefined => (aborted ? "stopping" : undefined);

async function clientCaIn(file: string): Promise<string | undefined> {
  if (file === "") return undefined;
  const text = await readFile(file, "utf8").catch((reason: NodeJS.ErrnoException) => {
    throw new Fault(
      "InvalidArgument",
      `--client-ca-file ${file} cannot be read (${reason.code}); mount it or correct the path`,
    );
  });
  if (!text.includes("-----BEGIN CERTIFICATE-----"))
    throw new Fault(
      "InvalidArgument",
      `--client-ca-file ${file} holds no certificate; give the authority's certificate in PEM`,
    );
  return text;
}

const expiryOf = (cert: TlsIdentity["cert"]): number => Date.parse(new X509Certificate(cert).validTo) / 1_000;
