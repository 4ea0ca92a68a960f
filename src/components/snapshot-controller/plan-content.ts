/** One content, for what its snapshot's own plan does not see: a wrong source, a finalizer that went missing, no snapshot at all. */

import { refOf, statusError } from "../../api/builders.ts";
import { annotations, finalizers, snapshotContentNameFor } from "../../api/names.ts";
import { edit, patchStatus } from "../../api/patches.ts";
import { type ClusterAction, nothing, type Plan, settled } from "../../api/plan.ts";
import type { JsonObject } from "../../base/json.ts";
import { contentViolation } from "../../rules/binding-rules.ts";
import type { Violation } from "../../rules/violation.ts";
import type { ContentView } from "./observe.ts";
import { contentLabelEdit } from "./plan-label.ts";

const kind = "VolumeSnapshotContent";

export function planContent(view: ContentView): Plan {
  const { content, snapshot } = view;
  const label = contentLabelEdit(content);
  if (label.length > 0) return { actions: label, next: settled };
  const mistake = content.metadata.deletionTimestamp === undefined ? contentViolation(content) : undefined;
  if (mistake !== undefined) return planMistake(view, mistake);
  if (isWithoutSnapshot(view)) return planAlone(view);
  const isBound = snapshot !== undefined && content.spec.volumeSnapshotRef.uid === snapshot.metadata.uid;
  if (!isBound || content.metadata.deletionTimestamp !== undefined) return nothing;
  return { actions: edit(kind, content, { addFinalizers: [finalizers.contentBound] }), next: settled };
}

/** Told once. The sidecar, which leaves such a content alone, takes the error away with its first success. */
function planMistake({ content, nowMs }: ContentView, { reason, message }: Violation): Plan {
  const { status } = content;
  if (status?.error?.message === message) return nothing;
  const error = statusError(message, nowMs);
  const wanted = { ...status, readyToUse: status?.readyToUse === true, error };
  const write = patchStatus(kind, content, status as JsonObject | undefined, wanted as JsonObject);
  const event = { type: "Warning", reason, message } as const;
  return { actions: [...write, { kind: "event", about: content, event }], next: settled };
}

/** Not so if it waits for a first one. A mark says that its snapshot has let it go in order, with all there was to decide. */
const isWithoutSnapshot = ({ content: { metadata, spec }, snapshot }: ContentView): boolean =>
  Boolean(spec.volumeSnapshotRef?.uid) &&
  snapshot?.metadata.uid !== spec.volumeSnapshotRef.uid &&
  metadata.annotations?.[annotations.beingDeleted] !== "yes";

function planAlone(view: ContentView): Plan {
  if (view.content.metadata.deletionTimestamp !== undefined) return planParting(view);
  if (isUnwanted(view)) return planDisposal(view);
  return view.isBeingCreatedWithoutClass ? planParting(view) : nothing;
}

/** All end in a deletion at the driver: that the snapshot is gone must be true, not only cached. */
function goneForCertain({ content, snapshot }: ContentView): ClusterAction {
  const { namespace, name = "" } = content.spec.volumeSnapshotRef;
  const ref = { kind: "VolumeSnapshot", namespace, name } as const;
  return { kind: "confirm", ref, resourceVersion: snapshot?.metadata.resourceVersion };
}

/**
 * The mark that its snapshot would have set, which is gone: by force, say, or before the content was there. Without it a content
 * that somebody deletes would wait for ever; and one whose cut has no known outcome, if its class is gone too, would wait for a
 * class that nobody needs any more. The sidecar asks without the class for what nobody waits for.
 */
function planParting(view: ContentView): Plan {
  const mark = edit(kind, view.content, { annotations: { [annotations.beingDeleted]: "yes" } });
  return { actions: [goneForCertain(view), ...mark], next: settled };
}

/**
 * Made for a snapshot that was deleted before anybody heard of a cut. One that was heard of stays, whatever became of it: a
 * missing snapshot is no proof that nobody wants the data.
 */
const isUnwanted = ({ content: { metadata, spec }, wasSnapshotDeletedUnready }: ContentView): boolean =>
  wasSnapshotDeletedUnready &&
  spec.deletionPolicy === "Delete" &&
  Boolean(spec.source.volumeHandle) &&
  metadata.name === snapshotContentNameFor(spec.volumeSnapshotRef.uid ?? "");

/** Deleted before it is marked: a crash between the two leaves what `planParting` takes up. The version guards the policy. */
const planDisposal = (view: ContentView): Plan => {
  const { resourceVersion } = view.content.metadata;
  return {
    actions: [goneForCertain(view), { kind: "delete", ref: refOf(kind, view.content), resourceVersion }],
    next: settled,
  };
};
