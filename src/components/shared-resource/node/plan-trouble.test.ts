/** What is said about a volume that is not as it should be. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { otherSource, present, usable, volumeView, written } from "../../../../test/share-volume-views.ts";
import { withCode } from "../../../errors/codes.ts";
import type { VolumeMemory } from "./memory.ts";
import { notListed, type VolumeFacts } from "./observe.ts";
import { type TroubleCause, troubleOf } from "./plan-trouble.ts";

const empty: Partial<VolumeMemory> = { written: undefined };
const newer: Partial<VolumeFacts> = { source: present("2") };

const rows: readonly {
  given: string;
  facts?: Partial<VolumeFacts>;
  memory?: Partial<VolumeMemory>;
  failure?: string;
  cause: TroubleCause | undefined;
  says?: RegExp;
}[] = [
  { given: "a current volume", cause: undefined },
  { given: "a denied volume that is empty", facts: { review: "denied" }, memory: empty, cause: undefined },
  {
    given: "an empty volume of a share that is gone",
    facts: { share: { kind: "absent" } },
    memory: empty,
    cause: undefined,
  },
  {
    given: "an empty volume whose Secret is gone, unanswered",
    facts: { source: { kind: "absent" }, review: undefined },
    memory: empty,
    cause: undefined,
  },
  {
    given: "a denied volume with files",
    facts: { review: "denied" },
    failure: "read-only",
    cause: "not_emptied",
    says: /\(denied\).*: read-only \[SNAP-714\]$/,
  },
  {
    given: "a volume with files whose Secret is gone",
    facts: { source: { kind: "absent" } },
    cause: "not_emptied",
    says: /\(source is gone\)/,
  },
  { given: "a newer set", facts: newer, cause: "not_written" },
  { given: "a part of a set", memory: { written: written(undefined) }, cause: "not_written" },
  {
    given: "a newer set after an attempt that failed",
    facts: newer,
    failure: "no space",
    cause: "not_written",
    says: /no space/,
  },
  {
    given: "a newer set for which there is no room",
    facts: { ...newer, full: withCode("too large", "SNAP-711") },
    cause: "memory",
    says: /SNAP-711/,
  },
  { given: "a newer set of a volume that is not refreshed", facts: { ...newer, refresh: false }, cause: undefined },
  {
    given: "a share that has just got another reference",
    facts: { share: { ...usable, source: otherSource } },
    cause: undefined,
  },
  { given: "a review that is too old", facts: { review: undefined }, cause: "unanswered" },
  { given: "shares that have not been listed", facts: { share: notListed }, cause: "unanswered" },
  { given: "a Secret that may not be read", facts: { source: { kind: "unknown", isRefused: true } }, cause: "source" },
  { given: "a key that is no file name", facts: { source: { kind: "unusable", problem: "key a/b" } }, cause: "source" },
];
for (const { given, facts, memory, failure, cause, says = /\[SNAP-\d+\]$/ } of rows)
  test(`${given}: ${cause ?? "nothing is wrong"}`, () => {
    const trouble = troubleOf(volumeView(facts, memory), failure);
    assert.equal(trouble?.cause, cause);
    if (trouble !== undefined) assert.match(trouble.message, says);
  });
