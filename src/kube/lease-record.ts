/**
 * Who may lead: the deciding part of the election, as pure functions of what was read and when.
 *
 * The record's own dates come from another machine's clock and are never compared with ours. What counts is how long *we*
 * have been looking at an unchanged record: after the duration it states, its holder has failed to renew it.
 */
import type { Draft, Lease } from "../api/types.ts";
import type { Millis } from "../base/brand.ts";
import { equal } from "../base/json.ts";
import { limits } from "../base/limits.ts";
import { microTime } from "../base/time.ts";

type LeaseSpec = NonNullable<Lease["spec"]>;

/** The record as last read, and since when, by our monotonic clock, it has read like that. */
export interface Observation {
  /** The last one there was, if any was ever there. */
  readonly lease: Lease | undefined;
  readonly since: Millis;
  /** It was there and has been deleted. Its holder may not know yet. */
  readonly missing: boolean;
}

export function observeLease(previous: Observation | undefined, read: Lease | undefined, at: Millis): Observation {
  if (read === undefined) {
    // The holder may have renewed it just before it was deleted: count from now.
    return { lease: previous?.lease, since: previous?.missing ? previous.since : at, missing: true };
  }
  const unchanged = previous?.lease !== undefined && !previous.missing && equal(previous.lease.spec, read.spec);
  return { lease: read, since: unchanged ? previous.since : at, missing: false };
}

/** Which turn of a lease it is: the object, and how often its holder has changed. Whoever led in between has counted it up. */
export interface LeaseTerm {
  readonly uid: string;
  readonly transitions: number;
}

export const termOf = ({ metadata, spec }: Lease): LeaseTerm => ({
  uid: metadata.uid,
  transitions: spec?.leaseTransitions ?? 0,
});

export type LeaseStep =
  | { readonly kind: "create" }
  | { readonly kind: "take"; readonly lease: Lease }
  | { readonly kind: "renew"; readonly lease: Lease }
  /** Another one leads, at least until then. An empty holder: the lease is released, and is left to younger candidates until then. */
  | { readonly kind: "wait"; readonly holder: string; readonly until: Millis };

export interface CandidateTimes {
  /** How long a lease holds that states no duration. */
  readonly durationMs: Millis;
  /** How long this candidate leaves a released lease to younger ones, from when it saw the release. */
  readonly yieldMs: Millis;
}

export function decideLease(
  { lease, since, missing }: Observation,
  identity: string,
  now: Millis,
  times: CandidateTimes,
): LeaseStep {
  if (lease === undefined) return { kind: "create" };
  const holder = lease.spec?.holderIdentity ?? "";
  // A lease that was deleted after its release has no holder to wait for, and no younger candidate has created it.
  const waitMs = holder === identity ? 0 : holder !== "" ? statedMs(lease, times) : missing ? 0 : times.yieldMs;
  const until = since + waitMs;
  if (now < until) return { kind: "wait", holder, until };
  if (missing) return { kind: "create" };
  return holder === identity ? { kind: "renew", lease } : { kind: "take", lease };
}

function statedMs({ spec }: Lease, { durationMs }: CandidateTimes): Millis {
  const seconds = spec?.leaseDurationSeconds;
  return seconds === undefined || seconds <= 0 ? durationMs : seconds * 1_000;
}

/**
 * A rolling update ends the old replicas one by one. If an old standby took the lease that the old leader released, it would release
 * the lease again a moment later: two handovers. So the older a candidate was when it saw the release, the longer it leaves the lease
 * to younger ones.
 */
export const yieldMsAt = (ageMs: Millis): Millis => Math.min(ageMs / limits.leaseYieldRatio, limits.leaseYieldMsMax);

export interface Claim {
  readonly identity: string;
  readonly durationMs: Millis;
  readonly labels: Readonly<Record<string, string>>;
  /** The wall clock's reading: for people to read, and for nothing else. */
  readonly now: Millis;
}

const heldBy = ({ identity, durationMs, now }: Claim) => ({
  holderIdentity: identity,
  leaseDurationSeconds: Math.ceil(durationMs / 1_000),
  renewTime: microTime(now),
});

export const createdLease = (namespace: string, name: string, claim: Claim): Draft<Lease> => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { namespace, name, ...(Object.keys(claim.labels).length > 0 ? { labels: claim.labels } : {}) },
  spec: { ...heldBy(claim), acquireTime: microTime(claim.now), leaseTransitions: 0 },
});

/** The lease exactly as read, plus our claim: fields that we do not know stay what they are. */
export function claimedLease(lease: Lease, claim: Claim): Lease {
  const held = { ...lease.spec, ...heldBy(claim) };
  const spec: LeaseSpec =
    lease.spec?.holderIdentity === claim.identity
      ? held
      : { ...held, acquireTime: microTime(claim.now), leaseTransitions: (lease.spec?.leaseTransitions ?? 0) + 1 };
  const labels = { ...lease.metadata.labels, ...claim.labels };
  return { ...lease, metadata: Object.keys(labels).length > 0 ? { ...lease.metadata, labels } : lease.metadata, spec };
}

/** Without a holder: no candidate has to wait until it expires. */
export function releasedLease(lease: Lease, now: Millis): Lease {
  const freed = { holderIdentity: "", leaseDurationSeconds: 1, renewTime: microTime(now), acquireTime: microTime(now) };
  return { ...lease, spec: { ...lease.spec, ...freed } };
}
