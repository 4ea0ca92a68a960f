import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createScrub, scrubMark } from "./scrub.ts";

const canary = "c4nary-5ecret-value";
const odd = "p&ss w/rd+'é\"";
const base64 = (text: string): string => Buffer.from(text).toString("base64");

interface Echo {
  readonly given: string;
  readonly secret: string | readonly string[];
  readonly text: string;
  readonly cleaned: string;
}

const echoes: readonly Echo[] = [
  { given: "as it is", secret: canary, text: `bad password ${canary}!`, cleaned: `bad password ${scrubMark}!` },
  { given: "twice", secret: canary, text: `${canary}/${canary}`, cleaned: `${scrubMark}/${scrubMark}` },
  {
    given: "that contains another",
    secret: ["pass", "password-1"],
    text: "password-1 or pass",
    cleaned: `${scrubMark} or ${scrubMark}`,
  },
  { given: "as JSON text", secret: 'a"b\\c d', text: 'got "a\\"b\\\\c d"', cleaned: `got "${scrubMark}"` },
  { given: "as Go's JSON text", secret: "a<b&c d", text: 'got "a\\u003cb\\u0026c d"', cleaned: `got "${scrubMark}"` },
  {
    given: "as Go's %q text",
    secret: "a\x00b\té\u{1f600}",
    text: 'got "a\\x00b\\té\\U0001f600"',
    cleaned: `got "${scrubMark}"`,
  },
  {
    given: "as a surrogate pair",
    secret: "key-\u{1f600}",
    text: 'got "key-\\ud83d\\ude00"',
    cleaned: `got "${scrubMark}"`,
  },
  {
    given: "as JSON inside of JSON",
    secret: 'a"b\\c d',
    text: '{"e":"got \\"a\\\\\\"b\\\\\\\\c d\\""}',
    cleaned: `{"e":"got \\"${scrubMark}\\""}`,
  },
  { given: "as an HTML text", secret: "a<b&c'd", text: "<p>a&lt;b&amp;c&#39;d</p>", cleaned: `<p>${scrubMark}</p>` },
  { given: "in a URL", secret: odd, text: `//u:${encodeURIComponent(odd)}@host`, cleaned: `//u:${scrubMark}@host` },
  {
    given: "by Go's url.QueryEscape",
    secret: odd,
    text: "?p=p%26ss+w%2Frd%2B%27%C3%A9%22&x=1",
    cleaned: `?p=${scrubMark}&x=1`,
  },
  { given: "by Go's url.PathEscape", secret: odd, text: "/p&ss%20w%2Frd+%27%C3%A9%22/x", cleaned: `/${scrubMark}/x` },
  {
    given: "percent-encoded in lower case",
    secret: odd,
    text: "got p%26ss%20w%2frd%2b%27%c3%a9%22.",
    cleaned: `got ${scrubMark}.`,
  },
  {
    given: "percent-encoded in every byte",
    secret: canary,
    text: `got ${[...Buffer.from(canary)].map((byte) => `%${byte.toString(16)}`).join("")}.`,
    cleaned: `got ${scrubMark}.`,
  },
  {
    given: "percent-encoded twice",
    secret: odd,
    text: `//u:${encodeURIComponent(encodeURIComponent(odd))}@host`,
    cleaned: `//u:${scrubMark}@host`,
  },
  { given: "in base64", secret: canary, text: `Basic ${base64(canary)}`, cleaned: `Basic ${scrubMark}` },
  {
    given: "in base64 of user:password",
    secret: canary,
    text: `Basic ${base64(`admin:${canary}`)}: refused`,
    cleaned: `Basic ${scrubMark}: refused`,
  },
  {
    given: "in base64 of password:user",
    secret: canary,
    text: `Basic ${base64(`${canary}:admin2`)}: refused`,
    cleaned: `Basic ${scrubMark}: refused`,
  },
  {
    given: "in base64 of two short ones",
    secret: ["usr", "pw1"],
    text: `Basic ${base64("usr:pw1")}: refused`,
    cleaned: `Basic ${scrubMark}: refused`,
  },
  {
    given: "in base64url",
    secret: "\u{3ff}\u{3ff}\u{3ff}-key",
    text: `t=${Buffer.from("x\u{3ff}\u{3ff}\u{3ff}-key").toString("base64url")}&x`,
    cleaned: `t=${scrubMark}&x`,
  },
  {
    given: "in base64 in a URL",
    secret: canary,
    text: `?auth=${encodeURIComponent(base64(`\u{3ff}${canary}`))}&x`,
    cleaned: `?auth=${scrubMark}&x`,
  },
  {
    given: "in hex",
    secret: canary,
    text: `key ${Buffer.from(canary).toString("hex")}.`,
    cleaned: `key ${scrubMark}.`,
  },
  {
    given: "in HEX, inside of something longer",
    secret: canary,
    text: `key 00${Buffer.from(canary).toString("hex").toUpperCase()}ff.`,
    cleaned: `key 00${scrubMark}ff.`,
  },
  { given: "in hex with spaces", secret: "hunter2", text: "68 75 6e 74 65 72 32 0a", cleaned: `${scrubMark} 0a` },
  { given: "as Go prints bytes", secret: "hunter2", text: "[104 117 110 116 101 114 50]", cleaned: `[${scrubMark}]` },
  { given: "as JSON prints bytes", secret: "hunter2", text: "[104,117,110,116,101,114,50]", cleaned: `[${scrubMark}]` },
  { given: "in Latin-1", secret: "gr\u00fcn-weiss", text: "p=gr%FCn-weiss&x", cleaned: `p=${scrubMark}&x` },
  {
    given: "in undecodable bytes",
    secret: "gr\u00fcn-weiss",
    text: "bad gr\ufffdn-weiss.",
    cleaned: `bad ${scrubMark}.`,
  },
  {
    given: "a short one, alone",
    secret: "pw",
    text: "pw: bad pw, upward",
    cleaned: `${scrubMark}: bad ${scrubMark}, upward`,
  },
  { given: "an empty one", secret: "", text: "nothing to hide", cleaned: "nothing to hide" },
  { given: "half a character", secret: "\ud800-lone", text: "got \ud800-lone", cleaned: `got ${scrubMark}` },
];
for (const { given, secret, text, cleaned } of echoes)
  test(`a secret in a driver's text is hidden: ${given}`, () =>
    assert.equal(createScrub(new Set([secret].flat()))(text), cleaned));

test("a password is found byte by byte beside a secret of a thousand lines", () => {
  const lines = Array.from({ length: 1_000 }, (_, index) => `line ${index} of a bundle of certificates`);
  const scrub = createScrub(new Set([lines.join("\n"), ...lines, "hunter2"]));
  assert.equal(scrub("[104 117 110 116 101 114 50] line 7 of a bundle of certificates"), `[${scrubMark}] ${scrubMark}`);
});

const texts = ["path /var/lib/kubelet/plugins/x", "50% of 10+5 GiB\\n", "&amp; %zz \\u12 &#x110000;", "größe: 5 €"];
for (const text of texts)
  test(`a text without a secret stays as it is: ${text}`, () =>
    assert.equal(createScrub(new Set([canary, "pw"]))(text), text));

const encoders: readonly (readonly [string, (text: string) => string])[] = [
  ["base64", base64],
  ["base64url", (text) => Buffer.from(text).toString("base64url")],
  ["hex", (text) => Buffer.from(text).toString("hex")],
  ["JSON", (text) => JSON.stringify(text)],
  ["percent", (text) => encodeURIComponent(text)],
  ["form", (text) => new URLSearchParams({ text }).toString()],
  ["bytes", (text) => String([...Buffer.from(text)])],
];
const anyText = fc.string({ unit: "grapheme", maxLength: 20 });
const anySecret = fc.string({ unit: "grapheme", minLength: 4, maxLength: 40 });
for (const [name, encode] of encoders)
  test(`${name} of a secret is redacted in any context`, () =>
    fc.assert(
      fc.property(anyText, anySecret, anyText, (before, secret, after) => {
        const text = `driver: ${encode(before + secret + after)} is wrong`;
        const cleaned = createScrub(new Set([secret]))(text);
        assert.ok(cleaned.includes(scrubMark) && !cleaned.includes(encode(before + secret + after)), cleaned);
      }),
    ));
