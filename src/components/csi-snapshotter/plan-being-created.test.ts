/** When the being-created annotation is written, and when it is removed. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { aContent } from "../../../test/builders.ts";
import {
  aYoungView as aView,
  beingCreated,
  brief,
  deletionTimestamp,
  ourId,
  ready,
  taken,
} from "../../../test/content-plans.ts";
import { annotations, finalizers } from "../../api/names.ts";
import { settled } from "../../api/plan.ts";
import type { ContentView } from "./observe.ts";
import { planContent } from "./plan.ts";

test("the handle of a snapshot is stored before the being-created annotation is removed, and nothing is put off", () => {
  const unwritten = aContent({ metadata: beingCreated });
  const stored = planContent(aView({ content: unwritten, reply: taken }));
  assert.deepEqual([stored.actions.map(brief), stored.next], [["patch/status rest"], { kind: "after", ms: 0 }]);
  const removed = planContent(aView({ content: aContent({ metadata: beingCreated, status: ready }), reply: taken }));
  assert.deepEqual([removed.actions.map(brief), removed.next], [["patch annotation"], settled]);
});

test("a ready content without the being-created annotation is not reconciled again", () => {
  const { actions, next } = planContent(aView({ content: aContent({ status: ready }), reply: taken }));
  assert.deepEqual({ actions, next }, { actions: [], next: settled });
});

test("being-created annotation and missing finalizer are one patch before the call", () => {
  const [action] = planContent(aView({ content: aContent({ metadata: { finalizers: [] } }) })).actions;
  assert.ok(action?.kind === "csi");
  assert.deepEqual(
    action.intent.map((write) => (write.kind === "patch" ? write.patch.body : write)),
    [
      {
        metadata: {
          resourceVersion: "1",
          finalizers: [finalizers.contentBound],
          annotations: { [annotations.beingCreated]: "yes", [annotations.snapshotterId]: ourId },
        },
      },
    ],
  );
});

test("the being-created annotation on a terminating content adds no finalizer, which the server would reject", () => {
  const content = aContent({ metadata: { deletionTimestamp, finalizers: ["x/theirs"] } });
  const [action] = planContent(aView({ content })).actions;
  const [write] = action?.kind === "csi" ? action.intent : [];
  assert.deepEqual(write?.kind === "patch" && write.patch.body, {
    metadata: {
      resourceVersion: "1",
      annotations: { [annotations.beingCreated]: "yes", [annotations.snapshotterId]: ourId },
    },
  });
});

const annotationsIn = (view: ContentView) => {
  const [action] = planContent(view).actions;
  const write = action?.kind === "csi" ? action.intent[0] : action;
  assert.ok(write?.kind === "patch");
  return (write.patch.body as { metadata: { annotations?: object } }).metadata.annotations;
};

test("writing our id on a predecessor's content changes its version, so that a late request cannot remove the annotation", () => {
  const predecessors = { annotations: { ...beingCreated.annotations, [annotations.snapshotterId]: "a predecessor" } };
  const view = aView({ content: aContent({ metadata: predecessors }), createSent: "unknown" });
  assert.deepEqual(annotationsIn(view), { [annotations.snapshotterId]: ourId });
});

test("the being-created annotation and the id are removed together", () =>
  assert.deepEqual(annotationsIn(aView({ content: aContent({ metadata: beingCreated, status: ready }) })), {
    [annotations.beingCreated]: null,
    [annotations.snapshotterId]: null,
  }));

const former = {
  annotations: { [annotations.beingCreated]: "yes", [annotations.formerSnapshotterId]: "a release before" },
};

test("the annotation's name of the release before gives way to the new one, and is removed with being-created", () => {
  assert.deepEqual(annotationsIn(aView({ content: aContent({ metadata: former }), createSent: "unknown" })), {
    [annotations.snapshotterId]: ourId,
    [annotations.formerSnapshotterId]: null,
  });
  assert.deepEqual(annotationsIn(aView({ content: aContent({ metadata: former, status: ready }) })), {
    [annotations.beingCreated]: null,
    [annotations.formerSnapshotterId]: null,
  });
});
