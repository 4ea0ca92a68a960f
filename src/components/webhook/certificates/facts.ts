/** From PEM and stored objects to what a plan looks at. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import type { ObjectOf } from "../../../api/types.ts";
import { Fault } from "../../../base/fault.ts";
import type { ConfigurationRef, TrustFacts } from "./bundle.ts";
import type { KeyPair } from "./issue.ts";
import type { AuthorityFacts, CertificateFacts, ServingFacts } from "./plan-renewal.ts";

/** Where a webhook is asked. */
export interface Endpoint {
  readonly namespace: string;
  readonly service: string;
  /** Additional names of the certificate, for a webhook that is asked by its address. */
  readonly dns: readonly string[];
}

export const namesOf = ({ service, namespace, dns }: Endpoint): readonly string[] => [
  `${service}.${namespace}.svc`,
  `${service}.${namespace}.svc.cluster.local`,
  `${service}.${namespace}`,
  service,
  ...dns,
];

/** What is not a certificate is left out: the API server trusts nothing by it. */
export function certificatesIn(text: string): readonly CertificateFacts[] {
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

/** Without a certificate there is no authority; without a key that fits, one that is trusted and cannot sign. */
export function authorityFacts(certificate: string | undefined, key: string | undefined): AuthorityFacts | undefined {
  const [found] = certificatesIn(certificate ?? "");
  return found && { ...found, unusable: whyUnusable(found.pem, key) };
}

function whyUnusable(certificate: string, key: string | undefined): string | undefined {
  if (key === undefined) return "the key of the authority is not there";
  try {
    const parsed = createPrivateKey(key);
    const { asymmetricKeyType: type, asymmetricKeyDetails: details } = parsed;
    if (type !== "rsa" && details?.namedCurve !== "prime256v1")
      return `the key of the authority is of type ${type}, and only RSA and EC of curve P-256 are used`;
    return new X509Certificate(certificate).checkPrivateKey(parsed)
      ? undefined
      : "the key of the authority does not fit its certificate";
  } catch (reason) {
    return `the key of the authority cannot be read (${Fault.from(reason).message})`;
  }
}

/** A certificate whose key does not fit is not served by anybody. */
export function servingFacts(
  { certificate, key }: KeyPair,
  authority: CertificateFacts | undefined,
  names: readonly string[],
): ServingFacts | undefined {
  const [found] = certificatesIn(certificate);
  if (found === undefined || !isPair(certificate, key)) return undefined;
  const parsed = new X509Certificate(certificate);
  return {
    ...found,
    isSignedByAuthority: authority !== undefined && parsed.verify(new X509Certificate(authority.pem).publicKey),
    missingName: names.find((name) => parsed.checkHost(name) === undefined),
  };
}

function isPair(certificate: string, key: string): boolean {
  try {
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}

interface ClientConfig {
  readonly service?: { readonly namespace: string; readonly name: string } | undefined;
  readonly url?: string | undefined;
}

/** Only webhooks that ask the Service of the certificate get its authority: with another one the API server could not reach them. */
export function asksEndpoint({ service: asked, url }: ClientConfig, { namespace, service, dns }: Endpoint): boolean {
  if (asked !== undefined) return asked.namespace === namespace && asked.name === service;
  return dns.includes(URL.parse(url ?? "")?.hostname ?? "");
}

/** For an error message. */
export const describeEndpoint = ({ service, url }: ClientConfig): string =>
  service === undefined ? String(url) : `Service ${service.namespace}/${service.name}`;

export type Configuration = ObjectOf<"ValidatingWebhookConfiguration"> | ObjectOf<"MutatingWebhookConfiguration">;

export function trustFacts({ kind, metadata, webhooks = [] }: Configuration, endpoint: Endpoint): TrustFacts[] {
  const configuration: ConfigurationRef = {
    kind: kind as ConfigurationRef["kind"],
    name: metadata.name,
    resourceVersion: metadata.resourceVersion,
  };
  return webhooks.flatMap(({ clientConfig }, index) => {
    if (!asksEndpoint(clientConfig, endpoint)) return [];
    const bundle = Buffer.from(clientConfig.caBundle ?? "", "base64").toString("utf8");
    return [{ configuration, index, trusted: certificatesIn(bundle) }];
  });
}
