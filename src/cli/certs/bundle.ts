/**
 * The caBundle of webhook configurations. Only webhooks that ask the Service of the certificate get its authority: with the authority of
 * another one the API server could not reach them. Authorities that have not expired stay trusted, because pods may still serve what they
 * have signed: after a lost Secret, or several renewals in a row. Pure.
 */
import { X509Certificate } from "node:crypto";
import type { JsonPatchOperation } from "../../api/plan.ts";
import type { Millis } from "../../base/brand.ts";
import type { CertificateSet } from "./issue.ts";

export interface Endpoint {
  readonly namespace: string;
  readonly service: string;
  /** Additional names of the certificate, for a webhook that is asked by its address. */
  readonly dns: readonly string[];
}

interface ClientConfig {
  readonly service?: { readonly namespace: string; readonly name: string } | undefined;
  readonly url?: string | undefined;
  readonly caBundle?: string | undefined;
}
export interface AskedWebhook {
  readonly clientConfig: ClientConfig;
}

/** Authorities that stay trusted beside the current one: more than that are left by nobody who renews daily. */
const keptMax = 8;

export function asksEndpoint({ clientConfig }: AskedWebhook, { namespace, service, dns }: Endpoint): boolean {
  const { service: asked, url } = clientConfig;
  if (asked !== undefined) return asked.namespace === namespace && asked.name === service;
  return dns.includes(URL.parse(url ?? "")?.hostname ?? "");
}

/** For an error message. */
export const describeEndpoint = ({ clientConfig: { service, url } }: AskedWebhook): string =>
  service === undefined ? String(url) : `Service ${service.namespace}/${service.name}`;

export function bundleChanges(
  webhooks: readonly AskedWebhook[],
  set: CertificateSet,
  endpoint: Endpoint,
  nowMs: Millis,
): readonly JsonPatchOperation[] {
  return webhooks.flatMap((webhook, index) => {
    if (!asksEndpoint(webhook, endpoint)) return [];
    const { caBundle } = webhook.clientConfig;
    const value = Buffer.from(bundleOf(set, decoded(caBundle), nowMs)).toString("base64");
    return value === caBundle ? [] : [{ op: "add" as const, path: `/webhooks/${index}/clientConfig/caBundle`, value }];
  });
}

const decoded = (text: string | undefined): string => Buffer.from(text ?? "", "base64").toString("utf8");

/** The current authority first, then the others that are valid, newest first. */
export function bundleOf(
  { authority, previousAuthority = "" }: CertificateSet,
  trusted: string,
  nowMs: Millis,
): string {
  const current = authority.certificate;
  const others = certificatesIn(`${previousAuthority}${trusted}`)
    .filter(({ pem, endsMs }) => pem !== certificatesIn(current)[0]?.pem && endsMs > nowMs)
    .sort((one, other) => other.beginsMs - one.beginsMs);
  return [...new Set([current, ...others.map(({ pem }) => pem)])].slice(0, keptMax + 1).join("");
}

interface Dated {
  readonly pem: string;
  readonly beginsMs: Millis;
  readonly endsMs: Millis;
}

/** What is not a certificate is left out: the API server trusts nothing by it. */
function certificatesIn(text: string): readonly Dated[] {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  return blocks.flatMap((block) => {
    try {
      const { validFrom, validTo } = new X509Certificate(block);
      return [{ pem: `${block}\n`, beginsMs: Date.parse(validFrom), endsMs: Date.parse(validTo) }];
    } catch {
      return [];
    }
  });
}
