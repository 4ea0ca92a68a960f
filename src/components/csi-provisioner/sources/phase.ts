/**
 * Where the source of restores and clones is: a VolumeSnapshot or a claim that our finalizer may keep.
 *
 *   free ──▶ used ──▶ unread ──▶ unneeded ──▶ free
 *                       └──────▶ foreign
 *
 * free:     our finalizer is not on it.
 * used:     a volume is being made from it, by a call that is stored or about to be.
 * unread:   no call needs it any more, and it has to be read whose it is.
 * foreign:  it is of another driver, whose provisioner may have put the finalizer there.
 * unneeded: no call needs it any more: the finalizer is taken off.
 */
import type { SourceObjectFacts, SourceView } from "./observe.ts";
import { sourceFinalizers } from "./source.ts";

export const sourcePhases = ["free", "used", "unread", "foreign", "unneeded"] as const;
export type SourcePhase = (typeof sourcePhases)[number];

export function sourcePhaseOf({ facts, memory }: Pick<SourceView, "facts" | "memory">): SourcePhase {
  const { source, object, pair } = facts;
  if (object.metadata.finalizers?.includes(sourceFinalizers[source.kind]) !== true) return "free";
  if (memory.isUsed) return "used";
  if (source.kind === "snapshot" && pair === undefined) return "unread";
  return isOfAnother(facts) ? "foreign" : "unneeded";
}

/** Without content or volume, nobody can use the source. */
function isOfAnother({ source, driver, pair, volume }: SourceObjectFacts): boolean {
  const owner = source.kind === "snapshot" ? pair?.content?.spec.driver : volume?.spec?.csi?.driver;
  return owner !== undefined && owner !== driver;
}
