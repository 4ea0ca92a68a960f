/** A VolumeSnapshot, as the snapshot-controller decides it. */

import { finalizers } from "../../api/names.ts";
import type { Ref } from "../../api/plan.ts";
import type { VolumeSnapshot } from "../../api/types.ts";
import { keyIn, type Millis } from "../../base/brand.ts";
import { millisOf } from "../../base/time.ts";
import { noMemory } from "../../components/snapshot-controller/memory.ts";
import { observeSnapshot } from "../../components/snapshot-controller/observe.ts";
import { stateOf } from "../../components/snapshot-controller/phase.ts";
import { planSnapshot } from "../../components/snapshot-controller/plan.ts";
import { invalidSnapshot } from "../../components/snapshot-controller/reasons.ts";
import { codeIn } from "../../errors/codes.ts";
import { type BlockingCode, reasonsByCode } from "../../rules/snapshot-reasons.ts";
import type { ClusterCopy } from "./cluster-copy.ts";
import { createdMs, deletedMs, type Finding, outer as finding } from "./finding.ts";
import { foreignFinalizer, toldByEvents, unknownFields } from "./outer.ts";
import { unreadable } from "./rights.ts";
import { snapshotContext, snapshotStores } from "./snapshot-side.ts";

const controller = { name: "snapshot-controller" } as const;
const ours = [finalizers.snapshotAsSource, finalizers.snapshotBound];
/** The sources that this program knows. */
const sourceFields = ["persistentVolumeClaimName", "volumeSnapshotContentName"];

export function findSnapshot(copy: ClusterCopy, ref: Ref, nowMs: Millis): Finding | undefined {
  const snapshot = copy.get("VolumeSnapshot", ref.namespace, ref.name);
  if (snapshot === undefined) return unreadable(copy, ref);
  const view = observeSnapshot(
    snapshotStores(copy),
    snapshotContext(copy, nowMs, noMemory),
    keyIn(ref.namespace, ref.name),
  );
  if (view === undefined) return undefined;
  const state = stateOf(view.facts);
  // The plan of an invalid snapshot may begin with its label, which explains nothing.
  const reason = state.phase === "invalid" ? invalidSnapshot(view.facts, state.violation) : planSnapshot(view).reason;
  const outer =
    unknownFields(ref, "spec.source", snapshot.spec.source, sourceFields) ??
    foreignFinalizer(ref, snapshot, ours) ??
    toldByEvents(copy, ref, snapshot, nowMs) ??
    contentUnreadable(copy, ref, snapshot);
  if (outer !== undefined) return outer;
  const isGood = reason.code === "Settled";
  return {
    object: ref,
    phase: state.phase,
    cause: isGood ? "NothingWrong" : reason.code,
    says: isGood ? "the snapshot is ready" : reason.says,
    waitsFor: reason.waitsFor,
    sinceMs: reason.sinceMs ?? deletedMs(snapshot) ?? createdMs(snapshot),
    component: controller,
    evidence: [],
  };
}

/** A snapshot that has its content is explained by it; where the content cannot be read, by the error that was copied from it. */
function contentUnreadable(copy: ClusterCopy, ref: Ref, { metadata, status }: VolumeSnapshot): Finding | undefined {
  const name = status?.boundVolumeSnapshotContentName;
  if (name === undefined || status?.readyToUse === true || metadata.deletionTimestamp !== undefined) return undefined;
  const hidden = unreadable(copy, { kind: "VolumeSnapshotContent", name });
  const { message, time } = status?.error ?? {};
  if (hidden === undefined || message === undefined) return hidden;
  const code = codeIn(message);
  return finding({
    object: ref,
    cause:
      code !== undefined && Object.hasOwn(reasonsByCode, code)
        ? reasonsByCode[code as BlockingCode].reason
        : "DriverFailed",
    says: `the snapshot has an error: ${message}`,
    sinceMs: millisOf(time),
    evidence: [`status.error: ${message}`],
  });
}
