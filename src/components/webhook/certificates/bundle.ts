/**
 * The caBundle of webhook configurations. Authorities that have not expired stay trusted, because pods may still serve what they have signed:
 * after a lost Secret, or several renewals in a row. Pure.
 */
import type { Millis } from "../../../base/brand.ts";
import type { CertificateFacts } from "./plan-renewal.ts";

/** One webhook of a configuration that asks for the certificate's names. */
export interface TrustFacts {
  readonly configuration: ConfigurationRef;
  /** In the list of its configuration. */
  readonly index: number;
  /** The authorities of its caBundle. */
  readonly trusted: readonly CertificateFacts[];
}

export interface ConfigurationRef {
  readonly kind: "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration";
  readonly name: string;
  /** As it was read: a change of somebody else in between is not overwritten. */
  readonly resourceVersion: string;
}

/** The caBundle that a webhook is to have, in PEM. */
export interface BundleChange {
  readonly configuration: ConfigurationRef;
  readonly index: number;
  readonly bundle: string;
}

interface Authorities {
  readonly authority: CertificateFacts | undefined;
  readonly next: CertificateFacts | undefined;
  readonly earlier: readonly CertificateFacts[];
}

/** Authorities that stay trusted beside the current one and the next: more than that are left by nobody who renews daily. */
export const keptMax = 8;

export function bundleChanges(
  { webhooks, ...authorities }: Authorities & { readonly webhooks: readonly TrustFacts[] },
  nowMs: Millis,
): readonly BundleChange[] {
  return webhooks.flatMap(({ configuration, index, trusted }) => {
    const bundle = bundleOf(authorities, trusted, nowMs);
    return bundle === textOf(trusted) ? [] : [{ configuration, index, bundle }];
  });
}

/** The next authority first, then the current one, then the others that are valid, newest first. */
export function bundleOf(
  { authority, next, earlier }: Authorities,
  trusted: readonly CertificateFacts[],
  nowMs: Millis,
): string {
  const named = [next, authority].filter((one) => one !== undefined);
  const isNamed = ({ pem }: CertificateFacts): boolean => named.some((one) => one.pem === pem);
  return textOf([
    ...named,
    ...validOf([...earlier, ...trusted], nowMs)
      .filter((one) => !isNamed(one))
      .slice(0, keptMax),
  ]);
}

/** Each once, newest first. */
export function validOf(certificates: readonly CertificateFacts[], nowMs: Millis): readonly CertificateFacts[] {
  const distinct = new Map(certificates.map((one) => [one.pem, one]));
  return [...distinct.values()]
    .filter(({ endsMs }) => endsMs > nowMs)
    .sort((one, other) => other.beginsMs - one.beginsMs);
}

export const textOf = (certificates: readonly CertificateFacts[]): string =>
  certificates.map(({ pem }) => pem).join("");

/** Whether some API server may still meet a certificate that another authority has signed. */
export const trustsOthers = (webhooks: readonly TrustFacts[], next: CertificateFacts, nowMs: Millis): boolean =>
  webhooks.some(({ trusted }) => validOf(trusted, nowMs).some(({ pem }) => pem !== next.pem));
