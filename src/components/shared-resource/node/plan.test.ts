import assert from "node:assert/strict";
import { test } from "node:test";
import { planVolume, type VolumePlan, type VolumeView } from "./plan.ts";

const view = (more: Partial<VolumeView> = {}): VolumeView => ({
  share: "usable",
  review: "allowed",
  source: { digest: "new" },
  refresh: true,
  written: { digest: "old", source: "Secret a b" },
  ...more,
});

const part = { digest: undefined, source: "Secret a b" };
type Expected = VolumePlan["kind"] | (VolumePlan & { kind: "wipe" })["because"];
const cases: readonly { given: string; view: VolumeView; expected: Expected }[] = [
  { given: "another set in the source", view: view(), expected: "write" },
  { given: "the same set in the source", view: view({ source: { digest: "old" } }), expected: "keep" },
  { given: "an empty volume", view: view({ written: undefined }), expected: "write" },
  { given: "a part of a set", view: view({ written: part }), expected: "write" },
  {
    given: "a part of a set and refreshResource: false",
    view: view({ written: part, refresh: false }),
    expected: "write",
  },
  { given: "a part of a set and a denied review", view: view({ written: part, review: "denied" }), expected: "denied" },
  { given: "a denied review", view: view({ review: "denied" }), expected: "denied" },
  {
    given: "a denied review and a source that cannot be read",
    view: view({ review: "denied", source: "unknown" }),
    expected: "denied",
  },
  {
    given: "a denied review of an empty volume",
    view: view({ review: "denied", written: undefined }),
    expected: "keep",
  },
  { given: "no answer to the review", view: view({ review: "unknown" }), expected: "keep" },
  {
    given: "no answer to the review and an empty volume",
    view: view({ review: "unknown", written: undefined }),
    expected: "keep",
  },
  { given: "a share that is gone", view: view({ share: "absent" }), expected: "share is gone" },
  {
    given: "a share that is gone, and no answer to the review",
    view: view({ share: "absent", review: "unknown" }),
    expected: "share is gone",
  },
  { given: "a share with a reserved name", view: view({ share: "unusable" }), expected: "share is not valid" },
  { given: "a source that is gone", view: view({ source: "absent" }), expected: "source is gone" },
  { given: "a source that cannot be read", view: view({ source: "unknown" }), expected: "keep" },
  { given: "a source with a key that is no file name", view: view({ source: "unusable" }), expected: "keep" },
  { given: "refreshResource: false and another set", view: view({ refresh: false }), expected: "keep" },
  {
    given: "refreshResource: false and an empty volume",
    view: view({ refresh: false, written: undefined }),
    expected: "write",
  },
  {
    given: "refreshResource: false and a source that is gone",
    view: view({ refresh: false, source: "absent" }),
    expected: "source is gone",
  },
  {
    given: "refreshResource: false and a denied review",
    view: view({ refresh: false, review: "denied" }),
    expected: "denied",
  },
];
for (const { given, view, expected } of cases)
  test(`R73: given ${given}, then ${expected}`, () => {
    const plan = planVolume(view);
    assert.equal(plan.kind === "wipe" ? plan.because : plan.kind, expected);
  });
