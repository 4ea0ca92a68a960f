import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "./fault.ts";
import { isSecretName, redact, redactText } from "./redact.ts";

const secretNames = [
  "token",
  "Token",
  "bearerToken",
  "idToken",
  "access_token",
  "password",
  "passwd",
  "secret",
  "secrets",
  "node_stage_secrets",
  "Authorization",
  "client-key-data",
  "privateKey",
  "stringData",
  "cookie",
  "credentials",
];
for (const name of secretNames) test(`a value named ${name} is redacted`, () => assert.ok(isSecretName(name)));

const openNames = [
  "key",
  "secretName",
  "secret-namespace",
  "starting_token",
  "nextToken",
  "continueToken",
  "name",
  "tokenize",
  "tokenFile",
  "publicKey",
];
for (const name of openNames)
  test(`a value named ${name} is not redacted`, () => assert.equal(isSecretName(name), false));

test("secrets are redacted at any depth, and empty secrets stay empty", () =>
  assert.deepEqual(
    redact({ call: { name: "x", secrets: { user: "u", password: "p" }, list: [{ token: "t" }], token: "" } }),
    {
      call: { name: "x", secrets: "***", list: [{ token: "***" }], token: "" },
    },
  ));

const texts: readonly (readonly [string, string])[] = [
  ["got Bearer abcdefghijkl from it", "got Bearer *** from it"],
  ["jwt eyJhbGciOiJSUzI1NiIs.eyJpc3MiOiJrdWJl.c2lnbmF0dXJl end", "jwt *** end"],
  ["-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nrest", "***\nrest"],
  ["nothing to hide", "nothing to hide"],
];
for (const [text, shown] of texts)
  test(`"${text.slice(0, 30)}" is shown as "${shown}"`, () => assert.equal(redactText(text), shown));

test("an error prints its redacted stack with causes, and a fault prints its message", () => {
  const cause = new RangeError("no Bearer 0123456789");
  const shown = String(redact(new TypeError("cannot read x", { cause })));
  assert.match(shown, /^TypeError: cannot read x\n\s+at .*redact\.test\.ts/);
  assert.match(shown, /\ncaused by RangeError: no Bearer \*\*\*\n\s+at .*redact\.test\.ts/);
  assert.equal(redact(new Fault("NotFound", "gone", { cause })), "gone");
  assert.match(String(redact(Fault.from(cause))), /^RangeError: no Bearer \*\*\*\n\s+at /);
});

test("faults print as messages, bytes as a count, large numbers as digits, dates as text", () =>
  assert.deepEqual(
    redact({
      e: new Fault("Internal", "no Bearer 0123456789"),
      b: Buffer.from("abc"),
      n: 2n ** 63n,
      d: new Date(0),
      s: new Set([1]),
      m: new Map([["password", "x"]]),
    }),
    {
      e: "no Bearer ***",
      b: "3 bytes",
      n: "9223372036854775808",
      d: "1970-01-01T00:00:00.000Z",
      s: [1],
      m: { password: "***" },
    },
  ));

test("cycles, deep objects, long lists and long texts are truncated", () => {
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  assert.ok(JSON.stringify(redact(cycle)).length < 200);
  assert.equal((redact(Array.from({ length: 1_000 }, () => 1)) as unknown[]).length, 51);
  assert.equal(
    Object.keys(redact(Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [i, i]))) as object).length,
    51,
  );
  assert.ok(redactText("x".repeat(1_000_000)).length < 5_000);
});
