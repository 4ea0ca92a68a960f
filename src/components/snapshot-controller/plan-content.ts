/** One content, for what its snapshot's own plan does not handle: a wrong source, a missing finalizer, no driver, no snapshot at all. */

import { refOf, statusError } from "../../api/builders.ts";
import { annotations, finalizers, snapshotContentNameFor } from "../../api/names.ts";
import { edit, patchStatus } from "../../api/patches.ts";
import { type ClusterAction, type CodedMessage, nothing, type Plan, settled } from "../../api/plan.ts";
import type { VolumeSnapshotContent } from "../../api/types.ts";
import type { JsonObject } from "../../base/json.ts";
import { contentViolation } from "../../rules/binding-rules.ts";
import { withCode } from "../../rules/error-codes.ts";
import { contentSourceOf } from "../../rules/snapshot-source.ts";
import type { Violation } from "../../rules/violation.ts";
import type { ContentFacts, ContentView } from "./observe.ts";
import { contentLabelEdit } from "./plan-label.ts";

const kind = "VolumeSnapshotContent";

export function planContent(view: ContentView): Plan {
  const { content, snapshot } = view.facts;
  const label = contentLabelEdit(content);
  if (label.length > 0) return { actions: label, next: settled };
  const mistake = content.metadata.deletionTimestamp === undefined ? contentViolation(content) : undefined;
  if (mistake !== undefined) return planMistake(view, mistake);
  if (isWithoutDriver(view.facts)) return planWithoutDriver(view.facts);
  if (isWithoutSnapshot(view.facts)) return planAlone(view);
  const isBound = snapshot !== undefined && content.spec.volumeSnapshotRef.uid === snapshot.metadata.uid;
  if (!isBound || content.metadata.deletionTimestamp !== undefined) return nothing;
  return { actions: edit(kind, content, { addFinalizers: [finalizers.contentBound] }), next: settled };
}

/** Given up to deletion, and no sidecar takes it for its own. */
const isWithoutDriver = ({ content: { metadata, spec } }: ContentFacts): boolean =>
  !spec.driver &&
  metadata.deletionTimestamp !== undefined &&
  metadata.annotations?.[annotations.beingDeleted] === "yes";

/** The event comes before the write: after a crash in between it is sent twice, not never. */
function planWithoutDriver({ content }: ContentFacts): Plan {
  const write = edit(kind, content, { removeFinalizers: [finalizers.contentBound] });
  const left = write.length === 0 ? undefined : leftAtDriver(content);
  const event = left && { type: "Warning" as const, reason: "SnapshotLeftAtDriver", message: left };
  return {
    actions: [...(event === undefined ? [] : [{ kind: "event" as const, about: content, event }]), ...write],
    next: settled,
  };
}

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
function planMistake({ facts: { content }, nowMs }: ContentView, { reason, message }: Violation): Plan {
  const { status } = content;
  if (status?.error?.message === message) return nothing;
  const error = statusError(message, nowMs);
  const wanted = { ...status, readyToUse: status?.readyToUse === true, error };
  const write = patchStatus(kind, content, status as JsonObject | undefined, wanted as JsonObject);
  const event = { type: "Warning", reason, message } as const;
  return { actions: [...write, { kind: "event", about: content, event }], next: settled };
}

/** A content that waits for its first snapshot is not; nor one with the being-deleted annotation, which its snapshot has set. */
const isWithoutSnapshot = (facts: ContentFacts): boolean => {
  const { content, snapshot } = facts;
  const { metadata, spec } = content;
  if (metadata.annotations?.[annotations.beingDeleted] === "yes") return false;
  const { uid } = spec.volumeSnapshotRef ?? {};
  return uid ? snapshot?.metadata.uid !== uid : isStranded(facts);
};

/**
 * Without a uid a content waits for its first snapshot, if it names a snapshot that exists; the sidecar lets it go when it is deleted. One that
 * names a volume was exported and applied again, or its uid was removed: it never gets a snapshot, and no sidecar serves one
 * without a driver.
 */
const isStranded = ({ content, isNamed }: ContentFacts): boolean =>
  content.metadata.deletionTimestamp !== undefined &&
  !isNamed &&
  (contentSourceOf(content).kind === "volume" || !content.spec.driver);

function planAlone(view: ContentView): Plan {
  const { facts } = view;
  if (facts.content.metadata.deletionTimestamp !== undefined) return planRelease(facts);
  if (isUnwanted(view)) return planDisposal(facts);
  return facts.isBeingCreatedWithoutClass ? planRelease(facts) : nothing;
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
function planRelease(facts: ContentFacts): Plan {
  const annotate = edit(kind, facts.content, { annotations: { [annotations.beingDeleted]: "yes" } });
  return { actions: [goneForCertain(facts), ...annotate], next: settled };
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
const planDisposal = (facts: ContentFacts): Plan => {
  const { resourceVersion } = facts.content.metadata;
  return {
    actions: [goneForCertain(facts), { kind: "delete", ref: refOf(kind, facts.content), resourceVersion }],
    next: settled,
  };
};
