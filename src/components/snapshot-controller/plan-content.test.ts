import assert from "node:assert/strict";
import { test } from "node:test";
import { aContent, aSnapshot } from "../../../test/builders.ts";
import { annotations } from "../../api/names.ts";
import type { ContentView } from "./observe.ts";
import { planContent } from "./plan-content.ts";

const deletionTimestamp = "2026-01-01T01:00:00Z";
const going = { deletionTimestamp };
const marked = { deletionTimestamp, annotations: { [annotations.beingDeleted]: "yes" } };
const namesake = aSnapshot({ metadata: { uid: "another" } });

const cases: readonly { given: string; view: ContentView; expect: readonly string[] }[] = [
  { given: "a content and its snapshot", view: { content: aContent(), snapshot: aSnapshot() }, expect: [] },
  {
    given: "a content without its finalizer",
    view: { content: aContent({ metadata: { finalizers: [] } }), snapshot: aSnapshot() },
    expect: ["patch VolumeSnapshotContent"],
  },
  {
    given: "a content deleted while its snapshot lives",
    view: { content: aContent({ metadata: going }), snapshot: aSnapshot() },
    expect: [],
  },
  {
    given: "a content deleted whose snapshot is gone",
    view: { content: aContent({ metadata: going }), snapshot: undefined },
    expect: ["confirm VolumeSnapshot", "patch VolumeSnapshotContent"],
  },
  {
    given: "a content deleted whose snapshot has a successor of the same name",
    view: { content: aContent({ metadata: going }), snapshot: namesake },
    expect: ["confirm VolumeSnapshot", "patch VolumeSnapshotContent"],
  },
  {
    given: "a content deleted and marked whose snapshot is gone",
    view: { content: aContent({ metadata: marked }), snapshot: undefined },
    expect: [],
  },
  {
    given: "a content without its snapshot that nobody deletes",
    view: { content: aContent(), snapshot: undefined },
    expect: [],
  },
];
for (const { given, view, expect } of cases)
  test(`given ${given}, the plan is: ${expect.join(", ") || "nothing"}`, () => {
    const { actions } = planContent(view);
    assert.deepEqual(
      actions.map((action) => (action.kind === "event" ? "event" : `${action.kind} ${action.ref.kind}`)),
      expect,
    );
  });

test("a content of two sources or none is told about", () => {
  const [action] = planContent({ content: aContent({ spec: { source: {} } }), snapshot: undefined }).actions;
  assert.equal(action?.kind, "event");
});
