import assert from "node:assert/strict";
import { test } from "node:test";
import { aContent, aSnapshot } from "../../../test/builders.ts";
import { aProtectedView, deletionTimestamp } from "../../../test/snapshot-plans.ts";
import { aLoneContentView } from "../../../test/views.ts";
import { labels } from "../../api/names.ts";
import type { KubeObject } from "../../api/types.ts";
import { planSnapshot } from "./plan.ts";
import { planContent } from "./plan-content.ts";
import { contentLabelEdit, isLabelledInvalid, snapshotLabelEdit } from "./plan-label.ts";
import type { SnapshotAction } from "./plan-steps.ts";

const both = { source: { persistentVolumeClaimName: "a", volumeSnapshotContentName: "b" } };
const labelled = { labels: { [labels.invalidSnapshot]: "", team: "a" } };
const oldLabel = "snapshot.storage.sigs.k8s.io/invalid-snapshot-resource";

/** What the patch makes of the labels; undefined when there is none. */
const labelsIn = (actions: readonly SnapshotAction[]): unknown => {
  const [action] = actions;
  if (action === undefined) return undefined;
  assert.ok(action.kind === "patch" && action.patch.type === "merge");
  const { metadata, ...rest } = action.patch.body as { metadata: Record<string, unknown> };
  assert.deepEqual([Object.keys(metadata).sort(), rest], [["labels", "resourceVersion"], {}]);
  return metadata.labels;
};

const cases: readonly { given: string; actions: readonly SnapshotAction[]; labels: unknown }[] = [
  { given: "a valid snapshot", actions: snapshotLabelEdit(aSnapshot()), labels: undefined },
  {
    given: "a snapshot with two sources",
    actions: snapshotLabelEdit(aSnapshot({ spec: both })),
    labels: { [labels.invalidSnapshot]: "" },
  },
  {
    given: "a snapshot with a source and an empty one, which strict CRDs refuse",
    actions: snapshotLabelEdit(
      aSnapshot({ spec: { source: { persistentVolumeClaimName: "a", volumeSnapshotContentName: "" } } }),
    ),
    labels: { [labels.invalidSnapshot]: "" },
  },
  {
    given: "an invalid snapshot that is labelled",
    actions: snapshotLabelEdit(aSnapshot({ spec: both, metadata: labelled })),
    labels: undefined,
  },
  {
    given: "a snapshot that was corrected",
    actions: snapshotLabelEdit(aSnapshot({ metadata: labelled })),
    labels: { [labels.invalidSnapshot]: null },
  },
  {
    given: "a valid snapshot with the label of the other prefix",
    actions: snapshotLabelEdit(aSnapshot({ metadata: { labels: { [oldLabel]: "x" } } })),
    labels: { [oldLabel]: null },
  },
  {
    given: "an invalid snapshot with the label of the other prefix",
    actions: snapshotLabelEdit(aSnapshot({ spec: both, metadata: { labels: { [oldLabel]: "x" } } })),
    labels: { [oldLabel]: null, [labels.invalidSnapshot]: "" },
  },
  {
    given: "an invalid snapshot that is being deleted",
    actions: snapshotLabelEdit(aSnapshot({ spec: both, metadata: { deletionTimestamp } })),
    labels: undefined,
  },
  {
    given: "a content with no handle",
    actions: contentLabelEdit(aContent({ spec: { source: {} } })),
    labels: { [labels.invalidContent]: "" },
  },
];
for (const { given, actions, labels: wanted } of cases)
  test(`given ${given}, the labels become ${JSON.stringify(wanted) ?? "nothing else"}`, () =>
    assert.deepEqual(labelsIn(actions), wanted));

test("the label is written first, and the plan continues when it is stored", () => {
  const view = aProtectedView({ snapshot: aSnapshot({ spec: both }), source: { kind: "unclear", count: 2 } });
  assert.deepEqual(labelsIn(planSnapshot(view).actions), { [labels.invalidSnapshot]: "" });
  const snapshot = aSnapshot({ spec: both, metadata: labelled });
  assert.deepEqual(
    planSnapshot({ ...view, facts: { ...view.facts, snapshot } }).actions.map(({ kind }) => kind),
    ["patch", "event"],
  );
  const planned = planContent(aLoneContentView({ content: aContent({ spec: { source: {} } }) }));
  assert.deepEqual(labelsIn(planned.actions), { [labels.invalidContent]: "" });
});

test("labelled objects count as invalid in the gauge", () => {
  assert.equal(isLabelledInvalid(aSnapshot({ metadata: labelled }) as KubeObject), true);
  assert.equal(isLabelledInvalid(aSnapshot() as KubeObject), false);
});
