import assert from "node:assert/strict";
import { test } from "node:test";
import { aContent, aSnapshot } from "../../../test/builders.ts";
import { aSnapshotView, type SnapshotParts } from "../../../test/views.ts";
import { annotations, finalizers } from "../../api/names.ts";
import type { VolumeSnapshotContent } from "../../api/types.ts";
import type { SnapshotView } from "./observe.ts";
import { planSnapshot } from "./plan.ts";

const deletionTimestamp = "2026-01-01T01:00:00Z";
const held = { finalizers: [finalizers.snapshotAsSource, finalizers.snapshotBound], deletionTimestamp };
const ready = { readyToUse: true, boundVolumeSnapshotContentName: "snapcontent-uid-snap" };
const refused = { readyToUse: true, error: { message: "Failed to delete snapshot: in use", time: "then" } };
const leaving = (parts: Partial<VolumeSnapshotContent> = {}): VolumeSnapshotContent =>
  aContent({
    metadata: { deletionTimestamp, annotations: { [annotations.beingDeleted]: "yes" } },
    status: refused,
    ...parts,
  } as never);

const aView = (parts: SnapshotParts = {}): SnapshotView =>
  aSnapshotView({
    snapshot: aSnapshot({ metadata: held, status: ready }),
    content: leaving(),
    volume: undefined,
    snapshotClass: undefined,
    ...parts,
  });

test("an error that blocks a content's deletion is shown on its snapshot too, with the remedy, and readiness stays", () => {
  const [write, event, ...rest] = planSnapshot(aView()).actions;
  assert.deepEqual(rest, []);
  assert.ok(write?.kind === "patch" && write.subresource === "status" && event?.kind === "event");
  const { reason, message, type } = event.event;
  assert.deepEqual([type, reason], ["Warning", "SnapshotDeleteError"]);
  assert.match(
    message,
    /^Waiting for VolumeSnapshotContent snapcontent-uid-snap to be deleted: Failed to delete snapshot: in use; /,
  );
  assert.match(message, /set its spec\.deletionPolicy to Retain \[SNAP-242\]$/);
  assert.deepEqual(write.patch.body, {
    metadata: { resourceVersion: "1" },
    status: { error: { message, time: "1970-01-01T00:00:00Z" } },
  });
  const reported = aSnapshot({ metadata: held, status: { ...ready, error: { message, time: "then" } } });
  assert.deepEqual(planSnapshot(aView({ snapshot: reported })).actions, [], "and only once");
});

const silent: readonly { given: string; view: SnapshotParts; kinds: readonly string[] }[] = [
  { given: "nothing blocks the deletion", view: { content: leaving({ status: { readyToUse: true } }) }, kinds: [] },
  {
    given: "the error is that of the creation, which the snapshot already has",
    view: { snapshot: aSnapshot({ metadata: held, status: refused }) },
    kinds: [],
  },
  {
    given: "the content has no deletionTimestamp",
    view: {
      content: aContent({ metadata: { annotations: { [annotations.beingDeleted]: "yes" } }, status: refused }),
      areClaimsRead: true,
    },
    kinds: ["delete"],
  },
  {
    given: "the content has Retain",
    view: { content: leaving({ spec: { ...aContent().spec, deletionPolicy: "Retain" } }) },
    kinds: ["patch"],
  },
];
for (const { given, view, kinds } of silent)
  test(`no deletion error is shown when ${given}`, () =>
    assert.deepEqual(
      planSnapshot(aView(view)).actions.map(({ kind }) => kind),
      kinds,
    ));
