/** What dashboards and backup tools search for in the status and the events of a content: how upstream's messages begin. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { aContent } from "../../../test/builders.ts";
import { aYoungView as aView, failure, ready, terminating } from "../../../test/content-plans.ts";
import type { ContentSituation } from "../../../test/views.ts";
import { Fault } from "../../base/fault.ts";
import { planContent } from "./plan.ts";

const unread: ContentSituation["reply"] = { kind: "unsent", fault: new Fault("NotFound", "no such secret") };
const deleted = aContent({ metadata: terminating, status: ready });
const imported = aContent({ spec: { source: { snapshotHandle: "s-9" } } });

const cases: readonly { view: Partial<ContentSituation>; reason: string; begins: string }[] = [
  {
    view: { reply: failure("Internal") },
    reason: "SnapshotCreationFailed",
    begins: 'Failed to create snapshot: failed to take snapshot of the volume vol-1: "rpc error: code = Internal',
  },
  { view: { reply: unread }, reason: "SnapshotCreationFailed", begins: "Failed to create snapshot: " },
  {
    view: { content: imported, reply: failure("NotFound") },
    reason: "SnapshotContentCheckandUpdateFailed",
    begins: "Failed to check and update snapshot content: ",
  },
  {
    view: { content: deleted, reply: failure("Internal") },
    reason: "SnapshotDeleteError",
    begins: "Failed to delete snapshot: ",
  },
  {
    view: { content: deleted, reply: unread },
    reason: "SnapshotDeleteError",
    begins: "Failed to get snapshot credentials: ",
  },
];
for (const { view, reason, begins } of cases)
  test(`${reason} starts with "${begins}…"`, () => {
    const events = planContent(aView(view)).actions.flatMap((action) =>
      action.kind === "event" ? [action.event] : [],
    );
    assert.deepEqual([events[0]?.reason, events[0]?.message.slice(0, begins.length)], [reason, begins]);
  });
