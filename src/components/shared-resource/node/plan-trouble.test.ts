/** What is said about a volume that is not as it should be. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { withCode } from "../../../errors/codes.ts";
import { planVolume, type VolumeView } from "./plan.ts";
import { type Attempt, type TroubleCause, troubleOf } from "./plan-trouble.ts";

const current: VolumeView = {
  share: "usable",
  review: "allowed",
  source: { digest: "1" },
  refresh: true,
  written: { digest: "1", source: "Secret owner x" },
};
const empty = { written: undefined };
const refusal = withCode("too large", "SNAP-711");

const rows: readonly {
  given: string;
  view: Partial<VolumeView>;
  attempt?: Attempt;
  cause: TroubleCause | undefined;
  says?: RegExp;
}[] = [
  { given: "a current volume", view: {}, cause: undefined },
  { given: "a denied volume that is empty", view: { review: "denied", ...empty }, cause: undefined },
  { given: "an empty volume of a share that is gone", view: { share: "absent", ...empty }, cause: undefined },
  {
    given: "an empty volume whose Secret is gone, unanswered",
    view: { source: "absent", review: "unknown", ...empty },
    cause: undefined,
  },
  {
    given: "a denied volume with files",
    view: { review: "denied" },
    attempt: { failure: "read-only" },
    cause: "not_emptied",
    says: /\(denied\).*: read-only \[SNAP-714\]$/,
  },
  { given: "a newer set", view: { source: { digest: "2" } }, cause: "not_written" },
  {
    given: "a newer set after an attempt that failed",
    view: { source: { digest: "2" } },
    attempt: { failure: "no space" },
    cause: "not_written",
    says: /no space/,
  },
  {
    given: "a newer set that was refused",
    view: { source: { digest: "2" } },
    attempt: { refusal },
    cause: "memory",
    says: /SNAP-711/,
  },
  {
    given: "a newer set of a volume that is not refreshed",
    view: { source: { digest: "2" }, refresh: false },
    cause: undefined,
  },
  { given: "a review that is too old", view: { review: "unknown" }, cause: "unanswered" },
  { given: "shares that have not been listed", view: { share: "unknown" }, cause: "unanswered" },
  { given: "a Secret that may not be read", view: { source: "unknown" }, cause: "source" },
  { given: "a key that is no file name", view: { source: "unusable" }, cause: "source" },
];
for (const { given, view, attempt = {}, cause, says = /\[SNAP-\d+\]$/ } of rows)
  test(`${given}: ${cause ?? "nothing is wrong"}`, () => {
    const whole = { ...current, ...view };
    const trouble = troubleOf(whole, planVolume(whole), attempt);
    assert.equal(trouble?.cause, cause);
    if (trouble !== undefined) assert.match(trouble.message, says);
  });
