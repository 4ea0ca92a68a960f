/**
 * What is to become of the content of one mounted volume:
 *
 *   permitted and the source is known ──▶ write, if it differs
 *   denied, or share or source gone   ──▶ wipe
 *   not known                         ──▶ keep
 *
 * "Not known" is an API server that does not answer, or a source that this driver may not read at the moment. It is no reason to take
 * data away from running pods, and none to give them more.
 */
import type { Written } from "./types.ts";

export interface VolumeView {
  readonly share: "unknown" | "absent" | "unusable" | "usable";
  /** "allowed" only while the review is fresh. */
  readonly review: "unknown" | "allowed" | "denied";
  /** Of the Secret or ConfigMap that the volume follows. */
  readonly source: "unknown" | "absent" | "unusable" | { readonly digest: string };
  readonly refresh: boolean;
  /** Undefined: the volume is empty. */
  readonly written: Written | undefined;
}

export type VolumePlan =
  | { readonly kind: "keep" }
  | { readonly kind: "write" }
  | { readonly kind: "wipe"; readonly because: "denied" | "share is gone" | "share is not valid" | "source is gone" };

const keep: VolumePlan = { kind: "keep" };
const wipe = (because: (VolumePlan & { kind: "wipe" })["because"]): VolumePlan => ({ kind: "wipe", because });

export function planVolume(view: VolumeView): VolumePlan {
  const wanted = wantedOf(view);
  // Nothing to take away.
  return wanted.kind === "wipe" && view.written === undefined ? keep : wanted;
}

function wantedOf({ share, review, source, refresh, written }: VolumeView): VolumePlan {
  if (review === "denied") return wipe("denied");
  if (share === "absent") return wipe("share is gone");
  if (share === "unusable") return wipe("share is not valid");
  if (source === "absent") return wipe("source is gone");
  if (share === "unknown" || review === "unknown" || typeof source === "string") return keep;
  if (written?.digest === undefined) return { kind: "write" };
  return refresh && written.digest !== source.digest ? { kind: "write" } : keep;
}
