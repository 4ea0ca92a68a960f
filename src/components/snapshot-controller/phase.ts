/**
 * Where a snapshot is in its lifecycle, by what the caches show and nothing else.
 *
 *   grouped ───────────────────▶ waiting
 *   unprotected ──▶ unbound ──▶ waiting ──▶ ready          deleting ──▶ (gone)
 *        │             │                                      ▲
 *        └── invalid ──┘   (until the error is corrected)     └── from any phase
 *
 * grouped:     a member of a group, whose content the group's own plan makes.
 * unprotected: the source claim does not have our finalizer yet; the claim's own plan adds it.
 * unbound:     the content can be created, or an existing content can be bound. Creating waits while the finalizer may be
 *              removed by a request under way (memory.ts).
 * waiting:     the content exists and points back; the sidecar takes the snapshot.
 * ready:       the user has seen the snapshot ready. It stays so, whatever the driver reports later.
 * invalid:     a rule is broken. The object that breaks it has to be corrected.
 * deleting:    the snapshot is being deleted, and its content with it or before it.
 */
import type { VolumeSnapshotContent } from "../../api/types.ts";
import { bindingRules, pointsAt } from "../../rules/binding-rules.ts";
import { creationRules } from "../../rules/creation-rules.ts";
import { memberContentNameOf } from "../../rules/group-members.ts";
import type { SnapshotViolation } from "../../rules/snapshot-violation.ts";
import { firstViolation } from "../../rules/violation.ts";
import { hasFinalizer, type SnapshotFacts } from "./observe.ts";

export const snapshotPhases = ["deleting", "invalid", "grouped", "unprotected", "unbound", "waiting", "ready"] as const;
export type SnapshotPhase = (typeof snapshotPhases)[number];

/** The phase, with what was found on the way to it. */
export type SnapshotState =
  | { readonly phase: "deleting" | "grouped" | "unprotected" }
  | { readonly phase: "invalid"; readonly violation: SnapshotViolation }
  /** Undefined: the content is to be created. */
  | { readonly phase: "unbound"; readonly content: VolumeSnapshotContent | undefined }
  | { readonly phase: "waiting" | "ready"; readonly content: VolumeSnapshotContent };

/** The rule that the snapshot breaks, if any. Once there is a content, its class and claim no longer matter. */
const violationOf = (facts: SnapshotFacts): SnapshotViolation | undefined =>
  firstViolation(bindingRules, facts) ??
  (facts.source.kind === "claim" && facts.content === undefined ? firstViolation(creationRules, facts) : undefined);

export function stateOf(facts: SnapshotFacts): SnapshotState {
  const { snapshot, content, claim } = facts;
  if (snapshot.metadata.deletionTimestamp !== undefined) return { phase: "deleting" };
  if (isJoining(facts)) return { phase: "grouped" };
  const violation = violationOf(facts);
  if (violation !== undefined) return { phase: "invalid", violation };
  if (content !== undefined && pointsAt(content, snapshot))
    return { phase: snapshot.status?.readyToUse === true ? "ready" : "waiting", content };
  if (content !== undefined || (claim !== undefined && hasFinalizer(claim))) return { phase: "unbound", content };
  return { phase: "unprotected" };
}

/** A member without its content, or whose content is not bound yet. Once it was ready, a missing content is a loss. */
const isJoining = ({ snapshot, content }: SnapshotFacts): boolean =>
  memberContentNameOf(snapshot) !== undefined &&
  snapshot.status?.creationTime === undefined &&
  snapshot.status?.readyToUse !== true &&
  !content?.spec.volumeSnapshotRef?.uid;

export const phaseOf = (facts: SnapshotFacts): SnapshotPhase => stateOf(facts).phase;
