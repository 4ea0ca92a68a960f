/**
 * One snapshot: what to write next. phase.ts shows the phases, plan-deletion.ts has the last one.
 *
 * The order makes it safe: finalizers on the snapshot and on its claim come before the content, because neither may disappear once a
 * driver may be taking the snapshot. The content is created with its own finalizer.
 */

import { refOf } from "../../api/builders.ts";
import { annotations, finalizers } from "../../api/names.ts";
import { edit, patchStatus } from "../../api/patches.ts";
import type { ClusterAction } from "../../api/plan.ts";
import type { VolumeSnapshot, VolumeSnapshotContent } from "../../api/types.ts";
import { keyOf } from "../../api/types.ts";
import { unreachable } from "../../base/brand.ts";
import type { JsonObject } from "../../base/json.ts";
import { rfc3339 } from "../../base/time.ts";
import { withCode } from "../../errors/codes.ts";
import { memberContentNameOf } from "../../rules/group-members.ts";
import { classOf, type SnapshotViolation } from "../../rules/snapshot-violation.ts";
import { hasNoReport, type SnapshotFacts, type SnapshotView } from "./observe.ts";
import { stateOf } from "./phase.ts";
import { planDeletion } from "./plan-deletion.ts";
import { contentFor } from "./plan-draft.ts";
import { snapshotLabelEdit } from "./plan-label.ts";
import { statusFrom } from "./plan-status.ts";
import {
  type ControllerPlan,
  confirmContent,
  doing,
  errorReport,
  event,
  type SnapshotPlan,
  waiting,
} from "./plan-steps.ts";
import { type ControllerReason, invalidSnapshot, notReady, unprotected, why } from "./reasons.ts";

/**
 * A driver usually replies soon, and then one status write is enough instead of two. In a burst most contents wait for those before
 * them, and a status write for each would only slow the burst down: they wait as long as it makes progress, with a bound.
 */
export const bindingDelayMs = 2_000;
const queueIdleMsMin = 10_000;
const bindingDelayMsMax = 60_000;

const kind = "VolumeSnapshot";

/** A wrong label is corrected first, alone: the next reconcile uses the version that this write returns. */
export function planSnapshot(view: SnapshotView): SnapshotPlan {
  const { facts } = view;
  const label = snapshotLabelEdit(facts.snapshot);
  if (label.length > 0) return doing(why("Writes", "the label of invalid objects is corrected"), label);
  const state = stateOf(facts);
  switch (state.phase) {
    case "deleting":
      return planDeletion(view);
    case "invalid":
      return planError(view, state.violation);
    case "grouped":
      return doing(why("PartOfGroup", "the group of the snapshot makes its content"));
    case "unprotected":
      return doing(unprotected(facts), protect(facts));
    case "unbound":
      return state.content === undefined ? planCreation(view) : planBinding(facts, state.content);
    case "waiting":
    case "ready":
      return planStatus(view, state.content);
    default:
      return unreachable(state);
  }
}

function planError({ facts, nowMs }: SnapshotView, violation: SnapshotViolation): ControllerPlan {
  const { snapshot } = facts;
  const reason = invalidSnapshot(facts, violation);
  const noted = violation.isLoss === true ? noteLoss(snapshot) : [];
  if (noted.length > 0) return doing(reason, confirmContent(facts), noted);
  const reported = errorReport(snapshot, violation, nowMs);
  // A cache is behind right after a change, and a list can miss an object: the error is confirmed with the server first.
  return doing(reason, reported.length > 0 ? violation.evidence : [], reported);
}

/**
 * Written before readyToUse becomes false: it was the only record that this snapshot had been taken, and without a record it would
 * be taken again. A creationTime stays and is record enough.
 */
const noteLoss = (snapshot: VolumeSnapshot): readonly ClusterAction[] =>
  snapshot.status?.creationTime === undefined
    ? edit(kind, snapshot, { annotations: { [annotations.contentLost]: snapshot.metadata.uid } })
    : [];

/** Both finalizers and a defaulted class in one patch: the policy is known from the class before the content exists. */
function protect(facts: SnapshotFacts): readonly ClusterAction[] {
  const { snapshot, content } = facts;
  const policy = content?.spec.deletionPolicy ?? classOf(facts)?.deletionPolicy;
  const addFinalizers = [finalizers.snapshotAsSource, ...(policy === "Delete" ? [finalizers.snapshotBound] : [])];
  const defaulted =
    facts.source.kind === "claim" &&
    snapshot.spec.volumeSnapshotClassName === undefined &&
    memberContentNameOf(snapshot) === undefined
      ? facts.defaultClasses[0]
      : undefined;
  return edit(kind, snapshot, {
    addFinalizers,
    ...(defaulted === undefined ? {} : { spec: { volumeSnapshotClassName: defaulted.metadata.name } }),
  });
}

function planCreation({ facts, memory }: SnapshotView): ControllerPlan {
  const protection = protect(facts);
  // A request under way may still remove the claim's finalizer. The claim's own plan renews it first.
  if (memory.protection !== "certain") return doing(unprotected(facts), protection);
  const object = contentFor(facts, memory);
  const name = object.metadata.name ?? "";
  const create: ClusterAction = { kind: "create", ref: { kind: "VolumeSnapshotContent", name }, object };
  return doing(
    why("Writes", `VolumeSnapshotContent ${name} is created for the snapshot`),
    protection.length > 0 ? protection : stillWaiting(facts),
    [
      create,
      event(
        facts.snapshot,
        "Normal",
        "CreatingSnapshot",
        withCode(`Waiting for a snapshot ${keyOf(facts.snapshot)} to be created by the CSI driver.`, "SNAP-291"),
      ),
    ],
  );
}

/**
 * A snapshot that was ready must not be taken a second time. In an outdated list, a snapshot whose content was lost later looks as if
 * it still waited for its first content. A version-guarded write detects that; where none is due, the server is asked.
 *
 * The last reply is as good: only this process writes readiness, and each write of it ends the trust in earlier replies. If a user has
 * deleted the snapshot meanwhile, our finalizer keeps it until its content is deleted as well.
 */
const stillWaiting = ({ snapshot }: SnapshotFacts): readonly ClusterAction[] => [
  {
    kind: "confirm",
    ref: refOf(kind, snapshot),
    resourceVersion: snapshot.metadata.resourceVersion,
    trustsReplies: true,
  },
];

/** The uid and class of the snapshot are written into a pre-provisioned content; nothing else of its spec changes. */
function planBinding(facts: SnapshotFacts, content: VolumeSnapshotContent): ControllerPlan {
  const { snapshot } = facts;
  const volumeSnapshotRef = { ...content.spec.volumeSnapshotRef, uid: snapshot.metadata.uid };
  const className = content.spec.volumeSnapshotClassName ?? snapshot.spec.volumeSnapshotClassName;
  const spec = { volumeSnapshotRef, ...(className === undefined ? {} : { volumeSnapshotClassName: className }) };
  const addFinalizers = content.metadata.deletionTimestamp === undefined ? [finalizers.contentBound] : [];
  return doing(
    why("Writes", `VolumeSnapshotContent ${content.metadata.name} gets the uid of the snapshot`),
    protect(facts),
    edit("VolumeSnapshotContent", content, { addFinalizers, spec: spec as unknown as JsonObject }),
  );
}

function planStatus({ facts, memory, nowMs }: SnapshotView, content: VolumeSnapshotContent): ControllerPlan {
  const { snapshot } = facts;
  const protection = protect(facts);
  const wanted = statusFrom(snapshot, content, rfc3339(nowMs));
  const waitMs =
    snapshot.status?.boundVolumeSnapshotContentName === undefined && hasNoReport(content)
      ? Math.max(
          ageLeftMs(content, bindingDelayMs, nowMs),
          Math.min(ageLeftMs(content, bindingDelayMsMax, nowMs), queueIdleMsMin - memory.queueIdleMs),
        )
      : 0;
  // The finalizer patch changes the version that guards the status patch: one write now, the other in the next reconcile.
  const isStatusDue = waitMs <= 0 && protection.length === 0;
  const status = isStatusDue
    ? patchStatus(kind, snapshot, snapshot.status as JsonObject | undefined, wanted as JsonObject)
    : [];
  const writes = status.length > 0 ? [...status, ...milestones(snapshot, wanted)] : protection;
  const reason = wanted.readyToUse === true ? readiness(writes) : notReady(content);
  return waitMs > 0 ? waiting(reason, waitMs, writes) : doing(reason, writes);
}

const readiness = ({ length }: readonly ClusterAction[]): ControllerReason =>
  length === 0
    ? why("Settled", "the snapshot is ready")
    : why("Writes", "the snapshot gets the status of its content, and our finalizers");

/** With a clock that is behind the server's by more than this, the content's age is unknown. */
const clockSkewMsMax = 1_000;
/** No wait after the clock was set back: the age would stay negative, and the status unwritten, for hours. */
function ageLeftMs({ metadata }: VolumeSnapshotContent, delayMs: number, nowMs: number): number {
  const leftMs = Date.parse(metadata.creationTimestamp ?? "") + delayMs - nowMs;
  return leftMs > delayMs + clockSkewMsMax ? 0 : Math.min(delayMs, leftMs);
}

function milestones(snapshot: VolumeSnapshot, wanted: NonNullable<VolumeSnapshot["status"]>): readonly ClusterAction[] {
  const events: ClusterAction[] = [];
  if (snapshot.status?.creationTime === undefined && wanted.creationTime !== undefined)
    events.push(
      event(
        snapshot,
        "Normal",
        "SnapshotCreated",
        withCode(`Snapshot ${keyOf(snapshot)} was successfully created by the CSI driver.`, "SNAP-292"),
      ),
    );
  if (snapshot.status?.readyToUse !== true && wanted.readyToUse === true)
    events.push(
      event(snapshot, "Normal", "SnapshotReady", withCode(`Snapshot ${keyOf(snapshot)} is ready to use.`, "SNAP-293")),
    );
  return events;
}
