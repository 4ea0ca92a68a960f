import assert from "node:assert/strict";
import { test } from "node:test";
import { aContent, aSnapshot } from "../../../test/builders.ts";
import { aLoneContentView as aView, type ContentParts } from "../../../test/views.ts";
import { annotations, labels } from "../../api/names.ts";
import type { ReasonCode } from "../../api/reasons.ts";
import { type ContentPhase, contentPhaseOf } from "./phase-content.ts";
import { planContent } from "./plan-content.ts";

const deletionTimestamp = "2026-01-01T01:00:00Z";
const going = { deletionTimestamp };
const annotated = { deletionTimestamp, annotations: { [annotations.beingDeleted]: "yes" } };
const driverless = { deletionTimestamp, labels: { [labels.invalidContent]: "" } };
const namesake = aSnapshot({ metadata: { uid: "another" } });

const cases: readonly {
  given: string;
  view: ContentParts;
  phase: ContentPhase;
  reason: ReasonCode;
  expect: readonly string[];
}[] = [
  {
    given: "a content and its snapshot",
    view: { content: aContent(), snapshot: aSnapshot() },
    phase: "bound",
    reason: "Settled",
    expect: [],
  },
  {
    given: "a content without its finalizer",
    view: { content: aContent({ metadata: { finalizers: [] } }), snapshot: aSnapshot() },
    phase: "bound",
    reason: "Writes",
    expect: ["patch VolumeSnapshotContent"],
  },
  {
    given: "a content that waits for its first snapshot",
    view: {
      content: aContent({
        metadata: { finalizers: [] },
        spec: { source: { snapshotHandle: "s-9" }, volumeSnapshotRef: { namespace: "team", name: "monday" } },
      }),
      snapshot: aSnapshot(),
    },
    phase: "unbound",
    reason: "SnapshotNotFound",
    expect: [],
  },
  {
    given: "a content deleted while its snapshot exists",
    view: { content: aContent({ metadata: going }), snapshot: aSnapshot() },
    phase: "leaving",
    reason: "WaitsForDeletionConfirmed",
    expect: [],
  },
  {
    given: "a content deleted whose snapshot is gone",
    view: { content: aContent({ metadata: going }), snapshot: undefined },
    phase: "orphaned",
    reason: "Writes",
    expect: ["confirm VolumeSnapshot", "patch VolumeSnapshotContent"],
  },
  {
    given: "a content deleted whose reference has lost its namespace, and whose snapshot is gone",
    view: {
      content: aContent({
        metadata: { ...going, labels: { [labels.invalidContent]: "" } },
        spec: { volumeSnapshotRef: { name: "monday", uid: "uid-snap" } },
      }),
      snapshot: undefined,
    },
    phase: "orphaned",
    reason: "Writes",
    expect: ["relist VolumeSnapshot", "patch VolumeSnapshotContent"],
  },
  {
    given: "a content without a driver, named by a snapshot",
    view: {
      content: aContent({
        metadata: { finalizers: [], labels: { [labels.invalidContent]: "" } },
        spec: { driver: "" },
      }),
      snapshot: aSnapshot(),
    },
    phase: "invalid",
    reason: "Invalid",
    expect: ["patch VolumeSnapshotContent", "event"],
  },
  {
    given: "a content deleted whose snapshot has a successor of the same name",
    view: { content: aContent({ metadata: going }), snapshot: namesake },
    phase: "orphaned",
    reason: "Writes",
    expect: ["confirm VolumeSnapshot", "patch VolumeSnapshotContent"],
  },
  {
    given: "a deleted content with the being-deleted annotation whose snapshot is gone",
    view: { content: aContent({ metadata: annotated }), snapshot: undefined },
    phase: "leaving",
    reason: "WaitsForSidecar",
    expect: [],
  },
  ...(
    [
      ["with a handle", { status: { snapshotHandle: "s-1" } }, true],
      ["that was adopted by its handle", { spec: { source: { snapshotHandle: "s-1" } } }, true],
      ["with an unknown outcome", { metadata: { annotations: { [annotations.beingCreated]: "yes" } } }, true],
      ["of which nothing was requested", {}, false],
      ["with Retain", { spec: { deletionPolicy: "Retain" }, status: { snapshotHandle: "s-1" } }, false],
    ] as const
  ).map(
    ([given, { metadata, spec, status }, isNamed]: readonly [
      string,
      Parameters<typeof aContent>[0] & object,
      boolean,
    ]) => ({
      given: `a deleted content ${given} whose driver was emptied, and whose snapshot has given it up`,
      view: {
        content: aContent({
          metadata: { ...driverless, annotations: { ...annotated.annotations, ...metadata?.annotations } },
          spec: { ...spec, driver: "" },
          ...(status === undefined ? {} : { status }),
        }),
        snapshot: aSnapshot({ metadata: going }),
      },
      phase: "driverless" as const,
      reason: "Released" as const,
      expect: [...(isNamed ? ["event"] : []), "patch VolumeSnapshotContent"],
    }),
  ),
  {
    given: "a deleted content whose driver was emptied and whose snapshot stays",
    view: {
      content: aContent({ metadata: driverless, spec: { driver: "" } }),
      snapshot: aSnapshot(),
    },
    phase: "leaving",
    reason: "WaitsForDeletionConfirmed",
    expect: [],
  },
  {
    given: "a content without its snapshot that is not deleted",
    view: { content: aContent() },
    phase: "orphaned",
    reason: "SnapshotNotFound",
    expect: [],
  },
  {
    given: "a content without its snapshot and without its finalizer, which a sidecar might never remove",
    view: { content: aContent({ metadata: { finalizers: [] } }) },
    phase: "orphaned",
    reason: "SnapshotNotFound",
    expect: [],
  },
  {
    given: "a content whose snapshot disappeared before it was reported as taken",
    view: { wasSnapshotDeletedUnready: true },
    phase: "orphaned",
    reason: "Writes",
    expect: ["confirm VolumeSnapshot", "delete VolumeSnapshotContent"],
  },
  {
    given: "a content that became ready after its snapshot disappeared unreported",
    view: { content: aContent({ status: { readyToUse: true } }), wasSnapshotDeletedUnready: true },
    phase: "orphaned",
    reason: "Writes",
    expect: ["confirm VolumeSnapshot", "delete VolumeSnapshotContent"],
  },
  {
    given: "a content whose snapshot disappeared unreported and has a successor of the same name",
    view: { snapshot: namesake, wasSnapshotDeletedUnready: true },
    phase: "orphaned",
    reason: "Writes",
    expect: ["confirm VolumeSnapshot", "delete VolumeSnapshotContent"],
  },
  {
    given: "a content with Retain whose snapshot disappeared unreported",
    view: { content: aContent({ spec: { deletionPolicy: "Retain" } }), wasSnapshotDeletedUnready: true },
    phase: "orphaned",
    reason: "Settled",
    expect: [],
  },
  {
    given: "a content that was released with Retain and later set to Delete",
    view: { content: aContent({ metadata: { annotations: annotated.annotations } }), wasSnapshotDeletedUnready: true },
    phase: "kept",
    reason: "Settled",
    expect: [],
  },
  {
    given: "a content with an unknown outcome whose snapshot and class are gone",
    view: { isBeingCreatedWithoutClass: true },
    phase: "orphaned",
    reason: "Writes",
    expect: ["confirm VolumeSnapshot", "patch VolumeSnapshotContent"],
  },
  {
    given: "a content with an unknown outcome and a snapshot, whose class is gone",
    view: { snapshot: aSnapshot(), isBeingCreatedWithoutClass: true },
    phase: "bound",
    reason: "Settled",
    expect: [],
  },
  {
    given: "a content with an unknown outcome whose snapshot disappeared unreported and whose class is gone",
    view: { wasSnapshotDeletedUnready: true, isBeingCreatedWithoutClass: true },
    phase: "orphaned",
    reason: "Writes",
    expect: ["confirm VolumeSnapshot", "delete VolumeSnapshotContent"],
  },
  {
    given: "a released content with an unknown outcome whose class is gone",
    view: { content: aContent({ metadata: { annotations: annotated.annotations } }), isBeingCreatedWithoutClass: true },
    phase: "kept",
    reason: "Settled",
    expect: [],
  },
  {
    given: "a content created by hand whose snapshot disappeared unreported",
    view: { content: aContent({ spec: { source: { snapshotHandle: "s-1" } } }), wasSnapshotDeletedUnready: true },
    phase: "orphaned",
    reason: "SnapshotNotFound",
    expect: [],
  },
  {
    given: "a content with another name whose snapshot disappeared unreported",
    view: { content: aContent({ metadata: { name: "by-hand" } }), wasSnapshotDeletedUnready: true },
    phase: "orphaned",
    reason: "SnapshotNotFound",
    expect: [],
  },
];
for (const { given, view: parts, phase, reason, expect } of cases)
  test(`given ${given}, it is ${phase} and the plan is: ${expect.join(", ") || "nothing"}`, () => {
    const view = aView(parts);
    const { actions, reason: why } = planContent(view);
    assert.deepEqual([contentPhaseOf(view.facts), why.code], [phase, reason]);
    assert.deepEqual(
      actions.map((action) => (action.kind === "event" ? "event" : `${action.kind} ${action.ref.kind}`)),
      expect,
    );
  });

const mistakes: readonly { given: string; source: object; says: RegExp }[] = [
  { given: "none", source: {}, says: /has neither .*; give one/ },
  { given: "an empty snapshot handle", source: { snapshotHandle: "" }, says: /an empty handle is none/ },
  { given: "an empty volume handle", source: { volumeHandle: "" }, says: /an empty handle is none/ },
  { given: "both", source: { volumeHandle: "v", snapshotHandle: "s" }, says: /has both; leave one/ },
];
for (const { given, source, says } of mistakes)
  test(`a content whose source has ${given} gets one status error and one event, and can be deleted`, () => {
    const spec = { source };
    const metadata = { labels: { [labels.invalidContent]: "" } };
    const [write, event, ...rest] = planContent(aView({ content: aContent({ spec, metadata }) })).actions;
    assert.deepEqual(rest, []);
    assert.ok(write?.kind === "patch" && write.subresource === "status");
    assert.ok(event?.kind === "event" && event.event.reason === "ContentValidationError");
    const { message } = event.event;
    for (const words of [/^Exactly one of VolumeHandle and SnapshotHandle should be specified: /, says])
      assert.match(message, words);
    assert.match(message, /spec\.source of VolumeSnapshotContent snapcontent-uid-snap/);
    const reported = aContent({ spec, metadata, status: { readyToUse: false, error: { message, time: "then" } } });
    assert.deepEqual(planContent(aView({ content: reported })).actions, []);
    const leaving = planContent(aView({ content: aContent({ spec, metadata: going }) }));
    assert.deepEqual(
      leaving.actions.map(({ kind }) => kind),
      ["confirm", "patch"],
    );
  });

test("an unwanted content is deleted at the decided version, after the server confirms that its snapshot is gone", () => {
  const { actions } = planContent(aView({ snapshot: namesake, wasSnapshotDeletedUnready: true }));
  const { uid, name, resourceVersion } = aContent().metadata;
  assert.deepEqual(actions, [
    {
      kind: "confirm",
      ref: { kind: "VolumeSnapshot", namespace: "team", name: "monday" },
      resourceVersion: namesake.metadata.resourceVersion,
    },
    { kind: "delete", ref: { kind: "VolumeSnapshotContent", namespace: undefined, name, uid }, resourceVersion },
  ]);
});

for (const [given, status, named] of [
  ["its handle", { snapshotHandle: "s-1" }, /snapshot "s-1" may be left/],
  ["its volume and name", undefined, /of volume "[^"]+", requested by the name "snapshot-uid-snap"/],
] as const)
  test(`the event about a content whose driver was emptied names what may be left by ${given}`, () => {
    const content = aContent({
      metadata: { ...driverless, annotations: { ...annotated.annotations, [annotations.beingCreated]: "yes" } },
      spec: { driver: "" },
      ...(status === undefined ? {} : { status }),
    });
    const [action] = planContent(aView({ content })).actions;
    assert.ok(action?.kind === "event");
    assert.equal(action.event.reason, "SnapshotLeftAtDriver");
    assert.match(action.event.message, named);
    assert.match(action.event.message, /\[SNAP-243\]$/);
  });
