/** What is wrong with a mounted volume, if something is: it does not show what it should, or nobody knows what it should show. */
import type { CodedMessage } from "../../../api/plan.ts";
import { withCode } from "../../../errors/codes.ts";
import type { VolumePlan, VolumeView } from "./plan.ts";

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

export interface Attempt {
  /** Why the last set was not written. */
  readonly refusal?: CodedMessage | undefined;
  /** Of the last attempt to write or to empty. */
  readonly failure?: string | undefined;
}

export function troubleOf(view: VolumeView, plan: VolumePlan, { refusal, failure }: Attempt): Trouble | undefined {
  const more = failure === undefined ? "" : `: ${failure}`;
  if (plan.kind === "wipe")
    return trouble("not_emptied", `the volume must be emptied (${plan.because}), and is not empty yet${more}`);
  if (plan.kind === "write")
    return refusal === undefined
      ? trouble("not_written", `the volume does not show the current set yet${more}`)
      : { cause: "memory", message: refusal };
  if (isToBeEmpty(view)) return undefined;
  if (view.share === "unknown" || view.review === "unknown")
    return trouble("unanswered", "whether the share may be used is not known: the API server does not answer");
  if (view.source === "unknown")
    return trouble("source", "the Secret or ConfigMap of the share cannot be read: is the driver allowed to?");
  if (view.source === "unusable")
    return trouble("source", "the Secret or ConfigMap of the share has a key that cannot be the name of a file");
  return undefined;
}

/** It is empty, or it would not be planned to stay as it is. */
const isToBeEmpty = ({ review, share, source }: VolumeView): boolean =>
  review === "denied" || share === "absent" || share === "unusable" || source === "absent";

const trouble = (cause: TroubleCause, text: string): Trouble => ({
  cause,
  message: withCode(text, "SNAP-714"),
});
