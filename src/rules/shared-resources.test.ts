import assert from "node:assert/strict";
import { test } from "node:test";
import { makerOf, shareVolume } from "../../test/shared-resource-objects.ts";
import { allowListSources, type ShareKind, shareKinds } from "../api/share-lists.ts";
import type { JsonObject } from "../base/json.ts";
import { podMakers } from "./pod-specs.ts";
import { type AllowLists, allowListFrom, allowListIn, platformAllowLists } from "./share-allow-lists.ts";
import { judgeShare, judgeVolumes, severityOf, shareDriver } from "./shared-resources.ts";

const lists: AllowLists = {
  SharedSecret: allowListIn({ "openshift-pki": "platform:pki" }).list,
  SharedConfigMap: allowListIn({ "openshift-proxy": "platform:proxy" }).list,
};
const listed = { SharedSecret: ["openshift-pki", "pki"], SharedConfigMap: ["openshift-proxy", "proxy"] } as const;

const aShare = (kind: ShareKind, name: string, namespace: string, refName: string): JsonObject => ({
  metadata: { name },
  spec: { [kind === "SharedSecret" ? "secretRef" : "configMapRef"]: { namespace, name: refName } },
});

for (const kind of shareKinds) {
  const [name, reference] = listed[kind];
  const other = listed[kind === "SharedSecret" ? "SharedConfigMap" : "SharedSecret"][0];
  const cases: readonly { given: string; share: JsonObject; isRefused: boolean }[] = [
    { given: "a name without the prefix", share: aShare(kind, "mine", "team", "x"), isRefused: false },
    { given: "a listed name with its reference", share: aShare(kind, name, "platform", reference), isRefused: false },
    { given: "a reserved name that is not listed", share: aShare(kind, "openshift-x", "team", "x"), isRefused: true },
    { given: "a listed name in another namespace", share: aShare(kind, name, "team", reference), isRefused: true },
    { given: "a listed name with another reference", share: aShare(kind, name, "platform", "x"), isRefused: true },
    {
      given: "a name that the list of the other kind has",
      share: aShare(kind, other, "platform", "x"),
      isRefused: true,
    },
    {
      given: "spaces around the reference",
      share: aShare(kind, name, " platform ", `${reference} `),
      isRefused: false,
    },
    { given: "the prefix without its hyphen", share: aShare(kind, "openshift", "team", "x"), isRefused: false },
    { given: "a longer word", share: aShare(kind, "openshiftish", "team", "x"), isRefused: false },
    { given: "another case", share: aShare(kind, "OpenShift-x", "team", "x"), isRefused: false },
    { given: "no spec at all", share: { metadata: { name: "openshift-x" } }, isRefused: true },
    { given: "no metadata", share: {}, isRefused: false },
  ];
  for (const { given, share, isRefused } of cases)
    test(`R3, R12, R15, R45: given ${given}, a ${kind} is ${isRefused ? "refused" : "allowed"}`, () =>
      assert.deepEqual(
        judgeShare(kind, share, undefined, lists).refused.map(({ code }) => code),
        isRefused ? ["SNAP-152"] : [],
      ));

  test(`R44, R53, R59: a stored ${kind} with a reserved name can be updated, but not to another reference`, () => {
    const old = aShare(kind, "openshift-old", "team", "x");
    const labelled = { ...old, metadata: { name: "openshift-old", labels: { a: "b" } } };
    const kept = judgeShare(kind, labelled, old, lists);
    assert.deepEqual([kept.refused.length, kept.ratcheted.length], [0, 1]);
    const changed = aShare(kind, "openshift-old", "team", "y");
    assert.equal(judgeShare(kind, changed, old, lists).refused.length, 1);
    const deleted = { ...changed, metadata: { name: "openshift-old", deletionTimestamp: "2026-01-01T00:00:00Z" } };
    assert.deepEqual(judgeShare(kind, deleted, old, lists), { refused: [], ratcheted: [] });
  });

  test(`R6, R12: a listed ${kind} cannot be changed to another reference`, () => {
    const before = aShare(kind, name, "platform", reference);
    const { refused } = judgeShare(kind, aShare(kind, name, "team", "x"), before, lists);
    assert.match(
      refused[0]?.message ?? "",
      new RegExp(`reserves this name for platform/${reference}; .*\\[SNAP-152\\]$`),
    );
  });

  test(`R75: the message about a ${kind} names the share, the rule, the list and the remedy`, () => {
    const [violation] = judgeShare(kind, aShare(kind, "openshift-x", "team", "x"), undefined, lists).refused;
    assert.match(
      violation?.message ?? "",
      new RegExp(`^metadata.name: ${kind} openshift-x .* ${allowListSources[kind].configMap} .*; choose another name `),
    );
  });
}

test("R18: the installed lists allow the entitlement and nothing else", () => {
  const entitlement = (namespace: string) =>
    aShare("SharedSecret", "openshift-etc-pki-entitlement", namespace, "etc-pki-entitlement");
  const refusals = (share: JsonObject, kind: ShareKind) =>
    judgeShare(kind, share, undefined, platformAllowLists).refused;
  assert.equal(refusals(entitlement("openshift-config-managed"), "SharedSecret").length, 0);
  assert.equal(refusals(entitlement("team"), "SharedSecret").length, 1);
  assert.equal(refusals(entitlement("openshift-config-managed"), "SharedConfigMap").length, 1);
});

const entries: readonly { given: string; data: Readonly<Record<string, string>>; allowed: object; skipped: number }[] =
  [
    { given: "an entry", data: { a: "n:x" }, allowed: { a: { namespace: "n", name: "x" } }, skipped: 0 },
    { given: "spaces", data: { " a ": " n : x " }, allowed: { a: { namespace: "n", name: "x" } }, skipped: 0 },
    { given: "no colon", data: { a: "n", b: "n:x" }, allowed: { b: { namespace: "n", name: "x" } }, skipped: 1 },
    { given: "a colon too many", data: { a: "n:x:y" }, allowed: {}, skipped: 1 },
    { given: "a blank name", data: { a: "n: " }, allowed: {}, skipped: 1 },
    { given: "a blank namespace", data: { a: ":x" }, allowed: {}, skipped: 1 },
    { given: "an empty value", data: { a: "" }, allowed: {}, skipped: 1 },
    { given: "no data", data: {}, allowed: {}, skipped: 0 },
    {
      given: "a severity",
      data: { "a.severity": "critical", a: "n:x" },
      allowed: { a: { namespace: "n", name: "x", severity: "critical" } },
      skipped: 0,
    },
    {
      given: "a severity that there is not",
      data: { a: "n:x", "a.severity": "loud" },
      allowed: { a: { namespace: "n", name: "x" } },
      skipped: 1,
    },
    { given: "a severity of nothing", data: { "a.severity": "info" }, allowed: {}, skipped: 1 },
    {
      given: "a share whose name ends like a severity",
      data: { "a.severity": "n:x" },
      allowed: { "a.severity": { namespace: "n", name: "x" } },
      skipped: 0,
    },
  ];
for (const { given, data, allowed, skipped } of entries)
  test(`R16: given ${given} in a ConfigMap, ${Object.keys(allowed).length} shares are allowed and ${skipped} entries skipped`, () => {
    const parsed = allowListIn(data);
    assert.deepEqual([Object.fromEntries(parsed.list), parsed.skipped.length], [allowed, skipped]);
  });

const variables: readonly { given: string; text: string; allowed: readonly string[]; skipped: number }[] = [
  { given: "an empty variable", text: "", allowed: [], skipped: 0 },
  { given: "one entry", text: "a:n:x", allowed: ["a n/x"], skipped: 0 },
  { given: "two entries with spaces", text: " a : n : x ; b:m:y;", allowed: ["a n/x", "b m/y"], skipped: 0 },
  { given: "an entry of two parts", text: "a:n", allowed: [], skipped: 1 },
  { given: "commas", text: "a:n:x,b:m:y", allowed: [], skipped: 1 },
  { given: "the same share twice", text: "a:n:x;a:m:y", allowed: ["a m/y"], skipped: 0 },
];
for (const { given, text, allowed, skipped } of variables)
  test(`R16: given ${given} in upstream's variable, ${allowed.join(", ") || "nothing"} is allowed`, () => {
    const parsed = allowListFrom(text);
    const found = [...parsed.list].map(([share, { namespace, name }]) => `${share} ${namespace}/${name}`);
    assert.deepEqual([found, parsed.skipped.length], [allowed, skipped]);
  });

test("R71: a share of a user is of severity info, one of the platform a warning, or what its list says", () => {
  const loud = {
    ...lists,
    SharedSecret: allowListIn({ "openshift-a": "n:x", "openshift-a.severity": "critical" }).list,
  };
  assert.equal(severityOf("SharedSecret", "mine", loud), "info");
  assert.equal(severityOf("SharedSecret", "openshift-b", loud), "warning");
  assert.equal(severityOf("SharedSecret", "openshift-a", loud), "critical");
  assert.equal(severityOf("SharedConfigMap", "openshift-a", loud), "warning");
});

const fine = shareVolume("fine", { readOnly: true });

for (const { kind } of podMakers) {
  const { field, make } = makerOf(kind);
  const rows: readonly { given: string; object: JsonObject; refused: number }[] = [
    { given: "readOnly true", object: make([fine]), refused: 0 },
    { given: "readOnly false", object: make([shareVolume("a", { readOnly: false })]), refused: 1 },
    { given: "no readOnly", object: make([shareVolume("a", {})]), refused: 1 },
    { given: "readOnly null", object: make([shareVolume("a", { readOnly: null })]), refused: 1 },
    { given: "readOnly as text", object: make([shareVolume("a", { readOnly: "true" })]), refused: 1 },
    {
      given: "readOnly only in the attributes",
      object: make([shareVolume("a", { volumeAttributes: { readOnly: "true" } })]),
      refused: 1,
    },
    { given: "the second of two", object: make([fine, shareVolume("a", {})]), refused: 1 },
    { given: "two of three", object: make([shareVolume("a", {}), fine, shareVolume("b", {})]), refused: 2 },
    { given: "another driver", object: make([shareVolume("a", { driver: "other.example" })]), refused: 0 },
    { given: "other volumes", object: make([{ name: "a", emptyDir: {} }]), refused: 0 },
    { given: "no volumes", object: make([]), refused: 0 },
    { given: "volumes null", object: JSON.parse(JSON.stringify(make([])).replace("[]", "null")), refused: 0 },
    { given: "no spec", object: {}, refused: 0 },
    { given: "a template that is null", object: { spec: { template: null } }, refused: 0 },
  ];
  for (const { given, object, refused } of rows)
    test(`R20, R21, R76: given ${given} in a ${kind}, ${refused === 0 ? "it is allowed" : `${refused} volumes are refused`}`, () =>
      assert.equal(judgeVolumes(kind, object, undefined).refused.length, refused));

  test(`R53: a stored ${kind} with a writable volume can be updated; one more such volume is refused`, () => {
    const old = make([shareVolume("a", {})]);
    const kept = judgeVolumes(kind, make([fine, shareVolume("a", {})]), old);
    assert.deepEqual([kept.refused.length, kept.ratcheted.length], [0, 1]);
    const more = judgeVolumes(kind, make([shareVolume("a", {}), shareVolume("b", {})]), old);
    assert.deepEqual([more.refused.length, more.ratcheted.length], [1, 1]);
    assert.equal(judgeVolumes(kind, old, make([shareVolume("a", { readOnly: true })])).refused.length, 1);
    const deleted = { ...make([shareVolume("b", {})]), metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } };
    assert.deepEqual(judgeVolumes(kind, deleted, old), { refused: [], ratcheted: [] });
  });

  test(`R75: the message about a ${kind} names object, field, volume, driver and remedy`, () => {
    const object = { metadata: { namespace: "team", name: "web" }, ...make([shareVolume("pki", {})]) };
    const [violation] = judgeVolumes(kind, object, undefined).refused;
    assert.equal(
      violation?.message,
      `${field}.csi.readOnly: must be true, because volumes of ${shareDriver} are read-only, but volume "pki" of ${kind} team/web has nothing; set readOnly: true [SNAP-151]`,
    );
  });
}

test("R23: builds of the other strategies have no volumes to judge", () => {
  for (const strategy of ["jenkinsPipelineStrategy", "customStrategy"])
    assert.equal(
      judgeVolumes("Build", { spec: { strategy: { [strategy]: { volumes: [shareVolume("a", {})] } } } }, undefined)
        .refused.length,
      0,
    );
});

test("R22: kinds that are not listed are not judged", () => {
  assert.deepEqual(judgeVolumes("PipelineRun", { spec: { volumes: [shareVolume("a", {})] } }, undefined), {
    refused: [],
    ratcheted: [],
  });
});
