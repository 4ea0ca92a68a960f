/**
 * Where the content of a mounted volume is:
 *
 *   unfollowed ──▶ unknown ──▶ outdated ──▶ current          any phase ──▶ withdrawn ──▶ empty
 *       ▲          unread        │ ▲           │                 │              ▲          │
 *       │          unusable      ▼ │ room      │ a newer set     ▼              │          │ all is given again
 *   another share               full           ▼             unconfirmed ──────┘          ▼
 *   reference                               outdated             └──▶ unfollowed        outdated
 *
 * unfollowed:  its share refers to another Secret or ConfigMap than the one that is watched for it.
 * unknown:     nobody says whether the pod may use the share, or what the share is. Nothing is taken away, and nothing given.
 * unread:      the Secret or ConfigMap cannot be read at the moment. The same.
 * unusable:    a key of it cannot be the name of a file. The same.
 * outdated:    another set of files is to be shown than the one that is there.
 * full:        the same, and there is no room for it: the old set stays.
 * current:     the volume shows what it should.
 * unconfirmed: its Secret or ConfigMap is gone. The share is read before that counts, because it may refer to another one by now.
 * withdrawn:   the pod may not have the data any more, and it is still there.
 * empty:       the same, and it is gone.
 */
import type { VolumeView } from "./observe.ts";
import { parsedSource, type Source, sourceKey } from "./types.ts";

export const volumePhases = [
  "unfollowed",
  "unknown",
  "unread",
  "unusable",
  "outdated",
  "full",
  "current",
  "unconfirmed",
  "withdrawn",
  "empty",
] as const;
export type VolumePhase = (typeof volumePhases)[number];

/** Why a pod may not have the data. */
export type Withdrawal = "denied" | "share is gone" | "share is not valid" | "source is gone";

export function phaseOf(view: VolumeView): VolumePhase {
  if (sourceToFollow(view) !== undefined) return "unfollowed";
  const withdrawal = withdrawalIn(view);
  return withdrawal === undefined ? phaseOfContent(view) : phaseOfWithdrawal(view, withdrawal);
}

/** Another one than is followed now. */
export function sourceToFollow({ facts, memory: { written, follows } }: VolumeView): Source | undefined {
  const wanted = wantedSource({ ...facts, written }) ?? follows;
  const isFollowed = wanted === undefined || (follows !== undefined && sourceKey(wanted) === sourceKey(follows));
  return isFollowed ? undefined : wanted;
}

/** A volume that is not refreshed follows what it was filled from; the others follow their share, as far as it is known. */
export function wantedSource({
  refresh,
  share,
  written,
}: Pick<VolumeView["facts"], "refresh" | "share"> & Pick<VolumeView["memory"], "written">): Source | undefined {
  const pinned = refresh || written === undefined ? undefined : parsedSource(written.source);
  return pinned ?? ("source" in share ? share.source : undefined);
}

export function withdrawalIn({ facts: { review, share, source } }: VolumeView): Withdrawal | undefined {
  if (review === "denied") return "denied";
  if (share.kind === "absent") return "share is gone";
  if (share.kind === "unusable") return "share is not valid";
  return source.kind === "absent" ? "source is gone" : undefined;
}

function phaseOfWithdrawal({ facts, memory }: VolumeView, withdrawal: Withdrawal): VolumePhase {
  if (memory.written === undefined) return "empty";
  // The watch of a source may be ahead of the watch of the shares. What is not refreshed does not follow its share.
  return withdrawal === "source is gone" && facts.refresh && !memory.isShareRead ? "unconfirmed" : "withdrawn";
}

/** "Not known" is no reason to take data away from running pods, and none to give them more. */
function phaseOfContent({ facts, memory: { written } }: VolumeView): VolumePhase {
  const { share, review, source, refresh, full } = facts;
  if (share.kind === "unknown" || review === undefined) return "unknown";
  if (source.kind === "unknown") return "unread";
  if (source.kind !== "present") return "unusable";
  const isToBeWritten = written?.digest === undefined || (refresh && written.digest !== source.content.digest);
  if (!isToBeWritten) return "current";
  return full === undefined ? "outdated" : "full";
}
