import assert from "node:assert/strict";
import { test } from "node:test";
import { aSnapshot } from "../../../test/builders.ts";
import type { ClusterAction } from "../../api/plan.ts";
import { Fault, type FaultCode } from "../../base/fault.ts";
import { refusedWriteEvent } from "./refused-writes.ts";

const leaving = aSnapshot({ metadata: { deletionTimestamp: "2026-01-01T00:00:01Z" } });
const content = { kind: "VolumeSnapshotContent", name: "c" } as const;
const snapshot = { kind: "VolumeSnapshot", namespace: "team", name: "monday" } as const;
const patch = { type: "merge", body: {} } as const;

const cases: readonly { action: ClusterAction; of?: typeof leaving; says: string }[] = [
  {
    action: { kind: "create", ref: content, object: {} as never },
    says: "CreateSnapshotContentFailed: Error creating volume snapshot content object for snapshot team/monday: why. [SNAP-251]",
  },
  {
    action: { kind: "replace", ref: { kind: "PersistentVolumeClaim", name: "data" }, object: {} as never },
    says: "ErrorPVCFinalizer: Error check and update PVC Finalizer for VolumeSnapshot: why [SNAP-252]",
  },
  {
    action: { kind: "patch", ref: snapshot, patch },
    says: "SnapshotFinalizerError: Failed to check and update snapshot: why [SNAP-254]",
  },
  {
    action: { kind: "patch", ref: snapshot, patch, subresource: "status" },
    says: "SnapshotStatusUpdateFailed: Snapshot status update failed, why [SNAP-253]",
  },
  {
    action: { kind: "patch", ref: content, patch },
    says: "SnapshotBindFailed: Snapshot failed to bind VolumeSnapshotContent, why [SNAP-255]",
  },
  {
    action: { kind: "delete", ref: content, resourceVersion: "1" },
    of: leaving,
    says: "SnapshotContentObjectDeleteError: Failed to delete snapshot content API object: why [SNAP-256]",
  },
];
for (const { action, of = aSnapshot(), says } of cases)
  test(`a rejected ${action.kind} of a ${"ref" in action ? action.ref.kind : ""} is reported as ${says.split(":")[0]}`, () => {
    const recorded = refusedWriteEvent(of, { reason: new Fault("PermissionDenied", "why"), action });
    assert.equal(`${recorded?.reason}: ${recorded?.message}`, says);
    assert.equal(recorded?.type, "Warning");
  });

const passing: readonly FaultCode[] = [
  "Unavailable",
  "UnknownOutcome",
  "Internal",
  "DeadlineExceeded",
  "NotFound",
  "Conflict",
];
for (const code of passing)
  test(`${code} is retried and not reported to the user`, () =>
    assert.equal(
      refusedWriteEvent(aSnapshot(), { reason: new Fault(code, ""), action: { kind: "patch", ref: snapshot, patch } }),
      undefined,
    ));
