import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { createAuthority } from "../../../runtime/certificates.ts";
import { asksEndpoint, authorityFacts, certificatesIn, servingFacts } from "./facts.ts";

const nowMs = Date.parse("2026-01-01T00:00:00Z");
const signer = createAuthority("test", nowMs);
const pair = signer.issue({ commonName: "hook", dnsNames: ["hook.storage.svc", "hook"] });
const other = signer.issue({ commonName: "hook", dnsNames: ["hook"] });
const [authority] = certificatesIn(signer.certificate);
const stranger = certificatesIn(createAuthority("stranger", nowMs).certificate)[0];
const pemOf = (key: ReturnType<typeof generateKeyPairSync>["privateKey"]) =>
  key.export({ type: "pkcs8", format: "pem" }).toString();

const keys: readonly { readonly given: string; readonly key: string | undefined; readonly unusable: RegExp }[] = [
  { given: "the key of its certificate", key: pair.key, unusable: /^undefined$/ },
  { given: "no key", key: undefined, unusable: /is not there/ },
  { given: "the key of another certificate", key: other.key, unusable: /does not fit/ },
  {
    given: "a key on another curve",
    key: pemOf(generateKeyPairSync("ec", { namedCurve: "P-384" }).privateKey),
    unusable: /of type ec, and only RSA and EC/,
  },
  {
    given: "a key of another kind",
    key: pemOf(generateKeyPairSync("ed25519").privateKey),
    unusable: /of type ed25519/,
  },
  { given: "no key in the file", key: "nonsense", unusable: /cannot be read/ },
];
for (const { given, key, unusable } of keys)
  test(`an authority with ${given} ${unusable.test("undefined") ? "can sign" : "cannot sign"}`, () => {
    assert.match(String(authorityFacts(pair.certificate, key)?.unusable), unusable);
  });

test("text without a certificate is no authority", () => {
  assert.equal(authorityFacts(undefined, pair.key), undefined);
  assert.equal(authorityFacts("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", pair.key), undefined);
});

test("certificates are found between other text, each with its dates", () => {
  const found = certificatesIn(`# first\n${signer.certificate}\nnonsense\n${pair.certificate.trim()}`);
  assert.equal(found.length, 2);
  assert.ok(found.every(({ pem, beginsMs, endsMs }) => pem.endsWith("-----\n") && beginsMs < endsMs));
});

test("a serving certificate is judged by its authority, its names and its key", () => {
  const names = ["hook", "hook.storage.svc"];
  assert.deepEqual(
    [
      servingFacts(pair, authority, names)?.isSignedByAuthority,
      servingFacts(pair, stranger, names)?.isSignedByAuthority,
    ],
    [true, false],
  );
  assert.equal(servingFacts(pair, authority, names)?.missingName, undefined);
  assert.equal(servingFacts(pair, authority, [...names, "hook.other.svc"])?.missingName, "hook.other.svc");
  assert.equal(servingFacts({ ...pair, key: other.key }, authority, names), undefined);
  assert.equal(servingFacts({ certificate: "", key: "" }, authority, names), undefined);
});

const endpoint = { namespace: "storage", service: "hook", dns: ["hook.example.com"] };
const asked = [
  { clientConfig: { service: { namespace: "storage", name: "hook" } }, asks: true },
  { clientConfig: { service: { namespace: "other", name: "hook" } }, asks: false },
  { clientConfig: { service: { namespace: "storage", name: "other" } }, asks: false },
  { clientConfig: { url: "https://hook.example.com/judge" }, asks: true },
  { clientConfig: { url: "https://hook.storage.svc/judge" }, asks: false },
  { clientConfig: { url: "nonsense" }, asks: false },
  { clientConfig: {}, asks: false },
];
for (const { clientConfig, asks } of asked)
  test(`${JSON.stringify(clientConfig)} ${asks ? "asks" : "does not ask"} the Service of the certificate`, () => {
    assert.equal(asksEndpoint(clientConfig, endpoint), asks);
  });
