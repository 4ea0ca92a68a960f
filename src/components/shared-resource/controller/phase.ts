/**
 * Where a share is: what the last look at the referenced object has found, as long as it counts.
 *
 *   unread ──▶ available ──┐                    deleting ──▶ (gone)
 *     ▲   ├──▶ missing   ──┤                        ▲
 *     │   └──▶ forbidden ──┤                        └── from any phase
 *     └────────────────────┘  spec changed, or the look is too old
 *
 * unread:    the API server is to be asked whether the referenced object exists.
 * available: the referenced object exists.
 * missing:   the referenced object does not exist.
 * forbidden: the controller may not read the referenced object.
 */
import type { Millis } from "../../../base/brand.ts";
import { shareLimits } from "./limits.ts";
import type { Finding } from "./memory.ts";
import { referenceText, type ShareFacts, type ShareView } from "./observe.ts";

export const sharePhases = ["deleting", "unread", "available", "missing", "forbidden"] as const;
export type SharePhase = (typeof sharePhases)[number];

const phaseAfter = { found: "available", missing: "missing", forbidden: "forbidden" } as const satisfies Record<
  Finding,
  SharePhase
>;

export function phaseOf({ facts, memory: { look } }: Pick<ShareView, "facts" | "memory">): SharePhase {
  const { share, reference } = facts;
  if (share.metadata.deletionTimestamp !== undefined) return "deleting";
  if (look === undefined || look.generation !== share.metadata.generation) return "unread";
  const isOfReference = referenceText(look.reference) === referenceText(reference);
  return isOfReference && look.ageMs < intervalMs(facts, look.finding) ? phaseAfter[look.finding] : "unread";
}

export const intervalMs = ({ relistMs }: ShareFacts, finding: Finding): Millis =>
  finding === "found" ? relistMs : Math.min(relistMs, shareLimits.brokenReferenceMs);
