/**
 * Where a snapshot is in its lifecycle, by what the caches show and nothing else.
 *
 *   unprotected ──▶ unbound ──▶ waiting ──▶ ready          deleting ──▶ (gone)
 *        │             │                                      ▲
 *        └── invalid ──┘   (until the error is corrected)     └── from any phase
 *
 * unprotected: the source claim does not have our finalizer yet; the claim's own plan adds it.
 * unbound:     the content can be created, or an existing content can be bound. Creating waits while the finalizer may be
 *              removed by a request under way (memory.ts).
 * waiting:     the content exists and points back; the sidecar takes the snapshot.
 */
import { bindingRules, pointsAt } from "../../rules/binding-rules.ts";
import { creationRules } from "../../rules/creation-rules.ts";
import type { SnapshotViolation } from "../../rules/snapshot-violation.ts";
import { firstViolation } from "../../rules/violation.ts";
import { hasFinalizer, type SnapshotFacts } from "./observe.ts";

export const snapshotPhases = ["deleting", "invalid", "unprotected", "unbound", "waiting", "ready"] as const;
export type SnapshotPhase = (typeof snapshotPhases)[number];

/** The rule that the snapshot breaks, if any. Once there is a content, its class and claim no longer matter. */
export const violationOf = (facts: SnapshotFacts): SnapshotViolation | undefined =>
  firstViolation(bindingRules, facts) ??
  (facts.source.kind === "claim" && facts.content === undefined ? firstViolation(creationRules, facts) : undefined);

export function phaseOf(facts: SnapshotFacts): SnapshotPhase {
  const { snapshot, content, claim } = facts;
  if (snapshot.metadata.deletionTimestamp !== undefined) return "deleting";
  if (violationOf(facts) !== undefined) return "invalid";
  if (content !== undefined && pointsAt(content, snapshot))
    return snapshot.status?.readyToUse === true ? "ready" : "waiting";
  if (content !== undefined) return "unbound";
  return claim !== undefined && hasFinalizer(claim) ? "unbound" : "unprotected";
}
