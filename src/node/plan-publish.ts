/** What to do about a target path, given what is mounted there. May be repeated after a crash at any point of it. */
import { Fault } from "../base/fault.ts";

/** What is mounted at a target, seen from what is wanted there: nothing, something else, or that, with these options. */
export type Standing = "nothing" | "other" | { readonly options: readonly string[] };

export interface PublishView {
  readonly volumeId: string;
  readonly target: string;
  readonly found: Standing;
  readonly readOnly: boolean;
  /** Options the mount must have. */
  readonly options: readonly string[];
  /** Where the volume is in use, if it allows a single user at a time. */
  readonly otherUse: string | undefined;
}

export interface PublishPlan {
  readonly bind: boolean;
  /** Options to set; none when all are set. */
  readonly remount: readonly string[];
}

export function planPublish({ volumeId, target, found, readOnly, options, otherUse }: PublishView): PublishPlan {
  if (found === "other" || (found !== "nothing" && found.options.includes("ro") && !readOnly))
    throw new Fault("AlreadyExists", `at ${target} something else is mounted already: unpublish it first`);
  if (found === "nothing" && otherUse !== undefined)
    throw new Fault("FailedPrecondition", `volume ${volumeId} is for one pod at a time, and in use at ${otherUse}`);
  const set = found === "nothing" ? [] : found.options;
  return { bind: found === "nothing", remount: options.every((option) => set.includes(option)) ? [] : options };
}
