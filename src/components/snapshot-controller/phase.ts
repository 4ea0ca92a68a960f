/**
 * Where a snapshot is in its life.
 *
 *   unprotected ──▶ unbound ──▶ waiting ──▶ ready          deleting ──▶ (gone)
 *        │             │                                      ▲
 *        └── invalid ──┘   (until what is wrong is mended)    └── from anywhere
 *
 * unprotected: the source claim does not carry our finalizer for certain yet; the claim's own planner puts it on.
 * unbound:     everything is in place to make the content, or to bind one that exists.
 * waiting:     the content exists and points back; the sidecar is at work.
 */
import { bindingRules, pointsAt } from "../../rules/binding-rules.ts";
import { creationRules } from "../../rules/creation-rules.ts";
import type { SnapshotViolation } from "../../rules/snapshot-violation.ts";
import { firstViolation } from "../../rules/violation.ts";
import type { SnapshotView } from "./observe.ts";

export const snapshotPhases = ["deleting", "invalid", "unprotected", "unbound", "waiting", "ready"] as const;
export type SnapshotPhase = (typeof snapshotPhases)[number];

/** What keeps the snapshot from going on, if anything. Once there is a content, its class and claim no longer matter. */
export const violationOf = (view: SnapshotView): SnapshotViolation | undefined =>
  firstViolation(bindingRules, view) ??
  (view.source.kind === "claim" && view.content === undefined ? firstViolation(creationRules, view) : undefined);

export function phaseOf(view: SnapshotView): SnapshotPhase {
  const { snapshot, content, protection } = view;
  if (snapshot.metadata.deletionTimestamp !== undefined) return "deleting";
  if (violationOf(view) !== undefined) return "invalid";
  if (content !== undefined && pointsAt(content, snapshot))
    return snapshot.status?.readyToUse === true ? "ready" : "waiting";
  if (content !== undefined) return "unbound";
  return protection === "certain" ? "unbound" : "unprotected";
}
