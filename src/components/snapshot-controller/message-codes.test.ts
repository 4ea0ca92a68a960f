/** Every message that a user reads of a snapshot ends in its code. A new code needs a row here, which shows the message that has it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { aClaim, aClass, aContent, aSnapshot, aVolume } from "../../../test/builders.ts";
import { codesIn } from "../../../test/coded-messages.ts";
import {
  aProtectedView as aView,
  both,
  deletionTimestamp,
  readyContent,
  readyStatus,
} from "../../../test/snapshot-plans.ts";
import { aLoneContentView, type SnapshotParts } from "../../../test/views.ts";
import { annotations, parameters } from "../../api/names.ts";
import type { ClusterAction } from "../../api/plan.ts";
import { Fault } from "../../base/fault.ts";
import { snapshotErrorRows } from "../../errors/snapshots.ts";
import { type BlockingCode, reasonsByCode } from "../../rules/snapshot-reasons.ts";
import { planSnapshot } from "./plan.ts";
import { planContent } from "./plan-content.ts";
import { refusedWriteEvent } from "./refused-writes.ts";

const classless = {
  snapshot: aSnapshot({ metadata: { finalizers: both }, spec: { source: { persistentVolumeClaimName: "data" } } }),
  snapshotClass: undefined,
};
const withSecret = (name: string, namespace?: string): SnapshotParts => ({
  snapshotClass: aClass({
    parameters: {
      [parameters.snapshotterSecretName]: name,
      ...(namespace === undefined ? {} : { [parameters.snapshotterSecretNamespace]: namespace }),
    },
  }),
});
const leaving = aSnapshot({ metadata: { finalizers: both, deletionTimestamp }, status: readyStatus });
const stuck = aContent({
  metadata: {
    deletionTimestamp,
    annotations: { "snapshot.storage.kubernetes.io/volumesnapshot-being-deleted": "yes" },
  },
  status: {
    readyToUse: true,
    snapshotHandle: "s-1",
    error: { message: "Failed to delete snapshot: in use [SNAP-531]" },
  },
});
const waiting = aSnapshot({
  metadata: { finalizers: both },
  status: { boundVolumeSnapshotContentName: "snapcontent-uid-snap", readyToUse: false },
});
const otherClaim = { claimRef: { namespace: "team", name: "other" } };
const handle = { driver: "disk.example.com", volumeHandle: "vol-1" };

const cases: readonly (readonly [code: string, view: SnapshotParts])[] = [
  ["SNAP-101", { source: { kind: "unclear", count: 2 } }],
  ["SNAP-111", { content: aContent({ spec: { source: { volumeHandle: "" } } }) }],
  ["SNAP-117", { content: aContent({ spec: { driver: "" } }) }],
  [
    "SNAP-201",
    { snapshot: aSnapshot({ metadata: { finalizers: both }, status: { creationTime: deletionTimestamp } }) },
  ],
  ["SNAP-202", { source: { kind: "content", name: "by-hand" } }],
  ["SNAP-203", { content: aContent({ spec: { source: { snapshotHandle: "s" } } }) }],
  ["SNAP-203", { content: aContent(), source: { kind: "content", name: "snapcontent-uid-snap" } }],
  ["SNAP-204", { content: aContent({ spec: { volumeSnapshotRef: { namespace: "team", name: "other", uid: "u" } } }) }],
  ["SNAP-211", { snapshotClass: undefined }],
  ["SNAP-212", classless],
  ["SNAP-213", { ...classless, defaultClasses: [aClass(), aClass({ metadata: { name: "slow" } })] }],
  ["SNAP-214", { snapshotClass: aClass({ driver: "other.example.com" }) }],
  ["SNAP-221", { claim: undefined }],
  ["SNAP-222", { claim: aClaim({ spec: {}, status: { phase: "Pending" } }) }],
  ["SNAP-223", { claim: aClaim({ metadata: { deletionTimestamp } }) }],
  ["SNAP-224", { volume: undefined }],
  ["SNAP-225", { volume: aVolume({ spec: { ...otherClaim, csi: handle } }) }],
  ["SNAP-226", { volume: aVolume({ spec: { claimRef: { namespace: "team", name: "data" } } }) }],
  ["SNAP-227", { place: { kind: "nowhere" } }],
  ["SNAP-231", withSecret("s")],
  ["SNAP-232", withSecret("${pvc.name}", "storage")],
  ["SNAP-233", withSecret("s", "Storage")],
  [
    "SNAP-241",
    {
      snapshot: leaving,
      content: readyContent,
      restoring: [{ claim: aClaim({ metadata: { name: "restored" } }), grant: undefined }],
    },
  ],
  ["SNAP-242", { snapshot: leaving, content: stuck }],
  ["SNAP-291", {}],
  ["SNAP-292", { snapshot: waiting, content: aContent({ status: { creationTime: 1_767_225_601_000_000_000n } }) }],
  [
    "SNAP-293",
    { snapshot: { ...waiting, status: { ...waiting.status, creationTime: deletionTimestamp } }, content: readyContent },
  ],
];
for (const [code, view] of cases)
  test(`${code} ends what the user reads`, () => {
    const { actions, reason } = planSnapshot(aView(view));
    assert.deepEqual([...new Set(codesIn(actions))], [code]);
    if (code in reasonsByCode) assert.equal(reason.code, reasonsByCode[code as BlockingCode].reason);
  });

test("a content's own mistake has the same code in its own status", () => {
  const content = aContent({
    metadata: { labels: { "snapshot.storage.kubernetes.io/invalid-snapshot-content-resource": "" } },
    spec: { source: {} },
  });
  assert.deepEqual(codesIn(planContent(aLoneContentView({ content })).actions), ["SNAP-111", "SNAP-111"]);
});

const abandoned = "SNAP-243";
test(`${abandoned} ends what the user reads of a content whose driver was emptied`, () => {
  const content = aContent({
    metadata: {
      deletionTimestamp,
      annotations: { [annotations.beingDeleted]: "yes" },
      labels: { "snapshot.storage.kubernetes.io/invalid-snapshot-content-resource": "" },
    },
    spec: { driver: "" },
    status: { snapshotHandle: "s-1" },
  });
  assert.deepEqual(codesIn(planContent(aLoneContentView({ content })).actions), [abandoned]);
});

const ref = (kind: "VolumeSnapshot" | "VolumeSnapshotContent" | "PersistentVolumeClaim") => ({ kind, name: "x" });
const patch = { type: "merge", body: {} } as const;
const refused: readonly (readonly [code: string, action: ClusterAction, of?: typeof leaving])[] = [
  ["SNAP-251", { kind: "create", ref: ref("VolumeSnapshotContent"), object: {} as never }],
  ["SNAP-252", { kind: "replace", ref: ref("PersistentVolumeClaim"), object: {} as never }],
  ["SNAP-253", { kind: "patch", ref: ref("VolumeSnapshot"), patch, subresource: "status" }],
  ["SNAP-254", { kind: "patch", ref: ref("VolumeSnapshot"), patch }],
  ["SNAP-255", { kind: "patch", ref: ref("VolumeSnapshotContent"), patch }],
  ["SNAP-256", { kind: "delete", ref: ref("VolumeSnapshotContent"), resourceVersion: "1" }, leaving],
];
for (const [code, action, about = aSnapshot()] of refused)
  test(`${code} ends what the user reads of a rejected ${action.kind}`, () => {
    const event = refusedWriteEvent(about, { reason: new Fault("PermissionDenied", "why"), action });
    assert.ok(event !== undefined);
    assert.deepEqual(codesIn([{ kind: "event", about, event }]), [code]);
  });

test("every code about a snapshot and its objects is shown by a case", () => {
  const shown = new Set([abandoned, ...[...cases, ...refused].map(([code]) => code)]);
  assert.deepEqual(
    Object.keys(snapshotErrorRows).filter((code) => !shown.has(code)),
    [],
  );
});
