/** Webhook, lint and the controller's label say the same of every pair of old and new objects. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { labels } from "../src/api/names.ts";
import type { VolumeSnapshot, VolumeSnapshotContent } from "../src/api/types.ts";
import type { JsonObject } from "../src/base/json.ts";
import { findingsIn } from "../src/cli/lint/findings.ts";
import { contentLabelEdit, snapshotLabelEdit } from "../src/components/snapshot-controller/plan-label.ts";
import { type AdmissionPair, admissionPairs } from "./admission-pairs.ts";
import { claimGates as gates, webhookVerdict } from "./webhook-verdict.ts";

function lintSays({ before, after }: AdmissionPair): readonly string[] {
  const manifest = (object: JsonObject) => ({ file: "f", object, owner: undefined, prefix: "", lineOf: () => 1 });
  const old = before === undefined ? [] : [manifest(before)];
  return findingsIn({ manifests: [manifest(after)], unreadable: [] }, old, gates)
    .map(({ severity, code }) => `${severity} ${code}`)
    .sort();
}

/** Whether the controller would put the label on. */
function isLabelled({ kind, after }: AdmissionPair): boolean {
  const edits =
    kind === "VolumeSnapshot"
      ? snapshotLabelEdit(after as unknown as VolumeSnapshot)
      : contentLabelEdit(after as unknown as VolumeSnapshotContent);
  return JSON.stringify(edits).includes(kind === "VolumeSnapshot" ? labels.invalidSnapshot : labels.invalidContent);
}

test("webhook, lint and label agree on more than 2,000 pairs of objects", () => {
  let count = 0;
  const seen = new Set<string>();
  for (const pair of admissionPairs()) {
    count += 1;
    const says = webhookVerdict(pair);
    for (const text of says) seen.add(text);
    assert.deepEqual(lintSays(pair), says, JSON.stringify(pair));
    const asNew = webhookVerdict({ ...pair, before: undefined });
    assert.equal(isLabelled(pair), asNew.length > 0, JSON.stringify(pair));
    // Whatever the old object was, no update leaves behind an unlabelled object that a creation would have been refused for.
    if (asNew.length === 0) assert.ok(says.every((text) => /SNAP-(102|112|114|115)/.test(text)));
  }
  assert.ok(count > 2_000, `only ${count}`);
  for (const code of [101, 102, 103, 111, 112, 113, 114, 115])
    assert.ok(seen.has(`error SNAP-${code}`), `SNAP-${code} never was an error`);
});
