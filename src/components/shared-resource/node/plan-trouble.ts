/** What is wrong with a mounted volume, if something is: it does not show what it should, or nobody knows what it should show. */
import type { CodedMessage } from "../../../api/plan.ts";
import { withCode } from "../../../errors/codes.ts";
import type { VolumeView } from "./observe.ts";
import { phaseOf, withdrawalIn } from "./phase.ts";

export const troubleCauses = [
  /** Permission, share or source are gone, and the files are not. */
  "not_emptied",
  /** A newer set does not fit into the memory of the volume, the namespace or the node. */
  "memory",
  "not_written",
  /** The API server does not say whether the share may be used, or what it is. */
  "unanswered",
  /** The Secret or ConfigMap cannot be read, or cannot be written as files. */
  "source",
] as const;
export type TroubleCause = (typeof troubleCauses)[number];

export interface Trouble {
  readonly cause: TroubleCause;
  readonly message: CodedMessage;
}

/** `failure` is of the last attempt to write or to empty. */
export function troubleOf(view: VolumeView, failure: string | undefined): Trouble | undefined {
  const more = failure === undefined ? "" : `: ${failure}`;
  switch (phaseOf(view)) {
    case "unconfirmed":
    case "withdrawn":
      return trouble("not_emptied", `the volume must be emptied (${withdrawalIn(view)}), and is not empty yet${more}`);
    case "outdated":
      return trouble("not_written", `the volume does not show the current set yet${more}`);
    case "full":
      return view.facts.full && { cause: "memory", message: view.facts.full };
    case "unknown":
      return trouble("unanswered", "whether the share may be used is not known: the API server does not answer");
    case "unread":
      return trouble("source", "the Secret or ConfigMap of the share cannot be read: is the driver allowed to?");
    case "unusable":
      return trouble("source", "the Secret or ConfigMap of the share has a key that cannot be the name of a file");
    case "unfollowed":
    case "current":
    case "empty":
      return undefined;
  }
}

const trouble = (cause: TroubleCause, text: string): Trouble => ({
  cause,
  message: withCode(text, "SNAP-714"),
});
