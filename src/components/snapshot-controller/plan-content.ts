/**
 * One content, for what its snapshot's own plan does not handle: a wrong source, a missing finalizer, no driver, no snapshot at all.
 * phase-content.ts shows the phases.
 */

import { refOf, statusError } from "../../api/builders.ts";
import { annotations, finalizers, snapshotContentNameFor } from "../../api/names.ts";
import { edit, patchStatus } from "../../api/patches.ts";
import type { ClusterAction, CodedMessage } from "../../api/plan.ts";
import type { VolumeSnapshotContent } from "../../api/types.ts";
import { unreachable } from "../../base/brand.ts";
import type { JsonObject } from "../../base/json.ts";
import { withCode } from "../../errors/codes.ts";
import type { ContentViolation } from "../../rules/binding-rules.ts";
import type { ContentFacts, ContentView } from "./observe.ts";
import { contentStateOf } from "./phase-content.ts";
import { contentLabelEdit } from "./plan-label.ts";
import { type ControllerPlan, doing } from "./plan-steps.ts";
import { contentIsLeft, contentWaitsToGo, invalidContent, unbound, why } from "./reasons.ts";

const kind = "VolumeSnapshotContent";

export function planContent(view: ContentView): ControllerPlan {
  const { facts } = view;
  const label = contentLabelEdit(facts.content);
  if (label.length > 0) return doing(why("Writes", "the label of invalid objects is corrected"), label);
  const state = contentStateOf(facts);
  switch (state.phase) {
    case "invalid":
      return planError(view, state.violation);
    case "driverless":
      return planWithoutDriver(facts);
    case "orphaned":
      return planOrphaned(view);
    case "leaving":
      return doing(contentWaitsToGo(facts));
    case "bound":
      return planBound(facts);
    case "unbound":
      return doing(unbound(facts));
    case "kept":
      return doing(why("Settled", "the content is kept without its VolumeSnapshot, until it is deleted by hand"));
    default:
      return unreachable(state);
  }
}

function planBound({ content }: ContentFacts): ControllerPlan {
  const writes = edit(kind, content, { addFinalizers: [finalizers.contentBound] });
  return writes.length === 0
    ? doing(why("Settled", "the content has its VolumeSnapshot and our finalizer"))
    : doing(why("Writes", "the content gets our finalizer"), writes);
}

/** The event comes before the write: after a crash in between it is sent twice, not never. */
function planWithoutDriver({ content }: ContentFacts): ControllerPlan {
  const write = edit(kind, content, { removeFinalizers: [finalizers.contentBound] });
  const left = write.length === 0 ? undefined : leftAtDriver(content);
  const reason = why(
    "Released",
    left ?? "the content is being deleted, and spec.driver is empty: our finalizer is removed",
  );
  return doing(reason, left === undefined ? [] : [warning(content, "SnapshotLeftAtDriver", left)], write);
}

const warning = (about: VolumeSnapshotContent, reason: string, message: CodedMessage): ClusterAction => ({
  kind: "event",
  about,
  event: { type: "Warning", reason, message },
});

/** Undefined: nothing was taken, or the user keeps it. */
function leftAtDriver({ metadata, spec, status }: VolumeSnapshotContent): CodedMessage | undefined {
  const { snapshotHandle, volumeHandle } = spec.source ?? {};
  const handle = status?.snapshotHandle ?? snapshotHandle;
  const isRequested = metadata.annotations?.[annotations.beingCreated] === "yes";
  if (spec.deletionPolicy === "Retain" || (!handle && !isRequested)) return undefined;
  const what = handle
    ? `snapshot "${handle}"`
    : `a snapshot of volume "${volumeHandle}", requested by the name "snapshot-${spec.volumeSnapshotRef?.uid}" unless another prefix was set,`;
  const text = `Content ${metadata.name} is let go: spec.driver is empty, so no csi-snapshotter deletes what belongs to it, and ${what} may be left at the driver; look for it, and delete it by the means of the storage`;
  return withCode(text, "SNAP-243");
}

/** Reported once. The sidecar ignores such a content, and removes the error with its first success. */
function planError({ facts: { content }, nowMs }: ContentView, violation: ContentViolation): ControllerPlan {
  const { reason, message } = violation;
  const { status } = content;
  const invalid = invalidContent(content, violation);
  if (status?.error?.message === message) return doing(invalid);
  const error = statusError(message, nowMs);
  const wanted = { ...status, readyToUse: status?.readyToUse === true, error };
  const write = patchStatus(kind, content, status as JsonObject | undefined, wanted as JsonObject);
  return doing(invalid, write, [warning(content, reason, message)]);
}

function planOrphaned(view: ContentView): ControllerPlan {
  const { facts } = view;
  if (facts.content.metadata.deletionTimestamp !== undefined) return planRelease(facts);
  if (isUnwanted(view)) return planDisposal(facts);
  return facts.isBeingCreatedWithoutClass ? planRelease(facts) : doing(contentIsLeft(facts));
}

/** The next steps lead to DeleteSnapshot: the server must confirm that the snapshot is gone. */
function goneForCertain({ content, snapshot }: ContentFacts): ClusterAction {
  const { namespace, name, uid } = content.spec.volumeSnapshotRef ?? {};
  // Without an address, or a uid, there is no single object to ask for.
  if (!namespace || !name || !uid) return { kind: "relist", ref: { kind: "VolumeSnapshot" } };
  const ref = { kind: "VolumeSnapshot", namespace, name } as const;
  return { kind: "confirm", ref, resourceVersion: snapshot?.metadata.resourceVersion };
}

/**
 * Sets the being-deleted annotation that the snapshot would have set; the snapshot was removed by force, or before the content
 * existed. Without the annotation a deleted content would wait for ever; and a content whose CreateSnapshot has an unknown outcome
 * would wait for its class, if that is gone too. For a content with the annotation the sidecar needs no class.
 */
function planRelease(facts: ContentFacts): ControllerPlan {
  const annotate = edit(kind, facts.content, { annotations: { [annotations.beingDeleted]: "yes" } });
  const reason = why("Writes", "the content gets the being-deleted annotation: its VolumeSnapshot is gone");
  return doing(reason, [goneForCertain(facts)], annotate);
}

/**
 * Created for a snapshot that was deleted before its user saw that it was taken. Otherwise the content stays: a missing snapshot
 * does not prove that nobody wants the data.
 */
const isUnwanted = ({ facts: { content }, memory }: ContentView): boolean => {
  const { metadata, spec } = content;
  return (
    memory.wasSnapshotDeletedUnready &&
    spec.deletionPolicy === "Delete" &&
    Boolean(spec.source.volumeHandle) &&
    metadata.name === snapshotContentNameFor(spec.volumeSnapshotRef.uid ?? "")
  );
};

/** Deleted before it is annotated: after a crash in between, `planRelease` goes on. The version guards the deletion policy. */
function planDisposal(facts: ContentFacts): ControllerPlan {
  const ref = refOf(kind, facts.content);
  const { resourceVersion } = facts.content.metadata;
  const reason = why("Writes", "the content is deleted: its VolumeSnapshot was deleted before it was shown as taken");
  return doing(reason, [goneForCertain(facts)], [{ kind: "delete", ref, resourceVersion }]);
}
