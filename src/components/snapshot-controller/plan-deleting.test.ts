import assert from "node:assert/strict";
import { test } from "node:test";
import { aClaim, aClass, aContent, aSnapshot } from "../../../test/builders.ts";
import {
  aProtectedView as aView,
  both,
  deletionTimestamp,
  readyContent,
  readyStatus,
  testPlans,
} from "../../../test/snapshot-plans.ts";
import { annotations } from "../../api/names.ts";
import type { ObjectName } from "./memory.ts";
import { planSnapshot } from "./plan.ts";

const leaving = aSnapshot({ metadata: { finalizers: both, deletionTimestamp }, status: readyStatus });
const annotated = { [annotations.beingDeleted]: "yes" };
const undecided = aView({ snapshot: leaving, content: readyContent, isRestoringUndecided: true });
const copy = aClaim({ metadata: { namespace: "other", name: "copy" } });

testPlans([
  {
    given: "a snapshot being deleted whose content remains",
    view: aView({
      snapshot: leaving,
      content: readyContent,
    }),
    phase: "deleting",
    reason: "WaitsForLists",
    expect: ["read claims"],
  },
  {
    given: "a snapshot being deleted whose content remains, and the claims were listed",
    view: aView({ snapshot: leaving, content: readyContent, areClaimsRead: true }),
    phase: "deleting",
    reason: "Writes",
    expect: ["patch VolumeSnapshotContent"],
  },
  {
    given: "a snapshot being deleted whose content was given up by an earlier process",
    view: aView({
      snapshot: leaving,
      content: { ...readyContent, metadata: { ...readyContent.metadata, annotations: annotated } },
    }),
    phase: "deleting",
    reason: "WaitsForLists",
    expect: ["read claims"],
  },
  {
    given: "a snapshot being deleted with Retain that may be restored",
    view: aView({
      snapshot: leaving,
      content: { ...readyContent, spec: { ...readyContent.spec, deletionPolicy: "Retain" } },
    }),
    phase: "deleting",
    reason: "WaitsForLists",
    expect: ["read claims"],
  },
  {
    given: "a snapshot being deleted whose content has the being-deleted annotation",
    view: aView({
      snapshot: leaving,
      content: aContent({ metadata: { annotations: annotated } }),
    }),
    phase: "deleting",
    reason: "Writes",
    expect: ["delete VolumeSnapshotContent"],
  },
  {
    given: "a snapshot being deleted whose content is terminating",
    view: aView({
      snapshot: aSnapshot({ metadata: { finalizers: both, deletionTimestamp } }),
      content: aContent({ metadata: { deletionTimestamp, annotations: annotated } }),
    }),
    phase: "deleting",
    reason: "WaitsForContentDeletion",
    expect: [],
  },
  ...[{ namespace: "team" }, { name: "monday" }, {}].map((named) => ({
    given: `a snapshot being deleted whose content has its uid and ${JSON.stringify(named)} in its reference`,
    view: aView({
      snapshot: leaving,
      content: aContent({ spec: { volumeSnapshotRef: { ...named, uid: leaving.metadata.uid } } }),
    }),
    phase: "deleting" as const,
    reason: "Writes" as const,
    expect: ["patch VolumeSnapshotContent"],
  })),
  {
    given: "a snapshot being deleted whose content names another snapshot with its uid",
    view: aView({
      snapshot: leaving,
      content: aContent({ spec: { volumeSnapshotRef: { namespace: "team", name: "x", uid: leaving.metadata.uid } } }),
    }),
    phase: "deleting",
    reason: "Released",
    expect: ["confirm VolumeSnapshotContent", "patch VolumeSnapshot"],
  },
  {
    given: "a snapshot being deleted whose content is gone",
    view: aView({ snapshot: leaving }),
    phase: "deleting",
    reason: "Released",
    expect: ["confirm VolumeSnapshotContent", "patch VolumeSnapshot"],
  },
  {
    given: "a snapshot being deleted with Retain",
    view: aView({
      snapshot: aSnapshot({ metadata: { finalizers: both, deletionTimestamp } }),
      content: aContent({ spec: { deletionPolicy: "Retain" } }),
    }),
    phase: "deleting",
    reason: "Released",
    expect: ["patch VolumeSnapshotContent", "patch VolumeSnapshot"],
  },
  {
    given: "a snapshot being deleted while a claim of another namespace restores from it",
    view: aView({ snapshot: leaving, content: readyContent, restoring: [{ claim: copy, grant: "lend" }] }),
    phase: "deleting",
    reason: "InUseByClaim",
    expect: ["event SnapshotDeletePending"],
  },
  {
    given: "a snapshot being deleted that was not shown ready yet: no restore has begun, and none would",
    view: aView({
      snapshot: aSnapshot({ metadata: { finalizers: both, deletionTimestamp } }),
      content: readyContent,
      restoring: [{ claim: aClaim(), grant: undefined }],
    }),
    phase: "deleting",
    reason: "Writes",
    expect: ["patch VolumeSnapshotContent"],
  },
  {
    given: "a snapshot being deleted that a claim of another namespace may restore, while grants are not known yet",
    view: undecided,
    phase: "deleting",
    reason: "WaitsForGrants",
    expect: [],
  },
  {
    given: "a snapshot being deleted that was never ready, while grants are not known yet",
    view: aView({ snapshot: leaving, content: aContent(), isRestoringUndecided: true }),
    phase: "deleting",
    reason: "Writes",
    expect: ["patch VolumeSnapshotContent"],
  },
  {
    given: "a snapshot being deleted whose restoring claim is missing from the cache",
    view: aView({
      snapshot: leaving,
      content: readyContent,
      areClaimsRead: true,
      missingClaims: [copy.metadata as ObjectName],
    }),
    phase: "deleting",
    reason: "Writes",
    expect: ["confirm PersistentVolumeClaim", "patch VolumeSnapshotContent"],
  },
  {
    given: "such a snapshot whose content has the being-deleted annotation",
    view: aView({
      snapshot: leaving,
      content: aContent({ metadata: { annotations: annotated } }),
      missingClaims: [copy.metadata as ObjectName],
    }),
    phase: "deleting",
    reason: "Writes",
    expect: ["confirm PersistentVolumeClaim", "delete VolumeSnapshotContent"],
  },
  {
    given: "such a snapshot with Retain",
    view: aView({
      snapshot: leaving,
      content: aContent({ spec: { ...aContent().spec, deletionPolicy: "Retain" } }),
      missingClaims: [copy.metadata as ObjectName],
    }),
    phase: "deleting",
    reason: "Released",
    expect: ["confirm PersistentVolumeClaim", "patch VolumeSnapshotContent", "patch VolumeSnapshot"],
  },
  {
    given: "a snapshot being deleted that was never ready, and a claim that waits for it",
    view: aView({
      snapshot: aSnapshot({ metadata: { finalizers: both, deletionTimestamp } }),
      content: aContent(),
      restoring: [{ claim: aClaim(), grant: undefined }],
    }),
    phase: "deleting",
    reason: "Writes",
    expect: ["patch VolumeSnapshotContent"],
  },
  {
    given: "a snapshot being deleted, with a content for another uid of the same name",
    view: aView({
      snapshot: aSnapshot({ metadata: { finalizers: both, deletionTimestamp } }),
      content: aContent({ spec: { volumeSnapshotRef: { namespace: "team", name: "monday", uid: "other" } } }),
    }),
    phase: "deleting",
    reason: "Released",
    expect: ["confirm VolumeSnapshotContent", "patch VolumeSnapshot"],
  },
  {
    given: "a snapshot being deleted with an unknown class and source",
    view: aView({
      snapshot: aSnapshot({
        metadata: { finalizers: both, deletionTimestamp },
        spec: { source: {} },
        status: readyStatus,
      }),
      content: readyContent,
      snapshotClass: undefined,
      defaultClasses: [aClass(), aClass({ metadata: { name: "also" } })],
    }),
    phase: "deleting",
    reason: "WaitsForLists",
    expect: ["read claims"],
  },
  {
    given: "a snapshot being deleted with only foreign finalizers",
    view: aView({ snapshot: aSnapshot({ metadata: { finalizers: ["x/y"], deletionTimestamp } }) }),
    phase: "deleting",
    reason: "Released",
    expect: [],
  },
]);

test("a snapshot that waits until grants are known is looked at again soon", () =>
  assert.deepEqual(planSnapshot(undecided).next, { kind: "after", ms: 2_000 }));

test("the event about a claim of another namespace names the grant to remove", () => {
  const view = aView({ snapshot: leaving, content: readyContent, restoring: [{ claim: copy, grant: "lend" }] });
  const [action] = planSnapshot(view).actions;
  assert.match(
    action?.kind === "event" ? action.event.message : "no event",
    /restore a PVC: other\/copy, which ReferenceGrant team\/lend permits; .* at once if that grant is removed/,
  );
});
