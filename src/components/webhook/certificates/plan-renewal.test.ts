import assert from "node:assert/strict";
import { test } from "node:test";
import type { TrustFacts } from "./bundle.ts";
import {
  type AuthorityFacts,
  type CertificateFacts,
  planRenewal,
  type RenewalStep,
  type RenewalView,
  type ServingFacts,
  type StoredFacts,
} from "./plan-renewal.ts";

const dayMs = 86_400_000;
const nowMs = 1_000 * dayMs;
const settleMs = 15_000;

const certificate = (pem: string, endsInDays = 300): CertificateFacts => ({
  pem,
  beginsMs: nowMs - dayMs,
  endsMs: nowMs + endsInDays * dayMs,
});
const authority = (pem: string, endsInDays?: number, unusable?: string): AuthorityFacts => ({
  ...certificate(pem, endsInDays),
  unusable,
});
const serving = (endsInDays?: number, more: Partial<ServingFacts> = {}): ServingFacts => ({
  ...certificate("serving", endsInDays),
  isSignedByAuthority: true,
  missingName: undefined,
  ...more,
});
const webhook = (trusted: readonly CertificateFacts[], name = "snapshots"): TrustFacts => ({
  configuration: { kind: "ValidatingWebhookConfiguration", name, resourceVersion: "1" },
  index: 0,
  trusted,
});
const old = authority("old");
const fresh = authority("new", 3_000);
const good: StoredFacts = {
  authority: old,
  serving: serving(),
  next: undefined,
  earlier: [],
  webhooks: [webhook([old])],
  renewedBy: undefined,
};

const rows: readonly {
  readonly given: string;
  readonly facts?: Partial<StoredFacts>;
  readonly view?: Partial<RenewalView>;
  readonly does: RenewalStep["kind"];
  readonly says?: RegExp;
}[] = [
  { given: "certificates that are good, and trusted", does: "good" },
  {
    given: "a Secret of cert-manager that is about to expire, and that no webhook trusts",
    facts: { authority: authority("old", 1), webhooks: [webhook([])], renewedBy: "cert-manager" },
    does: "left",
  },
  { given: "no Secret", facts: { authority: undefined, serving: undefined }, does: "introduce", says: /there is none/ },
  {
    given: "an authority that expires soon",
    facts: { authority: authority("old", 29) },
    does: "introduce",
    says: /expires on/,
  },
  {
    given: "an authority that expires a day after it is due",
    facts: { authority: authority("old", 31), webhooks: [webhook([authority("old", 31)])] },
    does: "good",
  },
  { given: "a new authority that is wanted", view: { isForced: true }, does: "introduce", says: /--force/ },
  {
    given: "a serving certificate that expires soon",
    facts: { serving: serving(29) },
    does: "serve",
    says: /expires on/,
  },
  { given: "no serving certificate", facts: { serving: undefined }, does: "serve", says: /there is none/ },
  {
    given: "a serving certificate of another authority",
    facts: { serving: serving(300, { isSignedByAuthority: false }) },
    does: "serve",
    says: /another authority/,
  },
  {
    given: "a serving certificate for another Service",
    facts: { serving: serving(300, { missingName: "a.b.svc" }) },
    does: "serve",
    says: /not for a\.b\.svc/,
  },
  {
    given: "an authority that cannot sign, and nothing to sign",
    facts: { authority: authority("old", 300, "no key") },
    does: "good",
  },
  {
    given: "an authority that cannot sign, and a serving certificate that expires soon",
    facts: { authority: authority("old", 300, "no key"), serving: serving(29) },
    does: "introduce",
    says: /no key.*expires on/,
  },
  { given: "a configuration without the authority", facts: { webhooks: [webhook([])] }, does: "trust" },
  {
    given: "one of two configurations without the authority",
    facts: { webhooks: [webhook([old]), webhook([], "claims")] },
    does: "trust",
  },
  {
    given: "an expired authority in a configuration",
    facts: { webhooks: [webhook([old, certificate("gone", -1)])] },
    does: "trust",
  },
  { given: "no configuration at all", facts: { webhooks: [] }, does: "good" },
  { given: "a next authority that nobody trusts yet", facts: { next: fresh }, does: "trust" },
  {
    given: "a next authority that one of two configurations trusts",
    facts: { next: fresh, webhooks: [webhook([fresh, old]), webhook([old], "claims")] },
    view: { trustedForMs: undefined },
    does: "trust",
  },
  {
    given: "a next authority that all have just begun to trust",
    facts: { next: fresh, webhooks: [webhook([fresh, old])] },
    view: { trustedForMs: 0 },
    does: "wait",
  },
  {
    given: "a next authority that was not seen trusted by this process",
    facts: { next: fresh, webhooks: [webhook([fresh, old])] },
    does: "wait",
  },
  {
    given: "a next authority that all have trusted almost long enough",
    facts: { next: fresh, webhooks: [webhook([fresh, old])] },
    view: { trustedForMs: settleMs - 1 },
    does: "wait",
  },
  {
    given: "a next authority that all have trusted long enough",
    facts: { next: fresh, webhooks: [webhook([fresh, old])] },
    view: { trustedForMs: settleMs },
    does: "serve",
  },
  {
    given: "a next authority, and no other that anybody trusts",
    facts: { authority: undefined, serving: undefined, next: fresh, webhooks: [webhook([fresh])] },
    view: { trustedForMs: 0 },
    does: "serve",
  },
  {
    given: "a next authority of an interrupted renewal that is expired",
    facts: { next: authority("new", -1) },
    does: "good",
  },
  { given: "a next authority that cannot sign", facts: { next: authority("new", 300, "no key") }, does: "good" },
  {
    given: "a next authority that cannot sign, and a new one that is wanted",
    facts: { next: authority("new", 300, "no key") },
    view: { isForced: true },
    does: "introduce",
  },
  {
    given: "a next authority of an interrupted renewal, and a new one that is wanted",
    facts: { next: fresh },
    view: { isForced: true },
    does: "trust",
  },
];
for (const { given, facts = {}, view = {}, does, says } of rows)
  test(`given ${given}, then ${does}`, () => {
    const renewBeforeMs = 30 * dayMs;
    const trustedForMs = undefined;
    const stored = { ...good, ...facts };
    const step = planRenewal({ facts: stored, nowMs, trustedForMs, renewBeforeMs, settleMs, isForced: false, ...view });
    assert.equal(step.kind, does, JSON.stringify(step));
    assert.match("why" in step ? step.why : "", says ?? /^/);
  });

const plan = (facts: Partial<StoredFacts>, view: Partial<RenewalView> = {}): RenewalStep =>
  planRenewal({
    facts: { ...good, ...facts },
    nowMs,
    trustedForMs: undefined,
    renewBeforeMs: 30 * dayMs,
    settleMs,
    isForced: false,
    ...view,
  });

test("the next look is due before whichever ends first is due", () => {
  const untilOf = (facts: Partial<StoredFacts>) => (plan(facts) as { untilMs?: number }).untilMs;
  assert.equal(untilOf({ serving: serving(100) }), nowMs + 70 * dayMs);
  const ending = authority("old", 50);
  assert.equal(untilOf({ authority: ending, webhooks: [webhook([ending])] }), nowMs + 20 * dayMs);
});

test("the wait is what is left of the time for API servers", () => {
  const facts = { next: fresh, webhooks: [webhook([fresh, old])] };
  assert.deepEqual(plan(facts, { trustedForMs: 5_000 }), { kind: "wait", ms: 10_000 });
  assert.equal((plan(facts, { trustedForMs: settleMs }) as { by?: string }).by, "next");
  assert.equal((plan({ serving: undefined }) as { by?: string }).by, "authority");
});
