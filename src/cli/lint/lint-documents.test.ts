/** What the document about other namespaces prints: each slip is found, with its correction, and what is corrected is not. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { findingsIn } from "./findings.ts";
import { readManifests } from "./manifests.ts";

const folder = join(import.meta.dirname, "../../../test/e2e/fixtures/requirement-004");
const messagesIn = (name: string): readonly string[] =>
  findingsIn(readManifests([{ path: name, text: readFileSync(join(folder, `${name}.yaml`), "utf8") }]), [], {
    anyVolumeDataSource: true,
    crossNamespace: true,
  }).map(({ message }) => message);

const slips: Readonly<Record<string, readonly RegExp[]>> = {
  "grant-original": [
    /spec\.from\[0\]: has no group, which is required; write group: "" \[SNAP-402\]/,
    /spec\.to\[0\]\.group: .*write "snapshot\.storage\.k8s\.io" \[SNAP-401\]/,
  ],
  "claim-original": [/spec\.dataSourceRef2: is not a field of claims.*write dataSourceRef \[SNAP-137\]/],
  "claim-ref2": [/spec\.dataSourceRef2: is not a field of claims.*write dataSourceRef \[SNAP-137\]/],
  "link-grant-original": [
    /spec\.from\[0\]\.group: .*write "snapshot\.storage\.k8s\.io" \[SNAP-401\]/,
    /spec\.to\[0\]\.group: .*write "snapshot\.storage\.k8s\.io" \[SNAP-401\]/,
  ],
  "link-claim-original": [/spec\.dataSourceRef\.apiGroup: .*write "snapshot\.storage\.k8s\.io" \[SNAP-135\]/],
  grant: [],
  "claim-ref": [],
  "link-grant": [],
  link: [],
  "link-claim": [],
};
for (const [name, expected] of Object.entries(slips))
  test(`lint finds ${expected.length} slips in ${name}, and names the corrections`, () => {
    const messages = messagesIn(name);
    assert.equal(messages.length, expected.length, messages.join("\n"));
    for (const [index, message] of messages.entries()) assert.match(message, expected[index] ?? /^$/);
  });
