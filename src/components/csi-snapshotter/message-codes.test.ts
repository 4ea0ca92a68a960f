/** Every message that a user reads of a content ends in its code. A new code needs a row here, which shows the message that has it. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { aClass, aContent } from "../../../test/builders.ts";
import { codesIn } from "../../../test/coded-messages.ts";
import { aYoungView as aView, beingCreated, failure, info, ready, terminating } from "../../../test/content-plans.ts";
import type { ContentSituation } from "../../../test/views.ts";
import { annotations, parameters } from "../../api/names.ts";
import { Fault } from "../../base/fault.ts";
import { limits } from "../../base/limits.ts";
import { callErrorRows } from "../../errors/calls.ts";
import { type BlockingCode, reasonsByCode } from "../../rules/snapshot-reasons.ts";
import { planContent } from "./plan.ts";

const unread: ContentSituation["reply"] = { kind: "unsent", fault: new Fault("NotFound", "no such secret") };
const deleted = aContent({ metadata: terminating, status: ready });
const imported = aContent({ spec: { source: { snapshotHandle: "s-9" } } });
const halfAnnotated = { [annotations.deletionSecretName]: "s" };
const other = { ...halfAnnotated, [annotations.deletionSecretNamespace]: "elsewhere" };
const listing = (name: string, namespace?: string) =>
  aClass({
    parameters: {
      [parameters.snapshotterListSecretName]: name,
      ...(namespace === undefined ? {} : { [parameters.snapshotterListSecretNamespace]: namespace }),
    },
  });
const taken = (change: object): ContentSituation["reply"] => ({ kind: "taken", snapshot: { ...info, ...change } });
const odd = taken({ oddities: ["size_bytes is -1"] });

const cases: readonly (readonly [code: string, view: Partial<ContentSituation>])[] = [
  ["SNAP-231", { content: imported, snapshotClass: listing("s") }],
  ["SNAP-232", { content: imported, snapshotClass: listing("${volumesnapshot.name}", "storage") }],
  ["SNAP-233", { content: imported, snapshotClass: listing("s", "Storage") }],
  ["SNAP-501", { reply: failure("Internal") }],
  ["SNAP-502", { reply: failure("DeadlineExceeded") }],
  ["SNAP-503", { content: aContent({ status: { ...ready, readyToUse: false } }), reply: taken({ handle: "s-2" }) }],
  ["SNAP-504", { content: aContent({ metadata: beingCreated }), reply: odd }],
  ["SNAP-511", { content: aContent({ spec: { volumeSnapshotRef: { namespace: "team", name: "monday" } } }) }],
  ["SNAP-512", { content: aContent({ spec: { volumeSnapshotClassName: "" } }), snapshotClass: undefined }],
  ["SNAP-513", { snapshotClass: undefined }],
  ["SNAP-514", { snapshotClass: aClass({ parameters: { [`${parameters.prefix}odd`]: "x" } }) }],
  ["SNAP-515", { content: aContent({ metadata: { annotations: halfAnnotated } }) }],
  [
    "SNAP-515",
    {
      content: aContent({
        metadata: { ...terminating, annotations: { ...terminating.annotations, ...halfAnnotated } },
        status: ready,
      }),
    },
  ],
  ["SNAP-516", { reply: unread }],
  ["SNAP-516", { content: imported, reply: unread }],
  ["SNAP-516", { content: deleted, reply: unread }],
  ["SNAP-521", { content: imported, reply: failure("NotFound") }],
  ["SNAP-531", { content: deleted, reply: failure("Internal") }],
  ["SNAP-532", { content: deleted, reply: failure("MalformedReply"), malformedReplies: limits.malformedRepliesMax }],
  ["SNAP-533", { content: aContent({ metadata: terminating, spec: { source: { snapshotHandle: "s-9" } } }) }],
  [
    "SNAP-534",
    {
      content: aContent({
        metadata: { ...terminating, annotations: { ...terminating.annotations, ...other } },
        status: ready,
      }),
    },
  ],
  [
    "SNAP-535",
    {
      content: aContent({
        metadata: { ...terminating, annotations: { ...terminating.annotations, ...beingCreated.annotations } },
        spec: { source: {} },
      }),
    },
  ],
];

for (const [code, view] of cases)
  test(`${code} ends what the user reads`, () => {
    const { actions, reason } = planContent(aView(view));
    assert.deepEqual([...new Set(codesIn(actions))], [code]);
    if (code in reasonsByCode) assert.equal(reason.code, reasonsByCode[code as BlockingCode].reason);
  });

test("every code about a call to the driver is shown by a case", () => {
  const shown = new Set(cases.map(([code]) => code));
  assert.deepEqual(
    Object.keys(callErrorRows).filter((code) => !shown.has(code)),
    [],
  );
});
