import assert from "node:assert/strict";
import { test } from "node:test";
import { quickly } from "../../test/quickly.ts";
import { fitsFormat } from "./formats.ts";
import { goRegExp } from "./go-regexp.ts";

const rows: readonly { pattern: string; yes: readonly string[]; no: readonly string[] }[] = [
  { pattern: "^[a-z]+$", yes: ["abc"], no: ["ABC", "abc\n"] },
  { pattern: "(?i)^abc$", yes: ["ABC"], no: ["abd"] },
  { pattern: "^a(?i)b$", yes: ["aB"], no: ["AB"] },
  { pattern: "^(?P<x>a)b$", yes: ["ab"], no: ["b"] },
  { pattern: "^[[:alpha:]_]+$", yes: ["a_"], no: ["1"] },
  { pattern: "\\Aab\\z", yes: ["ab"], no: ["ab\n", "xab"] },
  { pattern: "^[\\w-.]+$", yes: ["a-b.c"], no: ["a b"] },
  { pattern: "^a{,2}$", yes: ["a{,2}"], no: ["aa"] },
  { pattern: "^\\pL+$", yes: ["é"], no: ["1"] },
  { pattern: "^[^\\s/]+$", yes: ["ab"], no: ["a b", "a/b"] },
  { pattern: "^\\Qa.b\\E$", yes: ["a.b"], no: ["axb"] },
  { pattern: "^[]a]$", yes: ["]"], no: ["b"] },
  { pattern: "^\\x41\\-$", yes: ["A-"], no: ["A"] },
  { pattern: "^(s3|gs)://[^/]+$", yes: ["s3://x"], no: ["s3://x/"] },
  { pattern: "^.+$", yes: ["a\rb", "a\u2028b", "😀"], no: ["a\nb", ""] },
  { pattern: "(?s)^.$", yes: ["\n", "😀"], no: ["ab"] },
  { pattern: "(?m)^b$", yes: ["a\nb\nc"], no: ["a\rb"] },
  { pattern: "^(?:a(?i)b|c)$", yes: ["aB", "C"], no: ["Ab"] },
  { pattern: "^[\\S]$", yes: ["\u00a0", "\v"], no: [" "] },
  { pattern: "^*a", yes: ["ba"], no: ["b"] },
  { pattern: "^\\Qa.b\\E+$", yes: ["a.bb"], no: ["a.ba.b"] },
  { pattern: "^(?:a|b){2,3}?$", yes: ["ab", "aba"], no: ["a", "abab"] },
  { pattern: "\\bfoo\\B", yes: ["a food"], no: ["foo", "afood"] },
  { pattern: "^([a-z0-9]+[-.]?)+$", yes: ["a-b.c9"], no: ["a--b", ""] },
  { pattern: "(a*)*b|^$", yes: ["aab", "", "b"], no: ["aa"] },
  { pattern: "(?i)^(?:Kä|ß+)*$", yes: ["käKÄßß"], no: ["kä1"] },
  { pattern: "^[[:^digit:]]+$", yes: ["ab"], no: ["a1"] },
  { pattern: "(?U)^a+$", yes: ["aa"], no: ["b"] },
];

for (const { pattern, yes, no } of rows)
  test(`the Go pattern ${pattern} matches ${yes.join(", ")} and not ${JSON.stringify(no)}`, () => {
    const compiled = goRegExp(pattern);
    assert.equal(compiled.problem, undefined);
    for (const text of yes) assert.equal(compiled.test(text), true, text);
    for (const text of no) assert.equal(compiled.test(text), false, text);
  });

for (const pattern of ["a(", "[a", "a(?=b)", "\\8", "a\\"])
  test(`the pattern ${pattern} is invalid, with a reason`, () => assert.notEqual(goRegExp(pattern).problem, undefined));

const formats: readonly (readonly [format: string, yes: readonly string[], no: readonly string[]])[] = [
  ["date-time", ["2024-02-29T10:00:00Z", "2024-01-01t10:00:00.123+02:00"], ["2023-02-29T10:00:00Z", "2024-01-01"]],
  ["date", ["2024-02-29"], ["2024-2-29", "2024-13-01"]],
  ["uuid", ["123e4567-e89b-12d3-a456-426614174000", "123E4567E89B12D3A456426614174000"], ["123"]],
  ["ipv4", ["10.0.0.1", "010.0.0.1"], ["10.0.0", "::1", "10.0.0.256"]],
  ["ipv6", ["::1", "fe80::1:2", "::ffff:10.0.0.1"], ["10.0.0.1", "1:2", "1::2::3"]],
  ["cidr", ["10.0.0.0/8", "::/0"], ["10.0.0.0", "10.0.0.0/33"]],
  ["byte", ["YWJj", "YQ=="], ["YQ=", ""]],
  ["duration", ["1h30m", "22 ns", "3 days"], ["x", "1y"]],
  ["hostname", ["a.example.com", "1a"], ["-a", "a_b"]],
  ["uri", ["http://a/b", "/x"], ["x", "http://a b"]],
  ["email", ["a@b.c", "A <a@b.c>"], ["a", "a@"]],
  ["mac", ["00:1b:44:11:3a:b7"], ["00:1b"]],
  ["k8s-short-name", ["a-b"], ["A", "a.b"]],
  ["k8s-long-name", ["a.b"], ["a..b"]],
  ["nobody-knows-this", ["anything"], []],
];

for (const [format, yes, no] of formats)
  test(`the format ${format} accepts ${yes.join(", ")} and not ${no.join(", ")}`, () => {
    for (const text of yes) assert.equal(fitsFormat(format, text), true, text);
    for (const text of no) assert.equal(fitsFormat(format, text), false, text);
  });

for (const pattern of [
  "(a",
  "a)",
  "*a",
  "a**",
  "a{1001}",
  "(a{100}){100}",
  "a{3,2}",
  "(?=a)",
  "\\1",
  "[z-a]",
  "\\p{Nonsense}",
  "a|*",
])
  test(`${pattern} is not a pattern`, () => assert.notEqual(goRegExp(pattern).problem, undefined));

const problems: readonly (readonly [pattern: string, problem: string])[] = [
  ["[a", "missing closing ]: `[a`"],
  ["(a{100}){100}", "invalid repeat count: `{100}`"],
  ["[z-a]", "invalid character class range: `z-a`"],
  ["\\p{Nonsense}", "invalid character class range: `\\p{Nonsense}`"],
  ["a+{1,}", "invalid nested repetition operator: `+{1,}`"],
];
for (const [pattern, problem] of problems)
  test(`the error for ${pattern} is Go's message`, () => assert.equal(goRegExp(pattern).problem, problem));

test("no pattern and no text blocks the server", () => {
  const long = "a".repeat(100_000);
  for (const [pattern, text, matches] of [
    ["^(a+)+$", `${"a".repeat(60)}!`, false],
    ["^([a-z0-9]+[-.]?)+$", `${"a".repeat(60)}!`, false],
    ["^(a|a)*$", `${long}!`, false],
    ["^a*a*a*a*a*$", `${long}!`, false],
    ["^(?:[a-z]{0,61}[a-z0-9])*$", `${long}!`, false],
    ["a*b", long, false],
    ["^(a|b)*$", long, true],
    ["(x+x+)+y", "x".repeat(5_000), false],
  ] as const)
    assert.equal(
      quickly(() => goRegExp(pattern).test(text)),
      matches,
      pattern,
    );
  assert.deepEqual(
    quickly(() => goRegExp("(a+)+!").findAll(`${"a".repeat(40)}b aa!`, -1)),
    ["aa!"],
  );
});

test("matches are found from left to right, the first of them as Go prefers it", () => {
  const found = (pattern: string, text: string, max = -1) => goRegExp(pattern).findAll(text, max);
  assert.deepEqual(found("a*", "baaab"), ["", "aaa", ""]);
  assert.deepEqual(found("(?:a|b)*", "xaby"), ["", "ab", ""]);
  assert.deepEqual(found("(?:a|ab)(?:c|bcd)*", "abcd"), ["abcd"]);
  assert.deepEqual(found("(?:a|b)+?", "ab"), ["a", "b"]);
  assert.deepEqual(found("(?:a+b?)+", "aab ab c", 1), ["aab"]);
  assert.deepEqual(found("(?:😀|b)*", "😀b😀 b"), ["😀b😀", "b"]);
  assert.deepEqual(found("", "é"), ["", ""]);
});

test("a long number is quickly rejected as a duration", () => {
  assert.equal(
    quickly(() => fitsFormat("duration", "1".repeat(200_000))),
    false,
  );
  for (const duration of ["x12 days", "1 2 h", "12345s"])
    assert.equal(fitsFormat("duration", duration), true, duration);
});
