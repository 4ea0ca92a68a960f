/** A VolumeSnapshotContent: the snapshot-controller decides about its binding and its removal, the driver's sidecar about the rest. */
import { finalizers } from "../../api/names.ts";
import type { Ref } from "../../api/plan.ts";
import { type ReasonCode, reasonRows } from "../../api/reasons.ts";
import type { VolumeSnapshot, VolumeSnapshotContent } from "../../api/types.ts";
import { keyIn, type Millis } from "../../base/brand.ts";
import { noMemory } from "../../components/snapshot-controller/memory.ts";
import { observeContent } from "../../components/snapshot-controller/observe.ts";
import { contentPhaseOf } from "../../components/snapshot-controller/phase-content.ts";
import { planContent } from "../../components/snapshot-controller/plan-content.ts";
import { notReady } from "../../components/snapshot-controller/reasons.ts";
import { reasonOfError } from "../../rules/snapshot-reasons.ts";
import type { ClusterCopy } from "./cluster-copy.ts";
import { createdMs, deletedMs, type Finding, isSame, type Step, word } from "./finding.ts";
import { type Meant, meantByContent, meantByDeletionEvent } from "./go-words.ts";
import { eventsAbout, foreignFinalizer, toldByEvents, unknownFields } from "./outer.ts";
import { unreadable } from "./rights.ts";
import { snapshotContext, snapshotStores } from "./snapshot-side.ts";

/** What the sidecar beside the driver has to do. */
const ofSidecar: ReadonlySet<ReasonCode> = new Set([
  "WaitsForSidecar",
  "WaitsForDriver",
  "DriverFailed",
  "OutcomeUnknown",
  "SecretNotUsable",
]);

/** The sources that this program knows. */
const sourceFields = ["volumeHandle", "snapshotHandle"];

export function findContent(copy: ClusterCopy, ref: Ref, nowMs: Millis): Finding | undefined {
  const content = copy.get("VolumeSnapshotContent", undefined, ref.name);
  if (content === undefined) return unreadable(copy, ref);
  const outer =
    unknownFields(ref, "spec.source", content.spec.source, sourceFields) ??
    foreignFinalizer(ref, content, [finalizers.contentBound]) ??
    toldByEvents(copy, ref, content, nowMs);
  if (outer !== undefined) return outer;
  const view = observeContent(snapshotStores(copy), snapshotContext(copy, nowMs, noMemory), keyIn(undefined, ref.name));
  if (view === undefined) return undefined;
  const planned = planContent(view).reason;
  const isUnready =
    planned.code === "Settled" && view.facts.snapshot !== undefined && content.status?.readyToUse !== true;
  const reason = isUnready ? notReady(content) : planned;
  const error = content.status?.error?.message;
  const secret = error === undefined ? undefined : reasonOfError(content, error).secret[0];
  const waitsFor = reason.code === "SecretNotUsable" && secret !== undefined ? [secret] : reason.waitsFor;
  const meant = meantByOthers(copy, content, reason.code);
  const isGood = !reasonRows[reason.code].waits && reason.code !== "Writes";
  return {
    object: ref,
    phase: contentPhaseOf(view.facts),
    cause: isGood ? "NothingWrong" : reason.code,
    says: reason.says,
    waitsFor: waitsFor.filter((each) => !isSame(each, ref)),
    sinceMs: reason.sinceMs ?? deletedMs(content) ?? createdMs(content),
    component: ofSidecar.has(reason.code)
      ? { name: "csi-snapshotter", driver: content.spec.driver }
      : { name: "snapshot-controller" },
    evidence: error === undefined ? [] : [`status.error: ${error}`],
    ...(meant ?? otherDriver(copy, content)),
    more: leavingSteps(content, isKept(view.facts.snapshot)),
    ...(reason.code === "WaitsForDeletionConfirmed" && isKept(view.facts.snapshot) ? { actor: "user" } : {}),
  };
}

/** Where the plan only knows that the driver is asked, or that it has failed, the Go sidecar may have told more. */
function meantByOthers(copy: ClusterCopy, content: VolumeSnapshotContent, code: ReasonCode) {
  const error = content.status?.error?.message;
  if (code === "DriverFailed" && error !== undefined) return meantByContent(content, error);
  if ((code !== "WaitsForDriver" && code !== "WaitsForSidecar") || deletedMs(content) === undefined) return undefined;
  return meantByDeletionEvent(
    content,
    eventsAbout(copy, content).find(({ reason }) => reason === "SnapshotDeleteError"),
  );
}

/** external-snapshotter takes the driver of the class, whatever driver the volume has; our controller refuses such a class. */
function otherDriver(copy: ClusterCopy, { metadata, spec, status }: VolumeSnapshotContent): Meant | undefined {
  const { volumeHandle } = spec.source;
  const className = spec.volumeSnapshotClassName;
  if (volumeHandle === undefined || !className || status?.snapshotHandle || metadata.deletionTimestamp !== undefined)
    return undefined;
  const { namespace, name = "" } = spec.volumeSnapshotRef;
  const claimName = copy.get("VolumeSnapshot", namespace, name)?.spec.source.persistentVolumeClaimName;
  const claim = claimName === undefined ? undefined : copy.get("PersistentVolumeClaim", namespace, claimName);
  const volumeName = claim?.spec?.volumeName;
  const csi = volumeName ? copy.get("PersistentVolume", undefined, volumeName)?.spec?.csi : undefined;
  if (csi === undefined || csi.volumeHandle !== volumeHandle || csi.driver === spec.driver) return undefined;
  return {
    cause: "ClassNotUsable",
    says: `class ${className} is for driver ${spec.driver}, but the volume belongs to driver ${csi.driver}: delete the snapshot, and create it with a class of that driver`,
    waitsFor: [{ kind: "VolumeSnapshotClass", name: className }],
  };
}

/** The snapshot is there, and nobody has deleted it. */
const isKept = (snapshot: VolumeSnapshot | undefined): boolean =>
  snapshot !== undefined && deletedMs(snapshot) === undefined;

/** How a deletion that cannot succeed is ended without losing track of the data. */
function leavingSteps(
  { metadata, spec, status }: VolumeSnapshotContent,
  isSnapshotKept: boolean,
): readonly Step[] | undefined {
  const handle = status?.snapshotHandle ?? spec.source?.snapshotHandle;
  if (metadata.deletionTimestamp === undefined || handle === undefined || spec.deletionPolicy === "Retain")
    return undefined;
  return [
    {
      says: isSnapshotKept
        ? `or keep the data: note handle "${handle}" of driver ${spec.driver}, the only way to find the data again, and let the driver leave it`
        : `if the driver ${spec.driver} will never delete snapshot "${handle}", let the content go and leave the data: note this handle, it is the only way to find the data again`,
      command: `kubectl patch volumesnapshotcontent ${word(metadata.name)} --type=merge -p '{"spec":{"deletionPolicy":"Retain"}}'`,
    },
  ];
}
