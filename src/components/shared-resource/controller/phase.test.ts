import assert from "node:assert/strict";
import { test } from "node:test";
import type { SharedSecret } from "../../../api/types.ts";
import { shareLimits } from "./limits.ts";
import { noMemory, type ShareMemory } from "./memory.ts";
import { phaseOf, type SharePhase } from "./phase.ts";

const reference = { namespace: "team", name: "password" };
const relistMs = 600_000;
const share = { metadata: { name: "share", uid: "u", generation: 2 }, spec: { secretRef: reference } };
const facts = { kind: "SharedSecret", share: share as SharedSecret, reference, lists: undefined, relistMs } as const;

const seen = (more: Partial<NonNullable<ShareMemory["look"]>> = {}): ShareMemory["look"] => ({
  generation: 2,
  reference,
  finding: "found",
  atMs: 0,
  ageMs: 0,
  isWritten: true,
  ...more,
});

const rows: readonly { readonly given: string; readonly look: ShareMemory["look"]; readonly phase: SharePhase }[] = [
  { given: "no look", look: noMemory.look, phase: "unread" },
  { given: "a look that found the Secret", look: seen(), phase: "available" },
  { given: "such a look just within the relist interval", look: seen({ ageMs: relistMs - 1 }), phase: "available" },
  { given: "such a look after the relist interval", look: seen({ ageMs: relistMs }), phase: "unread" },
  {
    given: "a look that found no Secret, after the shorter interval",
    look: seen({ finding: "missing", ageMs: shareLimits.brokenReferenceMs }),
    phase: "unread",
  },
  { given: "a look at an older spec", look: seen({ generation: 1 }), phase: "unread" },
  { given: "a look at another Secret", look: seen({ reference: { ...reference, name: "x" } }), phase: "unread" },
];
for (const { given, look, phase } of rows)
  test(`given ${given}, a share is ${phase}`, () =>
    assert.equal(phaseOf({ facts, memory: { ...noMemory, look } }), phase));
