/** The three values, and what a user reads of a denial. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ReferenceGrant } from "../api/types.ts";
import type { NamedSource } from "./data-source.ts";
import { accessTo, type Denied, denialOf } from "./source-access.ts";

const local: NamedSource = { kind: "snapshot", namespace: "team", name: "monday", referrer: undefined };
const claims = { group: "", kind: "PersistentVolumeClaim", namespace: "team" };
const across: NamedSource = { ...local, namespace: "prod", referrer: claims };
const grant = {} as ReferenceGrant;

const rows: readonly (readonly [string, NamedSource, Parameters<typeof accessTo>[1], string])[] = [
  ["a source without a namespace", local, { isOn: () => false, find: undefined }, "none"],
  ["a source with a namespace and a grant", across, { isOn: () => true, find: () => grant }, "allowed"],
  ["no grant", across, { isOn: () => true, find: () => undefined }, "denied no grant"],
  ["the feature off, with a grant", across, { isOn: () => false, find: () => grant }, "denied off"],
  ["grants that cannot be read", across, { isOn: () => true, find: undefined }, "denied unreadable"],
  [
    "the claim's own namespace written out, and no grant",
    { ...across, namespace: "team" },
    { isOn: () => true, find: () => undefined },
    "denied no grant",
  ],
];
for (const [given, source, facts, expected] of rows)
  test(`given ${given}, access is ${expected}`, () => {
    const { kind, ...rest } = accessTo(source, facts);
    assert.equal([kind, ...("why" in rest ? [rest.why] : [])].join(" "), expected);
  });

test("a grant is looked for from the claims of the namespace to the source", () => {
  const asked: unknown[] = [];
  const find = (...reference: unknown[]) => void asked.push(...reference);
  accessTo(across, { isOn: () => true, find: find as never });
  const to = { group: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", namespace: "prod", name: "monday" };
  assert.deepEqual(asked, [claims, to]);
});

for (const [why, code] of [
  ["no grant", "SNAP-361"],
  ["off", "SNAP-336"],
  ["unreadable", "SNAP-362"],
] as const satisfies readonly (readonly [Denied["why"], string])[])
  test(`a denial because of ${why} names the source and ends in ${code}`, () => {
    const denial = denialOf(across, { kind: "denied", why });
    assert.equal(denial.code, code);
    assert.match(denial.message, new RegExp(`VolumeSnapshot prod/monday.*\\[${code}\\]$`));
  });
