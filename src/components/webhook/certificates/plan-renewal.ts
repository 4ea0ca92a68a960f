/**
 * What to do next about the webhook's certificates. A new authority takes two steps, so that no API server meets a certificate that it does
 * not trust yet:
 *
 *   good ── authority expires, is lost, or is not wanted ──▶ introduce ──▶ trust ──▶ wait ──▶ serve ──▶ good
 *   good ── only the serving certificate expires ──▶ serve (by the same authority) ──▶ good
 *   left: cert-manager renews the Secret
 *
 * `introduce` stores the new authority beside the current one. `trust` writes both to the caBundle of every configuration, `wait` gives every
 * API server the time to read it, and only then `serve` signs with the new one. The old authority stays trusted until it expires: pods may
 * still serve what it has signed. Each step can be the last one of a process; the next process goes on from what is stored.
 */
import type { Millis } from "../../../base/brand.ts";
import { type BundleChange, bundleChanges, type TrustFacts, trustsOthers } from "./bundle.ts";

export interface CertificateFacts {
  /** PEM. */
  readonly pem: string;
  readonly beginsMs: Millis;
  readonly endsMs: Millis;
}

export interface AuthorityFacts extends CertificateFacts {
  /** Why it cannot sign; undefined: it can. */
  readonly unusable: string | undefined;
}

export interface ServingFacts extends CertificateFacts {
  readonly isSignedByAuthority: boolean;
  /** The first DNS name of the Service that it is not for. */
  readonly missingName: string | undefined;
}

export interface StoredFacts {
  /** Has signed what is served. */
  readonly authority: AuthorityFacts | undefined;
  readonly serving: ServingFacts | undefined;
  /** Will sign what is served. */
  readonly next: AuthorityFacts | undefined;
  /** Authorities of before. */
  readonly earlier: readonly CertificateFacts[];
  readonly webhooks: readonly TrustFacts[];
  /** Who else renews the Secret; then only it does. */
  readonly renewedBy: string | undefined;
}

export interface RenewalView {
  readonly facts: StoredFacts;
  readonly nowMs: Millis;
  /** How long this process has seen every webhook trust the next authority; undefined: it has not. */
  readonly trustedForMs: Millis | undefined;
  readonly renewBeforeMs: Millis;
  readonly settleMs: Millis;
  /** A new authority is wanted, although the current one is good. */
  readonly isForced: boolean;
}

export type RenewalStep =
  | { readonly kind: "introduce"; readonly why: string }
  | { readonly kind: "trust"; readonly changes: readonly BundleChange[] }
  | { readonly kind: "wait"; readonly ms: Millis }
  | { readonly kind: "serve"; readonly by: "authority" | "next"; readonly why: string }
  /** Somebody else renews the Secret, and sets each caBundle. */
  | { readonly kind: "left"; readonly to: string }
  /** Nothing to do before this date. */
  | { readonly kind: "good"; readonly untilMs: Millis };

export interface Shortcoming {
  readonly part: "authority" | "serving";
  readonly why: string;
}

export function planRenewal(view: RenewalView): RenewalStep {
  const { facts, nowMs, trustedForMs = 0, settleMs } = view;
  if (facts.renewedBy !== undefined) return { kind: "left", to: facts.renewedBy };
  const shortcoming = shortcomingOf(view);
  const next = isUsable(facts.next, view) ? facts.next : undefined;
  if (shortcoming?.part === "authority" && next === undefined) return { kind: "introduce", why: shortcoming.why };
  const changes = bundleChanges({ ...facts, next }, nowMs);
  if (changes.length > 0) return { kind: "trust", changes };
  if (next !== undefined) {
    // Nobody serves anything that is trusted: there is nothing that an early change could interrupt.
    const leftMs = trustsOthers(facts.webhooks, next, nowMs) ? settleMs - trustedForMs : 0;
    const why = "its authority is trusted everywhere";
    return leftMs > 0 ? { kind: "wait", ms: leftMs } : { kind: "serve", by: "next", why };
  }
  if (shortcoming !== undefined) return { kind: "serve", by: "authority", why: shortcoming.why };
  const ends = [facts.authority, facts.serving].map((certificate) => certificate?.endsMs ?? nowMs);
  return { kind: "good", untilMs: Math.min(...ends) - view.renewBeforeMs };
}

type Dates = Pick<RenewalView, "nowMs" | "renewBeforeMs">;

const isUsable = (authority: AuthorityFacts | undefined, dates: Dates): boolean =>
  authority !== undefined && authority.unusable === undefined && expiryOf(authority, dates) === undefined;

const expiryOf = ({ endsMs }: CertificateFacts, { nowMs, renewBeforeMs }: Dates): string | undefined =>
  endsMs > nowMs + renewBeforeMs ? undefined : `it expires on ${new Date(endsMs).toISOString()}`;

/** Why existing certificates must be renewed; undefined when they are valid long enough. */
export function shortcomingOf(
  view: Dates & { readonly facts: Pick<StoredFacts, "authority" | "serving">; readonly isForced: boolean },
): Shortcoming | undefined {
  const { authority, serving } = view.facts;
  if (view.isForced) return { part: "authority", why: "--force" };
  if (authority === undefined) return { part: "authority", why: "there is none" };
  const old = expiryOf(authority, view);
  if (old !== undefined) return { part: "authority", why: old };
  const why = servingShortcoming(serving, view);
  if (why === undefined) return undefined;
  return authority.unusable === undefined
    ? { part: "serving", why }
    : { part: "authority", why: `${authority.unusable}, and the serving certificate must be renewed: ${why}` };
}

function servingShortcoming(serving: ServingFacts | undefined, dates: Dates): string | undefined {
  if (serving === undefined) return "there is none";
  const old = expiryOf(serving, dates);
  if (old !== undefined) return old;
  if (!serving.isSignedByAuthority) return "another authority signed it";
  return serving.missingName === undefined ? undefined : `it is not for ${serving.missingName}`;
}
