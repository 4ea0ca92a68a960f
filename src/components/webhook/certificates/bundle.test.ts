import assert from "node:assert/strict";
import { test } from "node:test";
import { bundleChanges, bundleOf, keptMax, trustsOthers, validOf } from "./bundle.ts";
import type { CertificateFacts } from "./plan-renewal.ts";

const nowMs = 1_000;
const one = (pem: string, beginsMs = 0, endsMs = 2_000): CertificateFacts => ({ pem, beginsMs, endsMs });

const rows: readonly {
  readonly given: string;
  readonly authority?: CertificateFacts;
  readonly next?: CertificateFacts;
  readonly earlier?: readonly CertificateFacts[];
  readonly trusted?: readonly CertificateFacts[];
  readonly bundle: string;
}[] = [
  { given: "one authority", authority: one("a"), bundle: "a" },
  { given: "the next authority as well", authority: one("a"), next: one("n"), bundle: "na" },
  { given: "only the next authority", next: one("n"), bundle: "n" },
  { given: "an authority of before in the Secret", authority: one("a"), earlier: [one("e")], bundle: "ae" },
  { given: "an authority of before in the caBundle", authority: one("a"), trusted: [one("t")], bundle: "at" },
  { given: "one of before that ends now", authority: one("a"), trusted: [one("t", 0, nowMs)], bundle: "a" },
  {
    given: "one of before that ends in a millisecond",
    authority: one("a"),
    trusted: [one("t", 0, nowMs + 1)],
    bundle: "at",
  },
  {
    given: "one of before in the Secret that has ended",
    authority: one("a"),
    earlier: [one("e", 0, 999)],
    bundle: "a",
  },
  {
    given: "the same one twice",
    authority: one("a"),
    earlier: [one("e")],
    trusted: [one("a"), one("e")],
    bundle: "ae",
  },
  {
    given: "two of before, the older one first",
    authority: one("a"),
    trusted: [one("t", 1), one("u", 2)],
    bundle: "aut",
  },
  {
    given: "two of before of the same second",
    authority: one("a"),
    trusted: [one("t", 1), one("u", 1)],
    bundle: "atu",
  },
];
for (const { given, bundle, authority, next, earlier = [], trusted = [] } of rows)
  test(`given ${given}, the caBundle is ${bundle}`, () => {
    assert.equal(bundleOf({ authority, next, earlier }, trusted, nowMs), bundle);
  });

test("of many authorities the newest stay, beside the current one and the next", () => {
  const many = Array.from({ length: keptMax + 3 }, (_, index) => one(`<${index}>`, index));
  const bundle = bundleOf({ authority: one("a"), next: one("n"), earlier: [] }, many, nowMs);
  const newest = many.toReversed().slice(0, keptMax);
  assert.equal(bundle, `na${newest.map(({ pem }) => pem).join("")}`);
});

const configuration = { kind: "ValidatingWebhookConfiguration", name: "v", resourceVersion: "1" } as const;

test("a caBundle that is as it should be is not written, and another one is", () => {
  const authorities = { authority: one("a"), next: undefined, earlier: [one("e")] };
  const webhooks = [[one("a"), one("e")], [one("a")], []].map((trusted, index) => ({ configuration, index, trusted }));
  assert.deepEqual(bundleChanges({ ...authorities, webhooks }, nowMs), [
    { configuration, index: 1, bundle: "ae" },
    { configuration, index: 2, bundle: "ae" },
  ]);
});

test("what was written is not written again", () => {
  const authorities = { authority: one("a", 5), next: one("n", 5), earlier: [one("e", 5), one("f", 5)] };
  const trusted = [one("x", 5), one("f", 5), one("a", 5)];
  const bundle = bundleOf(authorities, trusted, nowMs);
  const written = [...bundle].map((pem) => one(pem, 5));
  assert.equal(bundleOf(authorities, written, nowMs), bundle);
});

test("others are trusted when one webhook has another authority that is valid", () => {
  const next = one("n");
  const trusts = (...bundles: readonly (readonly CertificateFacts[])[]) =>
    trustsOthers(
      bundles.map((trusted, index) => ({ configuration, index, trusted })),
      next,
      nowMs,
    );
  assert.equal(trusts([next]), false);
  assert.equal(trusts([next, one("t", 0, 999)]), false);
  assert.equal(trusts([next], [next, one("t")]), true);
  assert.equal(trusts(), false);
});

test("valid ones are listed once, newest first", () => {
  assert.deepEqual(
    validOf([one("a", 1), one("b", 3), one("a", 1), one("c", 2, 10)], nowMs).map(({ pem }) => pem),
    ["b", "a"],
  );
});
