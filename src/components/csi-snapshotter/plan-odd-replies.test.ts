/** Replies that are answers, though something about them is wrong. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { aContent, driver } from "../../../test/builders.ts";
import { aYoungView as aView, beingCreated, brief, info, ready, terminating } from "../../../test/content-plans.ts";
import type { ContentSituation } from "../../../test/views.ts";
import { planContent } from "./plan.ts";
import type { SnapshotInfo } from "./reply.ts";

const odd: SnapshotInfo = {
  ...info,
  sizeBytes: 0n,
  oddities: ["size_bytes is -1: unknown", "creation_time is 0 s: ours"],
};
const events = (view: Partial<ContentSituation>): readonly string[] =>
  planContent(aView(view)).actions.flatMap((action) =>
    action.kind === "event" ? [`${action.event.type} ${action.event.reason}: ${action.event.message}`] : [],
  );

test("an odd reply is stored with its handle, and each oddity is one warning event", () => {
  const view = { content: aContent({ metadata: beingCreated }), reply: { kind: "taken", snapshot: odd } } as const;
  const [write] = planContent(aView(view)).actions;
  assert.deepEqual(write?.kind === "patch" && (write.patch.body as { status?: unknown }).status, {
    snapshotHandle: "s-1",
    creationTime: info.creationTimeNs,
    readyToUse: true,
  });
  assert.deepEqual(events(view), [
    `Warning OddDriverReply: size_bytes is -1: unknown (driver ${driver}, snapshot "s-1") [SNAP-504]`,
    `Warning OddDriverReply: creation_time is 0 s: ours (driver ${driver}, snapshot "s-1") [SNAP-504]`,
  ]);
});

test("an odd reply is reported once per content, not at each poll", () => {
  const status = { snapshotHandle: "s-1", creationTime: 1n, readyToUse: false };
  const polls: readonly SnapshotInfo[] = [{ ...odd, ready: false }, odd];
  for (const snapshot of polls)
    assert.deepEqual(events({ content: aContent({ status }), reply: { kind: "taken", snapshot } }), []);
});

test("a reply with another handle is a final reply: a terminating content loses its being-created annotation", () => {
  const message =
    'Failed to create snapshot: the driver answered handle "s-2" for a snapshot it called "s-1" before; the first one is kept, and the driver must answer the same for the same name [SNAP-503]';
  const content = aContent({
    metadata: { ...terminating, annotations: { ...terminating.annotations, ...beingCreated.annotations } },
    status: { ...ready, readyToUse: false, error: { message } },
  });
  const { actions } = planContent(
    aView({ content, reply: { kind: "taken", snapshot: { ...info, handle: "s-2", ready: false } } }),
  );
  assert.deepEqual(actions.map(brief), ["patch annotation"]);
});
